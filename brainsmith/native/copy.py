"""A private copy of a library, in memory: what is probed is what is loaded, and the file may be rebuilt meanwhile."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from brainsmith.errors import NativeLibraryError

if TYPE_CHECKING:
    from pathlib import Path

    from brainsmith.native.elf import Elf


class LibraryCopy:
    """What the loader is given for a library.

    It is a file without a name, in memory. A library that looks for others beside itself (`$ORIGIN`) is taken
    where it lies, because its copy lies nowhere.

    Attributes:
        place: The path for the loader.
        descriptor: The open file. It stays open as long as the library may be mapped: the loader knows a library by
            its path, and this one holds the descriptor's number.
    """

    def __init__(self, path: Path, data: bytes, elf: Elf, sha256: str) -> None:
        if "ORIGIN" in elf.search:
            self.place = str(path.resolve())
            self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            return
        try:
            self.descriptor = os.memfd_create(f"brainsmith-{path.name[:100]}-{sha256[:16]}", os.MFD_CLOEXEC)
        except OSError as error:
            raise NativeLibraryError(f"{path} cannot be copied to memory: {error.strerror}") from error
        self.place = f"/proc/self/fd/{self.descriptor}"
        view = memoryview(data)
        while view:
            view = view[os.write(self.descriptor, view) :]

    def is_mapped(self) -> bool:
        """Tell whether any of it is in this process's memory as code or data."""
        status = os.fstat(self.descriptor)
        device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - no file of the disk
            return any(line.split(maxsplit=5)[3:5] == [device, str(status.st_ino)] for line in file)

    def release(self) -> bool:
        """Let go of it if it is mapped no longer; tell whether it is so."""
        if self.descriptor < 0:
            return True
        if self.is_mapped():
            return False
        os.close(self.descriptor)
        self.descriptor = -1
        return True
