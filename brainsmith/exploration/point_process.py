"""A worker as its coordinator sees it: a process that is asked, heard, and replaced when it is lost."""

from __future__ import annotations

import json
import os
import selectors
import signal
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from brainsmith.errors import ExplorationError
from brainsmith.exploration.point_worker import HEARTBEAT
from brainsmith.forks import lock_of
from brainsmith.plugin.process_ends import signal_name
from brainsmith.plugin.processes import Child, start_python

SILENCE = 15 * HEARTBEAT
"""Seconds without a sign of life after which a worker hangs."""

_LEFT = 5.0
_KILLED = -9
_GRACE = 2.0
"""Seconds that a worker has, which is not wanted any more, to end what it started: compilers, simulations."""


class WorkerLostError(ExplorationError):
    """A worker died, hangs, or takes too long; the point that it had may be tried again.

    Attributes:
        blameless: Whether the point had certainly no part in it.
    """

    def __init__(self, message: str, blameless: bool = False) -> None:
        super().__init__(message)
        self.blameless = blameless


class _PointPipes(NamedTuple):
    """A process, and the descriptors that it is asked and answers by."""

    child: Child
    ask: int
    hear: int


class WorkerProcess:
    """A process that builds points, made when it is first needed, and again after it was lost.

    One thread asks it and closes it; any thread may stop it.

    Args:
        megabytes: Of memory that it may take; 0 for any.
        silence: Seconds without a sign of life after which it hangs.
    """

    def __init__(self, megabytes: int = 0, silence: float = SILENCE) -> None:
        self._megabytes, self._silence = megabytes, silence
        self._running: _PointPipes | None = None
        self._rest = b""
        self._stopped = False
        self._asked = False  # whether it may have started something
        self._lock = lock_of()

    @property
    def pid(self) -> int | None:
        """The number of its process; None if there is no process now."""
        return self._running and self._running.child.pid

    @property
    def stopped(self) -> bool:
        """Whether it was stopped, and starts no other process."""
        return self._stopped

    def run(self, task: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return what the worker answers to a task: its figures, or the reason why it failed.

        Args:
            task: Plain values.
            seconds: How long it may take.

        Raises:
            WorkerLostError: It died, hangs or takes longer; the process, and all that it started, is gone.
        """
        try:
            running = self.start()
            self._asked = True
            os.write(running.ask, json.dumps(dict(task)).encode() + b"\n")
            return self._answer(running, time.monotonic() + seconds, seconds)
        except OSError:  # it ended before it was asked
            raise self._lost("its worker ended") from None

    def stop(self) -> None:
        """Let whoever asks it hear at once that it is lost, and start no other process."""
        with self._lock:
            self._stopped = True
            if (
                self._running is not None
            ):  # its thread reads the end of the pipe, and closes it: nobody else may
                _end(self._running.child)

    def close(self) -> None:
        """End the process, and all that it started."""
        with self._lock:
            running, self._running, self._rest = self._running, None, b""
            if running is not None:
                _end(running.child, gently=self._asked)
                self._asked = False
                os.close(running.ask)
                os.close(running.hear)

    def start(self) -> _PointPipes:
        """Start the process, unless it runs.

        Raises:
            WorkerLostError: It was stopped.
        """
        with self._lock:
            if self._stopped:
                raise WorkerLostError("its worker was stopped")
            if self._running is None:
                (tasks, ask), (hear, results) = os.pipe(), os.pipe()
                text = (
                    "from brainsmith.exploration.point_worker import main\n"
                    f"main({tasks}, {results}, {self._megabytes})"
                )
                try:
                    self._running = _PointPipes(start_python(text, (tasks, results)), ask, hear)
                finally:
                    os.close(tasks)
                    os.close(results)
            return self._running

    def _answer(self, running: _PointPipes, end: float, seconds: float) -> dict[str, Any]:
        heard = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(running.hear, selectors.EVENT_READ)
            while True:
                now = time.monotonic()
                if now > end:
                    raise self._lost(f"it takes longer than {seconds:g} s")
                if now - heard > self._silence:
                    raise self._lost(f"its worker hangs: no sign of life for {self._silence:g} s")
                if not selector.select(min(end - now, self._silence, 1.0)):
                    continue
                data = os.read(running.hear, 1 << 16)
                if not data:
                    raise self._lost(_ended(running.child))
                heard = time.monotonic()
                answer = self._lines(data)
                if answer is not None:
                    self._asked = False
                    return answer

    def _lines(self, data: bytes) -> dict[str, Any] | None:
        """Return the answer if it has come; signs of life are no answer."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        answers = [found for line in lines if not (found := json.loads(line)).get("alive")]
        return answers[0] if answers else None

    def _lost(self, reason: str) -> WorkerLostError:
        self.close()
        return WorkerLostError(reason)


def _end(child: Child, gently: bool = True) -> None:
    """End a process as Ctrl-C would, so that it ends what it started; if that takes too long, or it need not, at once."""
    if gently and not child.has_ended(0):  # nobody has its number but it, until it is waited for
        os.kill(child.pid, signal.SIGINT)
        child.has_ended(_GRACE)
    child.end()


def _ended(child: Child) -> str:
    """Say how a process ended."""
    if not child.has_ended(_LEFT):
        return "its worker closed its output"
    code = child.end()
    if code == _KILLED:
        return "its worker was killed, perhaps because the machine has too little memory"
    return (
        f"its worker was ended by {signal_name(-code)}"
        if code < 0
        else f"its worker ended with exit code {code}"
    )
