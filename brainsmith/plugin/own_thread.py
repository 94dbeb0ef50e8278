"""Call a function in a thread of its own: with an empty stack, and out of the reach of Ctrl-C."""

from __future__ import annotations

import time
from _thread import allocate_lock, start_new_thread

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Result = TypeVar("Result")


def in_own_thread(function: Callable[[], Result], undo: Callable[[Result], object] | None = None) -> Result:
    """Return what a function returns, or raise what it raises.

    It is waited for by a lock: an interrupted `Thread.join` believes that its thread has ended.

    Args:
        function: Runs to its end, whatever interrupts the wait for it.
        undo: Called with what it returns if the wait was interrupted.

    Raises:
        RuntimeError: No thread can be started.
    """
    ends: list[tuple[Result] | BaseException] = []
    running = allocate_lock()
    running.acquire()

    def run() -> None:
        try:
            ends.append((function(),))
        except BaseException as error:  # noqa: BLE001  (it is raised in the thread that waits)
            ends.append(error)
        finally:
            running.release()

    try:
        try:
            start_new_thread(run, ())
        except RuntimeError as error:
            ends.append(error)
        running.acquire(blocking=not ends)
        end = ends[0]
        if not isinstance(end, BaseException):
            return end[0]
    except BaseException:
        end = _end_of(ends)
        if undo is not None and not isinstance(end, BaseException):
            undo(end[0])
        raise
    raise end


def _end_of(ends: list[tuple[Result] | BaseException]) -> tuple[Result] | BaseException:
    """Wait until a function has come to its end, whatever interrupts this."""
    while not ends:
        try:
            time.sleep(0.001)
        except BaseException:  # noqa: BLE001, S112  (a second Ctrl-C; the first is raised when this is done)
            continue
    return ends[0]
