"""Progress of long work: the code that works reports it, and the code that started it may listen.

    with Task("simulating mlp", total=360, unit="frames") as task:
        for frame in frames:
            simulate(frame)
            task.add()

The listener is in a context variable, so two builds in two threads do not get each other's progress. Without a listener a
task costs next to nothing. A listener is called in its own thread only: the progress of other threads that work for
it (`carried`) is reported when its own thread reports something or waits for them (`wait_for`). A forked child has no
listener.
"""

from __future__ import annotations

import os
import time
from _thread import get_ident
from contextvars import ContextVar, copy_context

from brainsmith import TYPE_CHECKING
from brainsmith.forks import lock_of
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from contextvars import Token
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    T = TypeVar("T")

INTERVAL = 1.0
"""Seconds between two calls of a listener, at least."""

BEAT = 0.2
"""Seconds for which what waits looks away from its listener, at most."""


_SETTLED = 3.0
"""Seconds after which the rate so far says something about the rest."""


class Work(Struct):
    """One thing that goes on: a value.

    Attributes:
        what: Such as `simulating mlp`.
        done: How much of it is done; 0 if that is not counted.
        total: Of how much; None if that is not known.
        unit: What is counted: `frames`, `layers`.
        seconds: Since it began.
    """

    what: str
    done: int
    total: int | None
    unit: str
    seconds: float

    @property
    def left(self) -> float | None:
        """Return the seconds that the rest takes at the rate so far; None where that is not known yet."""
        if not self.total or not self.done or self.seconds < _SETTLED:
            return None
        return self.seconds * max(self.total - self.done, 0) / self.done

    def __str__(self) -> str:
        """Return it as `what: 3 of 12 layers, 5 s, about 15 s left`."""
        count = f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}"
        counted = f": {count} {self.unit}".rstrip() if self.done or self.total is not None else ""
        rest = "" if self.left is None else f", about {elapsed(self.left)} left"
        return f"{self.what}{counted}, {elapsed(self.seconds)}{rest}"


def elapsed(seconds: float) -> str:
    """Return a time as people read it: `12 s`, `3 min 5 s`, `2 h 10 min`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Listening:
    """A context with a listener to the tasks that begin in it.

    Args:
        call: Is given all that goes on, the outermost first, when a task says something, `INTERVAL` after the last time.
            What it raises ends the work.
    """

    def __init__(self, call: Callable[[tuple[Work, ...]], object]) -> None:
        self._call = call
        self._tasks: list[Task] = []
        self._last_report = time.monotonic()
        self._thread = (os.getpid(), get_ident())
        self._token: Token[Listening | None] | None = None

    def __enter__(self) -> Listening:
        self._token = _listener.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        assert self._token is not None
        _listener.reset(self._token)

    def begun(self, task: Task) -> None:
        """Note a task."""
        self._tasks.append(task)
        self.tick()

    def ended(self, task: Task) -> None:
        """Forget a task."""
        self._tasks.remove(task)

    def tick(self) -> None:
        """Call the listener, if it is time and this is its own thread."""
        now = time.monotonic()
        is_own = self._thread == (os.getpid(), get_ident())
        if now - self._last_report < INTERVAL or not self._tasks or not is_own:
            return
        self._last_report = now
        self._call(tuple([task.work(now) for task in list(self._tasks)]))


_listener: ContextVar[Listening | None] = ContextVar("brainsmith_listener", default=None)


_COUNTING = lock_of()


class Task:
    """Work that takes long, as a context.

    Args:
        what: Such as `simulating mlp`.
        total: How much there is to do; None if that is not known.
        unit: What is counted.
    """

    def __init__(self, what: str, total: int | None = None, unit: str = "") -> None:
        self.what = what
        self.total = total
        self.unit = unit
        self.done = 0
        self._listener = _listener.get()
        self._begin = 0.0

    def __enter__(self) -> Task:
        self._begin = time.monotonic()
        if self._listener is not None:
            self._listener.begun(self)
        return self

    def __exit__(self, *error: object) -> None:
        if self._listener is not None:
            self._listener.ended(self)

    def at(self, done: int) -> None:
        """Report how much is done."""
        self.done = done
        if self._listener is not None:
            self._listener.tick()

    def add(self, more: int = 1) -> None:
        """Report that more is done; several threads may call it."""
        with _COUNTING:
            self.done += more
        if self._listener is not None:
            self._listener.tick()

    def work(self, now: float) -> Work:
        """Return its present state."""
        return Work(self.what, self.done, self.total, self.unit, now - self._begin)


def has_listener() -> bool:
    """Return whether there is a listener here."""
    return _listener.get() is not None


def tick() -> None:
    """Call the listener if it is time: for code that waits and has nothing to report."""
    listener = _listener.get()
    if listener is not None:
        listener.tick()


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function for another thread, whose tasks are reported to the listener here."""
    context = copy_context()

    def run(*args: P.args, **keywords: P.kwargs) -> T:
        return context.run(function, *args, **keywords)

    return run


def wait_for(future: Future[T]) -> T:
    """Return the result of what another thread does; meanwhile progress is reported to the listener here."""
    while has_listener():
        try:
            return future.result(BEAT)
        except TimeoutError:
            if future.done():  # it raised that itself
                break
            tick()
    return future.result()
