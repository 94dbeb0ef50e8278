"""A stretch of memory that several processes map, and which parts of it are free."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import weakref
from bisect import bisect_left, insort

from brainsmith.errors import SharedMemoryError

ALIGNMENT = 64
"""Bytes: a cache line, and what the widest vector instructions want."""

_NUMBERS = itertools.count(1)


class Region:
    """An anonymous file in memory (memfd) that this process maps for reading and writing.

    Its blocks are found by best fit; neighbours that are both free become one. The caller holds a lock.

    Attributes:
        number: Its number: no other region of this process has it, nor had it.
        size: In bytes, whole pages.
        fd: The file's descriptor; a worker that gets it maps the same memory.
        address: Where it begins in this process.
        used: Bytes that are given away.
    """

    def __init__(self, size: int) -> None:
        self.number = next(_NUMBERS)
        self.size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        self.used = 0
        self.fd = _new_file(self.size)
        try:
            self._map = mmap.mmap(self.fd, self.size)
        except (OSError, ValueError) as error:
            os.close(self.fd)
            raise SharedMemoryError(
                f"{self.size} bytes of shared memory cannot be mapped: {error}; the address space may be limited "
                "(ulimit -v), or unneeded arrays may still exist"
            ) from error
        self._close = weakref.finalize(self, os.close, self.fd)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._sizes: list[tuple[int, int]] = [(self.size, 0)]
        self._starts: dict[int, int] = {0: self.size}
        self._ends: dict[int, int] = {self.size: 0}

    def take(self, size: int) -> int | None:
        """Give away a block; return its offset, or None if no gap is large enough."""
        at = bisect_left(self._sizes, (size, 0))
        if at == len(self._sizes):
            return None
        found, offset = self._sizes[at]
        self._forget(offset, found)
        if found > size:
            self._note(offset + size, found - size)
        self.used += size
        return offset

    def give_back(self, offset: int, size: int) -> None:
        """Take a block back."""
        self.used -= size
        end = offset + size
        if end in self._starts:
            following = self._starts[end]
            self._forget(end, following)
            end += following
        if offset in self._ends:
            start = self._ends[offset]
            self._forget(start, offset - start)
            offset = start
        self._note(offset, end - offset)

    def release(self) -> None:
        """Give the memory back to the system, also where a worker still maps it."""
        os.ftruncate(self.fd, 0)
        self._map.close()
        self._close()

    def _note(self, offset: int, size: int) -> None:
        insort(self._sizes, (size, offset))
        self._starts[offset] = size
        self._ends[offset + size] = offset

    def _forget(self, offset: int, size: int) -> None:
        del self._sizes[bisect_left(self._sizes, (size, offset))]
        del self._starts[offset]
        del self._ends[offset + size]


def _new_file(size: int) -> int:
    if not hasattr(os, "memfd_create"):
        raise SharedMemoryError("shared memory needs memfd_create, which Linux has; this system does not")
    try:
        fd = os.memfd_create("brainsmith", os.MFD_CLOEXEC)
    except OSError as error:
        raise SharedMemoryError(
            f"no shared memory can be opened: {error}; too many files may be open (ulimit -n)"
        ) from error
    try:
        os.ftruncate(fd, size)
    except OSError as error:
        os.close(fd)
        raise SharedMemoryError(
            f"{size} bytes of shared memory cannot be allocated: {error}; the size of files may be limited (ulimit -f)"
        ) from error
    return fd
