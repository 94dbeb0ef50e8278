"""Which entries are kept on disk, of every kind."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.close_names import close_names
from brainsmith.errors import CacheError
from brainsmith.figures import plural
from brainsmith.store.folders import KeptFolders
from brainsmith.store.kinds import KINDS
from brainsmith.store.quota import is_half_written, listed
from brainsmith.store.safety import why_untrusted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brainsmith.store.kinds import Kind

SHORTEST = 12
"""The digits of a key that are shown at least."""

_COMPARED = 6
"""The digits that a wrong key must have for close ones to be named."""


@dataclass(frozen=True)
class Entry:
    """One entry.

    Attributes:
        kind: Of which kind.
        key: Its name in the folder of its kind; `group/name` where several have one key.
        path: Where it lies.
        bytes: Its size.
        used: When it was used last, in seconds since the epoch.
    """

    kind: Kind
    key: str
    path: str
    bytes: int
    used: float


def store_of(cache_dir: str, kind: Kind) -> KeptFolders:
    """Return the folders of a kind."""
    return KeptFolders(Path(cache_dir, kind.folder), kind.limit, CacheError)


def check_cache(cache_dir: str) -> None:
    """Refuse a cache folder of somebody else.

    Raises:
        CacheError: It belongs to another user, cannot be read, or is no folder.
    """
    try:
        reason = why_untrusted(cache_dir)
        if "belongs" not in reason:
            os.listdir(cache_dir)
            return
    except FileNotFoundError:
        return
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    raise CacheError(f"the cache folder {cache_dir} {reason}\n  set XDG_CACHE_HOME to a folder of your own")


def all_entries(cache_dir: str, kinds: Sequence[Kind] = KINDS) -> list[Entry]:
    """Return the entries of some kinds, the one that was used last first.

    Raises:
        CacheError: The cache folder belongs to another user, or cannot be read.
    """
    check_cache(cache_dir)
    found = [entry for kind in kinds for entry in _entries(cache_dir, kind)]
    return sorted(found, key=lambda entry: (-entry.used, entry.kind.name, entry.key))


def _entries(cache_dir: str, kind: Kind) -> Iterator[Entry]:
    folder = os.path.join(cache_dir, kind.folder)
    if kind.in_folders:
        store = store_of(cache_dir, kind)
        for key, used, size in store.sizes():
            yield Entry(kind, key, str(store.entry(key)), size, used)
    for item in listed(folder):
        if not (kind.in_folders and (item.is_dir() or item.name == "lock")) and not is_half_written(item):
            try:
                status = item.stat(follow_symlinks=False)
            except OSError:  # removed meanwhile
                continue
            yield Entry(kind, item.name, item.path, status.st_size, status.st_mtime)


def named(entry: Entry) -> str:
    """Return what names an entry among those of all kinds."""
    return f"{entry.kind.name}/{entry.key}"


def short_keys(entries: Sequence[Entry]) -> dict[Entry, str]:
    """Return what names each of some entries: as many digits as it takes to tell those of a kind apart.

    Of `group/name` the group, where it has one entry; each part may be cut.
    """
    groups = Counter((entry.kind, entry.key.partition("/")[0]) for entry in entries)
    starts = Counter((kind, _cut(group)) for kind, group in groups)
    short = {}
    for entry in entries:
        group, _, name = entry.key.partition("/")
        head = group if starts[entry.kind, _cut(group)] > 1 else _cut(group)
        alone = groups[entry.kind, group] == 1
        short[entry] = head if alone or not name else f"{head}/{name[:SHORTEST]}"
    return short


def _cut(group: str) -> str:
    return group[: group.find("-") + 1 + SHORTEST]


def find_entry(cache_dir: str, key: str) -> Entry:
    """Return the entry that a key, or the beginning of one, names.

    Args:
        cache_dir: The cache folder.
        key: The first digits of a key; `KIND/` may stand in front, and `group/name` have each part cut.

    Raises:
        CacheError: None has it, or several have; then they are named.
    """
    head, slash, rest = key.partition("/")
    kinds = [kind for kind in KINDS if slash and kind.name == head] or KINDS
    wanted = rest if len(kinds) == 1 else key
    entries = all_entries(cache_dir, kinds)
    found = [entry for entry in entries if _begins(entry.key, wanted)]
    exact = [entry for entry in found if entry.key == wanted]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        known = {entry.key[: len(wanted)]: f"{entry.kind.name}/{_cut(entry.key)}" for entry in entries}
        near = [known[name] for name in close_names(wanted, known)] if len(wanted) >= _COMPARED else []
        hint = f"; close to it: {', '.join(near)}" if near else ""
        raise CacheError(
            f"no entry has a key that begins with {key!r}{hint}\n  brainsmith cache list KIND lists keys"
        )
    shown = "".join(f"\n  {named(entry)}" for entry in found[:8]) + ("\n  ..." if len(found) > 8 else "")
    raise CacheError(f"the keys of {plural(len(found), 'entry', 'entries')} begin with {key!r}:{shown}")


def _begins(key: str, wanted: str) -> bool:
    if key.startswith(wanted):
        return True
    group, _, name = key.partition("/")
    head, slash, tail = wanted.partition("/")
    return bool(slash and name) and group.startswith(head) and name.startswith(tail)
