"""What is known of an entry, and whether it still holds; which entries depend on a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brainsmith.store.files import stamp
from brainsmith.store.inventory import all_entries, store_of
from brainsmith.store.kinds import kind_of
from brainsmith.store.reads import ABSENT, file_digest
from brainsmith.store.values import inspect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from brainsmith.store.about import About
    from brainsmith.store.files import Stamp
    from brainsmith.store.inventory import Entry


@dataclass(frozen=True)
class Examined:
    """What is known of an entry.

    Attributes:
        entry: It.
        whole: Whether it is as it was made; one that is not is made again when it is needed.
        about: What its owner noted.
        files: What it depends on: digests by path, or stamps.
        parts: The parts of its key.
    """

    entry: Entry
    whole: bool
    about: About
    files: Mapping[str, str | Stamp] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> Mapping[str, str]:
        """Digests of the files that its content came from."""
        return self.about.get("origin", {})

    def changed(self) -> list[str]:
        """Return the files whose content is not the one that it depends on: it is not used any more."""
        return [path for path, known in self.files.items() if not agrees(path, known)]


def agrees(path: str, known: str | Stamp) -> bool:
    """Tell whether a file is as it was: by its content, or by its times and size where only these are known."""
    if isinstance(known, str):
        return file_digest(path) == known
    return tuple(known) == stamp(path)


def examine(cache_dir: str, entry: Entry, thorough: bool = False) -> Examined:
    """Return what is known of an entry.

    Args:
        cache_dir: The cache folder.
        entry: It.
        thorough: Whether all files of a folder are read, to know whether it is whole; else it counts as such.
    """
    if entry.kind.in_folders:
        store = store_of(cache_dir, entry.kind)
        about = store.about(entry.key)
        parts = about.get("parts", {})
        whole = not thorough or store.is_whole(entry.key)
        return Examined(entry, whole, about, about.get("files", {}), parts)
    found = inspect(entry.path)
    if found is None:
        return Examined(entry, False, {})
    key, value, about = found
    files = about.get("files") or _files_in(value, about)
    if "beside" in about:
        beside = inspect(os.path.join(cache_dir, kind_of(about["beside"]).folder, entry.key))
        files = {} if beside is None else _files_in(beside[1], beside[2])
    _form, version, python, prefix, own = key.split("|", 4)
    parts = {"key": own, "version": version, "python": f"{python} in {prefix}", **about.get("parts", {})}
    return Examined(entry, True, about, files, parts)


def _files_in(value: Any, about: About) -> Mapping[str, str | Stamp]:
    places = about.get("stamped")
    return {} if places is None else dict(zip(value[places[0]], value[places[1]], strict=True))


@dataclass(frozen=True)
class Dependent:
    """An entry that was computed from a file.

    Attributes:
        examined: It.
        depends: Whether it is not used any more when the file changes; else the file is where its content came from,
            and another content has another entry.
        agrees: Whether the file is as it was then.
    """

    examined: Examined
    depends: bool
    agrees: bool


def dependents(cache_dir: str, file: str) -> list[Dependent]:
    """Return the entries that were computed from a file, the one that was used last first.

    Raises:
        CacheError: The cache folder belongs to another user, or cannot be read.
    """
    names = dict.fromkeys((os.path.abspath(file), os.path.realpath(file), os.path.relpath(file)))
    content = file_digest(file)
    return [found for entry in all_entries(cache_dir) for found in _depends(cache_dir, entry, names, content)]


def _depends(cache_dir: str, entry: Entry, names: Mapping[str, None], content: str) -> Iterator[Dependent]:
    examined = examine(cache_dir, entry)
    for name in names:
        for files, depends in ((examined.files, True), (examined.origin, False)):
            known = files.get(name)
            if known is not None:
                same = known == content if isinstance(known, str) else agrees(name, known)
                yield Dependent(examined, depends, same)
                return


def why_not_used(examined: Examined) -> str:
    """Return why an entry is not used any more; empty if it is, when its key is asked for."""
    if not examined.whole:
        return "it is damaged"
    changed = examined.changed()
    if not changed:
        return ""
    first = changed[0]
    what = (
        "no longer exists" if file_digest(first) == ABSENT and not os.path.isdir(first) else "changed since"
    )
    more = len(changed) - 1
    return f"{first} {what}" + (f", and {more} more" if more else "")
