"""Everything that is kept on disk: one law for all of it.

    fingerprint.py   what stands for content
    files.py         whole files, read and written at once
    values.py        plain values, believed under their key and stamp
    folders.py       folders, made once, and believed under their key
    kinds.py         what is kept, by kind
    about.py         what is known of an entry beside its value: for people
    inventory.py     which entries there are
    examine.py       what is known of one, and whether it still holds; which depend on a file
    removal.py       removing entries that nobody uses
    computed.py      values that code computed, believed as long as that code is the same
    imported_sources.py   the source that each imported module was made of, noted while it is imported
    code_dependencies.py  what code depends on: the modules that it imports, and theirs
    entry_locks.py   who makes an entry, and who uses it
    file_lock.py     one process at a time, for a while: no import that costs
    reads.py         what code read from outside, and whether that is still as it was
    read_recorder.py notes what code reads while it runs, with audit.py and callers.py; uncounted.py: what does not count
    made.py          what code makes itself meanwhile
    searched.py      where Python looked for a module
    quota.py         how much is kept of each kind, and what goes first
    safety.py        whom a folder belongs to

An entry is used only if nothing that it was made of has changed since.
"""
