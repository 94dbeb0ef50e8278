"""How long a server may take: a fixed time for an answer, and more only as data really come."""

from __future__ import annotations

import time

from brainsmith import TYPE_CHECKING
from brainsmith.errors import SharedCacheError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

SLOWEST = 10_000_000
"""Bytes in a second: a transfer may take as long as it takes at this rate, beyond the time for the answer."""


class Deadline:
    """When a server must have answered.

    Args:
        limit: Seconds for the answer. What is transferred adds the time that it takes at the slowest rate, once it has
            been: a server that announces much and sends little gains nothing by it.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._end = time.monotonic() + limit

    def moved(self, count: int) -> None:
        """Note that bytes were received, or sent."""
        self._end += count / SLOWEST

    def left(self) -> float:
        """Return the seconds that are left.

        Raises:
            SharedCacheError: None are.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.missed()
        return left

    def missed(self) -> SharedCacheError:
        """Return the error for a server that took too long."""
        return SharedCacheError(f"it did not answer within {self.limit * 1e3:g} ms")


def in_time(deadline: Deadline, work: Callable[[Callable[[int], None]], T]) -> T:
    """Return what a function does, in a thread of its own; one that takes too long is left to itself.

    Args:
        deadline: Until when.
        work: Is given what it calls with the number of bytes that it has moved.

    Raises:
        SharedCacheError: It took too long.
        Exception: What the function raises.
    """
    # Not for numeric addresses; and Python's own threading takes longer to import than a near server to answer.
    from _queue import Empty, SimpleQueue
    from _thread import start_new_thread

    said: SimpleQueue[tuple[int, T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            said.put((-1, work(lambda count: said.put((count, None, None))), None))
        except BaseException as error:  # noqa: BLE001  (it is raised where it is waited for)
            said.put((-1, None, error))

    start_new_thread(run, ())
    while True:
        try:
            moved, result, error = said.get(timeout=deadline.left())
        except Empty:
            raise deadline.missed() from None
        if error is not None:
            raise error
        if moved < 0:
            return result  # type: ignore[return-value]  # it is what `work` returned
        deadline.moved(moved)
