"""A worker as its coordinator sees it: a process that is asked, heard, and replaced when it is lost."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from brainsmith.errors import ExplorationError
from brainsmith.exploration.worker import HEARTBEAT

SILENCE = 15 * HEARTBEAT
"""Seconds without a sign of life after which a worker hangs."""

_LEFT = 5.0
_KILLED = -9


class WorkerLostError(ExplorationError):
    """A worker died, hangs, or takes too long; the point that it had may be tried again."""


class WorkerProcess:
    """A process that builds points, made when it is first needed, and again after it was lost.

    Args:
        megabytes: Of memory that it may take; 0 for any.
        silence: Seconds without a sign of life after which it hangs.
    """

    def __init__(self, megabytes: int = 0, silence: float = SILENCE) -> None:
        self._megabytes, self._silence = megabytes, silence
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def run(self, task: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return what the worker answers to a task: its figures, or the reason why it failed.

        Args:
            task: Plain values.
            seconds: How long it may take.

        Raises:
            WorkerLostError: It died, hangs or takes longer; the process is gone.
        """
        try:
            process = self._started()
            assert process.stdin is not None
            process.stdin.write(json.dumps(dict(task)).encode() + b"\n")
            process.stdin.flush()
            return self._answer(process, time.monotonic() + seconds, seconds)
        except BrokenPipeError:
            raise self._lost("its process ended before it was asked") from None

    def close(self) -> None:
        """End the process."""
        process, self._process, self._rest = self._process, None, b""
        if process is not None:
            process.kill()
            process.communicate()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-m", "brainsmith.exploration.worker", str(self._megabytes)]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self._process

    def _answer(self, process: subprocess.Popen[bytes], end: float, seconds: float) -> dict[str, Any]:
        assert process.stdout is not None
        heard = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                now = time.monotonic()
                if now > end:
                    raise self._lost(f"it takes longer than {seconds:g} s")
                if now - heard > self._silence:
                    raise self._lost(f"its worker hangs: no sign of life for {self._silence:g} s")
                if not selector.select(min(end - now, self._silence, 1.0)):
                    continue
                data = os.read(process.stdout.fileno(), 1 << 16)
                if not data:
                    raise self._lost(_ended(process))
                heard = time.monotonic()
                answer = self._lines(data)
                if answer is not None:
                    return answer

    def _lines(self, data: bytes) -> dict[str, Any] | None:
        """Return the answer if it is among what came; signs of life are none."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        answers = [found for line in lines if not (found := json.loads(line)).get("alive")]
        return answers[0] if answers else None

    def _lost(self, reason: str) -> WorkerLostError:
        self.close()
        return WorkerLostError(reason)


def _ended(process: subprocess.Popen[bytes]) -> str:
    """Say how a process ended."""
    try:
        code = process.wait(_LEFT)
    except subprocess.TimeoutExpired:
        return "its worker closed its output"
    if code == _KILLED:
        return "its worker was killed, perhaps because the machine has too little memory"
    return f"its worker ended with signal {-code}" if code < 0 else f"its worker ended with exit code {code}"
