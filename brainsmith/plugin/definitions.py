"""What is known of each file and folder that a discovery reads, so that the next one reads only what changed."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.source_files import list_entries, read_source
from brainsmith.store.fingerprint import checksum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from brainsmith.plugin.questions import Answers
    from brainsmith.plugin.source_files import Entries, SourceFile

    Role = tuple[str, bool]
    """As which module a file is read, and whether as a package."""

UNKNOWN = b""
"""The digest of what was read, and of which no digest was taken: it is never that of what is there now."""


class Definitions:
    """Answers of files, entries of folders, and what was made of further files. Not for several threads at once.

    All of it is plain, so it is written to disk as it is, and true as long as the paths have not changed; who uses it
    says which have (`forget`).
    """

    def __init__(self) -> None:
        self._files: dict[str, dict[Role, Answers]] = {}
        self._folders: dict[str, Entries] = {}
        self._made: dict[str, tuple[tuple[str, ...], Any]] = {}

    def source(self, file: SourceFile) -> PythonSource:
        """Return a file's source: read now, or what is known of it.

        Raises:
            OSError: The file cannot be read.
        """
        role = (file.module, file.is_package)
        known = self._files.get(file.path, {}).get(role)
        if known is not None:
            return PythonSource(file, None, known)
        source = PythonSource(file, read_source(file.path))
        self._files.setdefault(file.path, {})[role] = source.answers
        return source

    def entries(self, folder: str) -> Entries:
        """Return what a folder holds.

        Raises:
            OSError: It cannot be listed.
        """
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = list_entries(folder)
        return known

    def made(self, what: str, make: Callable[[], tuple[Iterable[str], Any]]) -> Any:
        """Return a plain value that is made of files, or of the installed distributions alone.

        Args:
            what: Stands for the value.
            make: Returns the paths that it was made of, and the value.
        """
        known = self._made.get(what)
        if known is None:
            paths, value = make()
            known = self._made[what] = (tuple(paths), value)
        return known[1]

    def forget(self, paths: Iterable[str]) -> dict[str, dict[Role, Answers]]:
        """Forget what is known of paths that changed; return what was known of those that are files."""
        changed = set(paths)
        before = {path: self._files.pop(path) for path in changed if path in self._files}
        for path in changed:
            self._folders.pop(path, None)
        for what in [what for what, (of, _) in self._made.items() if not changed.isdisjoint(of)]:
            del self._made[what]
        return before

    def retain(self, watched: Iterable[str]) -> None:
        """Forget all paths but those whose changes are noticed from now on."""
        kept = set(watched)
        self.forget({*self._files, *self._folders} - kept)
        self.forget({path for of, _ in self._made.values() for path in of} - kept)

    def digest(self, path: str) -> bytes:
        """Return what stands for the content of a path as it was read."""
        if path in self._folders:
            return _digest_of_entries(self._folders[path])
        digests = {answers["digest"] for answers in self._files.get(path, {}).values()}
        return digests.pop() if len(digests) == 1 else UNKNOWN

    def to_plain(self) -> tuple[Any, ...]:
        """Return it as tuples, dicts, strings and numbers."""
        return self._files, self._folders, self._made

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> Definitions:
        """Make it of its plain form."""
        found = cls()
        found._files, found._folders, found._made = plain
        return found


def digest_now(path: str) -> bytes | None:
    """Return what stands for the content of a path now, as `Definitions.digest` does; None if it cannot be read."""
    try:
        return _digest_of_entries(list_entries(path)) if os.path.isdir(path) else checksum(read_source(path))
    except OSError:
        return None


def _digest_of_entries(entries: Entries) -> bytes:
    return checksum(repr(entries).encode("utf-8", "surrogateescape"))
