"""Files as machines share what is known of them: by place and content, without a path of this machine."""

from __future__ import annotations

import marshal
import os
import time

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.shared_places import OWN
from brainsmith.plugin.source_files import list_entries, read_source
from brainsmith.store.files import is_racy, stamps
from brainsmith.store.fingerprint import checksum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from brainsmith.plugin.shared_places import Places
    from brainsmith.store.files import Stamp

_DIGITS = 16
"""Of the digest of one content."""

_ABSENT = b"\0absent\0"
_BETWEEN, _ITSELF = "//", "."
"""What stands between the paths in a place, in none of which it can be; and the path there of the folder itself."""
_HUB = ("plugin", os.path.join("plugin", "adapters"))
"""The folders of this package whose code discovers."""


class UnfitError(ValueError):
    """What cannot be shared, or is not what may be."""


def place_of(path: str, places: Places) -> tuple[str, str]:
    """Return the name of the innermost folder that a path lies in, and the path from there; empty for the folder itself.

    Raises:
        UnfitError: It lies elsewhere.
    """
    found = ""
    for name, folder in places.folders.items():
        inside = path == folder or path.startswith(f"{folder}{os.sep}")
        if inside and (not found or len(folder) > len(places.folders[found])):
            found = name
    if not found:
        raise UnfitError(f"{path} does not lie in a place that machines have in common")
    return found, path[len(places.folders[found]) + 1 :]


def described(paths: Iterable[str], racy: Iterable[str], places: Places) -> list[list[Any]]:
    """Return what stands for some files and folders: for each place a list of what `Known` has.

    Args:
        paths: Of all of them.
        racy: Those whose times do not show every change.
        places: Where they lie.

    Raises:
        UnfitError: One lies elsewhere, or may change without a sign.
        OSError: One cannot be read.
    """
    by_place: dict[str, list[str]] = {}
    for path in paths:
        name, inside = place_of(path, places)
        by_place.setdefault(name, []).append(inside or _ITSELF)
    unsure = frozenset(racy)
    found: list[list[Any]] = []
    for name, inner in by_place.items():
        begin = time.time_ns()
        whole = _whole(places.folders[name], inner)
        now = stamps(whole)
        young = [at for at, path in enumerate(whole) if path in unsure or is_racy(now[at], begin)]
        digests = "".join(_content(path).hex() for path in whole)
        found.append([name, _BETWEEN.join(inner), _sum(now), digests, young])
    return found


class Known:
    """What is known of the files and folders of one place.

    Attributes:
        place: Its name.
        inner: Their paths in it.
        paths: Their paths here.
        stamps: Their stamps here.
        racy: Those that were read, and whose times do not show every change; with their digests.

    Raises:
        UnfitError: It has another form, or names what lies elsewhere.
    """

    def __init__(self, plain: list[Any], places: Places) -> None:
        self.place, inner, self._sum, self._digests, self._young = plain
        self.inner: list[str] = inner.split(_BETWEEN)
        if self.place not in places.folders or len(self._digests) != _DIGITS * len(self.inner):
            raise UnfitError("its files and their digests do not agree")
        _refuse_outside(inner)
        self.paths = _whole(places.folders[self.place], self.inner)
        self._begin = time.time_ns()
        self.stamps: list[Stamp] = stamps(self.paths)
        self.racy: dict[str, bytes] = {}

    def agree(self) -> bool:
        """Tell whether the files here are the same: the very same ones by their times, others by their content."""
        same = _sum(self.stamps) == self._sum
        for at in self._young if same else range(len(self.paths)):
            path = self.paths[at]
            try:
                if _content(path).hex() != self._digests[at * _DIGITS : (at + 1) * _DIGITS]:
                    return False
                if is_racy(self.stamps[at], self._begin):
                    self.racy[path] = _local_digest(path)
            except (OSError, UnfitError):
                return False
        return True


def code_of_hub(places: Places) -> Iterator[str]:
    """Yield the files of the code that discovers, and their folders: another version of it may find something else."""
    for name in _HUB:
        folder = os.path.join(places.folders[OWN], name)
        yield folder
        yield from sorted(os.path.join(folder, base) for base in os.listdir(folder) if base.endswith(".py"))


def _whole(folder: str, inner: list[str]) -> list[str]:
    start = f"{folder}{os.sep}"
    return [folder if path == _ITSELF else start + path for path in inner]


def _refuse_outside(inner: str) -> None:
    """Refuse paths that lead out of their folder; one look at all of them."""
    text = f"{_BETWEEN}{inner}{_BETWEEN}"
    if "///" in text or "/../" in text or "\0" in text:
        raise UnfitError("it names a file outside of the places that machines have in common")


def _sum(found: list[Stamp]) -> str:
    return checksum(marshal.dumps(found, 2)).hex()  # version 2 writes equal values alike


def _content(path: str) -> bytes:
    """Return what stands for the content of a file, or for what counts of a folder: no bytecode, no notes of editors.

    Raises:
        OSError: It cannot be read.
        UnfitError: A link in the folder leads to another one, which the names in it do not show.
    """
    try:
        return checksum(read_source(path))
    except FileNotFoundError:  # it may come
        return _ABSENT
    except OSError:
        if not os.path.isdir(path):
            raise
    counted = []
    for name, sort in list_entries(path):
        if sort == "link" and os.path.isdir(os.path.join(path, name)):
            raise UnfitError(f"{path} holds a link to a folder")
        if name.endswith(".py") or name == "plugin.json" or (sort == "folder" and name.isidentifier()):
            counted.append(f"{name} {sort}")
    text = "\n".join(one for one in counted if one != "__pycache__ folder")
    return checksum(text.encode("utf-8", "surrogateescape"))


def _local_digest(path: str) -> bytes:
    from brainsmith.plugin.definitions import digest_now  # parses: only where a time shows too little

    digest = digest_now(path)
    if digest is None:
        raise UnfitError(f"{path} cannot be read")
    return digest
