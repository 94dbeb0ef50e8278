"""A private copy of a library, in memory: what is probed is what is loaded, and the file may be rebuilt meanwhile."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import NativeLibraryError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from tempfile import TemporaryDirectory

    from brainsmith.native.elf import Elf

_NAME_BYTES = 100
"""Of a file's name that the copy's has; the system allows 249 bytes for all of it."""

_DEPTH = 16
"""How deep the folder of a library is among its links; it may look for others upwards, `$ORIGIN/../..`."""


class LibraryCopy:
    """What the loader is given for a library: a file without a name, in memory.

    Attributes:
        beside: The libraries that it needs and looks for by where it lies (`$ORIGIN`): their paths.
        descriptor: The open file. It stays open as long as the library may be mapped: the loader knows a library by
            its path, and this one holds the descriptor's number.
    """

    def __init__(self, path: Path, data: bytes, elf: Elf, sha256: str) -> None:
        self._links = _find_beside(path, elf)
        self.beside = tuple(dict.fromkeys(self._links.values()))
        start = os.fsencode(path.name)[:_NAME_BYTES].decode(errors="ignore")
        try:
            self.descriptor = os.memfd_create(f"brainsmith-{start}-{sha256[:16]}", os.MFD_CLOEXEC)
        except OSError as error:
            raise NativeLibraryError(f"{path} cannot be copied to memory: {error.strerror}") from error
        view = memoryview(data)
        while view:
            view = view[os.write(self.descriptor, view) :]

    @contextmanager
    def shown(self) -> Iterator[str]:
        """Within this, the loader finds the copy at the path that is given.

        A library that looks for others beside itself is shown in a new folder of links: to the copy, and to those
        others, at the same places relative to it.

        Raises:
            NativeLibraryError: Such a folder cannot be made.
        """
        own = f"/proc/self/fd/{self.descriptor}"
        if not self._links:
            yield own
            return
        with _new_folder() as top:
            yield _link(Path(top, *["o"] * _DEPTH), own, self._links)

    def is_mapped(self) -> bool:
        """Tell whether any of it is in this process's memory as code or data."""
        status = os.fstat(self.descriptor)
        device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - no file of the disk
            return any(line.split(maxsplit=5)[3:5] == [device, str(status.st_ino)] for line in file)

    def release(self) -> bool:
        """Release it if it is no longer mapped; tell whether that was so."""
        if self.descriptor < 0:
            return True
        if self.is_mapped():
            return False
        os.close(self.descriptor)
        self.descriptor = -1
        return True


def _new_folder() -> TemporaryDirectory[str]:
    from tempfile import TemporaryDirectory

    try:
        return TemporaryDirectory(prefix="brainsmith-")
    except OSError as error:
        raise _no_folder(error) from error


def _link(folder: Path, copy: str, links: dict[str, str]) -> str:
    """Make links to a copy and to what lies beside it; return the path of the copy's."""
    place = folder / "copy.brainsmith"
    try:
        for relative, target in [(place.name, copy), *links.items()]:
            link = Path(os.path.normpath(folder / relative))
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
    except OSError as error:
        raise _no_folder(error) from error
    return str(place)


def _no_folder(error: OSError) -> NativeLibraryError:
    return NativeLibraryError(f"no folder can be made from which a library is loaded: {error}")


def _find_beside(path: Path, elf: Elf) -> dict[str, str]:
    """Return the libraries that one finds by where it lies: their paths, by those relative to its folder."""
    folder = path.resolve().parent
    found: dict[str, str] = {}
    for name in elf.needed:
        for where in elf.search.split(":") if "/" not in name else ():
            start, origin, rest = where.replace("${ORIGIN}", "$ORIGIN").partition("$ORIGIN")
            by_place = bool(origin) and not start
            relative = f"{rest}/{name}".lstrip("/")
            target = folder / relative if by_place else Path(where, name)
            if target.is_file():
                if by_place and relative.split("/").count("..") < _DEPTH:
                    found[relative] = str(target)
                break
    return found
