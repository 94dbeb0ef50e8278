"""Arrays in memory that workers share: made, found again by their address, and freed with the last array on them."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import SharedMemoryError
from brainsmith.forks import lock_of
from brainsmith.native.isolation.region import ALIGNMENT, Region

if TYPE_CHECKING:
    from brainsmith.autodiff.op import Array

REGION = 32 << 20
"""Bytes of a region that many arrays share. Only what was written to takes memory."""

KEPT = 128 << 20
"""Bytes of empty regions that a pool keeps for what comes next: pages that exist already need not be cleared."""

_SMALL, _SPARED = 1 << 16, 1 << 20
"""Bytes of a block that is kept for the next array of its size, and of all such: a gap need not be sought then."""


class Pool:
    """Regions from which arrays are made.

    Arrays are freed from whatever thread drops the last one, also from within the garbage collector while this
    thread is at work here; so freeing only notes the block unless nobody is.
    """

    def __init__(self) -> None:
        self._lock = lock_of()
        self._at_work = False  # with the lock held: this thread was interrupted by what now runs
        self._closed = False
        self._regions: list[Region] = []
        self._spare: dict[int, list[tuple[Region, int]]] = {}
        self._spared = 0
        self._freed: deque[PoolBlock] = deque()
        self._process = os.getpid()

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return a new array of undefined content.

        Raises:
            SharedMemoryError: There is no such memory, no array has such a shape, or a signal handler or finaliser
                asks while its own thread is at work here.
        """
        size = dtype.itemsize
        for extent in shape:
            size *= extent
        with self._lock:
            if self._at_work:
                raise SharedMemoryError(
                    "a signal handler or finaliser cannot allocate shared memory here: it interrupted its own thread "
                    "while that was allocating some"
                )
            try:
                self._at_work = True
                self._collect()
                region, offset = self._find(_rounded(size))
                block = PoolBlock(self, region, offset, size, shape, dtype)
            finally:
                self._at_work = False
        try:
            return np.asarray(block)
        except ValueError as error:  # an array may be without elements and yet too long for numpy
            raise SharedMemoryError(f"an array of shape {shape} cannot be allocated: {error}") from error

    def close(self) -> None:
        """Keep no memory from now on: what is alive goes with the last array on it."""
        with self._lock:
            self._closed = True
            self._regions, self._spare, self._spared = [], {}, 0

    @property
    def regions(self) -> list[Region]:
        """Its regions, as a list that does not change."""
        return self._regions

    def free(self, block: PoolBlock) -> None:
        """Take back the block of an array that was freed."""
        self._freed.append(block)
        while self._freed and self._lock.acquire(blocking=False):
            try:
                if self._at_work:
                    return
                try:
                    self._at_work = True
                    self._collect()
                finally:
                    self._at_work = False
            finally:
                self._lock.release()

    def _collect(self) -> None:
        while self._freed:
            block = self._freed.popleft()
            if self._closed:
                continue
            if block.size <= _SMALL and self._spared < _SPARED and len(self._regions) <= KEPT // REGION:
                self._spare.setdefault(block.size, []).append((block.region, block.offset))
                self._spared += block.size
                continue
            if self._spare and len(self._regions) > KEPT // REGION:  # they must not keep regions
                self._give_back_spare()
            block.region.give_back(block.offset, block.size)
            if not block.region.used:
                self._trim(block.region)

    def _give_back_spare(self) -> None:
        spare, self._spare, self._spared = self._spare, {}, 0
        for size, places in spare.items():
            for region, offset in places:
                region.give_back(offset, size)
                if not region.used:
                    self._trim(region)

    def _trim(self, region: Region) -> None:
        if sum(one.size for one in self.regions if not one.used) > KEPT and self._process == os.getpid():
            self._regions = [one for one in self.regions if one is not region]
            region.release()

    def _find(self, size: int) -> tuple[Region, int]:
        places = self._spare.get(size)
        if places:
            self._spared -= size
            return places.pop()
        for region in self.regions:
            offset = region.take(size)
            if offset is not None:
                return region, offset
        if size > physical_memory():
            raise SharedMemoryError(
                f"an array of {size} bytes cannot be allocated: this machine has {physical_memory()} bytes of memory"
            )
        region = Region(REGION if size <= REGION // 2 else size)
        if not self._closed:
            self._regions = [*self.regions, region]
        offset = region.take(size)
        if offset is None:
            raise SharedMemoryError(f"a region of {region.size} bytes has no room for {size}")
        return region, offset


class PoolBlock:
    """What an array of a pool rests on: its `base`; when it goes, the memory is free."""

    __slots__ = ("__array_interface__", "nbytes", "offset", "pool", "region", "size")

    def __init__(
        self,
        pool: Pool,
        region: Region,
        offset: int,
        nbytes: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
    ) -> None:
        self.pool, self.region, self.offset = pool, region, offset
        self.nbytes, self.size = nbytes, _rounded(nbytes)
        self.__array_interface__ = {
            "version": 3,
            "data": (region.address + offset, False),
            "shape": shape,
            "typestr": dtype.str,
        }

    def __del__(self) -> None:
        self.pool.free(self)


def place_of(array: Array) -> tuple[Region, int] | None:
    """Return the region in which a contiguous array lies, and its offset there in bytes; None if it is not shared."""
    base: Any = array.base
    while not isinstance(base, PoolBlock):
        if base is None:
            return None
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    if array.nbytes == base.nbytes:
        return base.region, base.offset
    return base.region, array.__array_interface__["data"][0] - base.region.address


def _rounded(size: int) -> int:
    return -(-max(size, 1) // ALIGNMENT) * ALIGNMENT


def physical_memory() -> int:
    """Return how many bytes of memory this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
