"""The calls of targets that a thread is in, so that it never waits for what waits for itself."""

from __future__ import annotations

from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING

from brainsmith.errors import TargetError
from brainsmith.forks import lock_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from threading import Event, RLock

    from brainsmith.runtime.live_target import LiveTarget

LOOK = 0.05
"""Seconds after which a thread that waits inside a call checks whether its own target is being released."""


class _Calls(local):
    def __init__(self) -> None:
        self.of: list[LiveTarget] = []


_CALLS = _Calls()


def enter(live: LiveTarget) -> None:
    """Note that this thread is in a call of a target."""
    _CALLS.of.append(live)


def leave(live: LiveTarget) -> None:
    """Note that it has left it."""
    _CALLS.of.remove(live)


def wait_for_end(ended: Event) -> None:
    """Wait until a target has ended.

    Raises:
        TargetError: That of a call in which this thread is waits for the call.
    """
    if not _CALLS.of:
        ended.wait()
    while not ended.wait(LOOK):
        _refuse()


class ChangeLock:
    """Lets one thread at a time change which targets a manager holds.

    The thread that holds it may wait for the end of calls, when it releases their target. Such a call may ask for a change
    itself, and would wait forever.
    """

    def __init__(self) -> None:
        self._lock = lock_of(waits=False)

    def change(self) -> AbstractContextManager[object]:
        """Return what lets a thread in.

        Threads that are in no call take the lock itself, because nothing can interrupt them between taking it and
        entering the block.

        Raises:
            TargetError: On entering: the target of a call in which this thread is, is being released.
        """
        return _patiently(self._lock) if _CALLS.of else self._lock


@contextmanager
def _patiently(lock: RLock) -> Iterator[None]:
    """Take a lock from inside a call of a target."""
    while not lock.acquire(timeout=LOOK):
        _refuse()
    try:
        yield
    finally:
        lock.release()


def _refuse() -> None:
    for live in _CALLS.of:
        if live.waits_for_this_thread:
            raise TargetError(
                f"target '{live.name}' is being released, which waits for this call of it to return: until then, the "
                "call can choose no target and prepare nothing"
            )
