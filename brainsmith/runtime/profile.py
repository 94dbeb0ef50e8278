"""What a target took: how long it prepared, how long each call lasted, how many samples it does in a second."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil
from typing import Any

from brainsmith.forks import lock_of

_KEPT = 10_000
"""Latencies that are kept; older ones only count in the totals."""


@dataclass(frozen=True)
class Profile:
    """How long one target took since it was initialised, for all managers together. All times are in seconds.

    Attributes:
        target: Its name.
        device_id: Which of several devices.
        initialize_seconds: How long `initialize` took.
        prepares: Resources that were prepared; those that were prepared already do not count.
        prepare_seconds: How long that took, together.
        executes: Calls that succeeded.
        failures: Calls that raised.
        samples: In the calls that succeeded.
        execute_seconds: The sum of their latencies.
        latencies: Of the last calls that succeeded, in their order; 10,000 at most.
    """

    target: str
    device_id: int
    initialize_seconds: float = 0.0
    prepares: int = 0
    prepare_seconds: float = 0.0
    executes: int = 0
    failures: int = 0
    samples: int = 0
    execute_seconds: float = 0.0
    latencies: tuple[float, ...] = ()

    @property
    def throughput(self) -> float:
        """Samples per second of one caller: samples by the sum of latencies; 0 before the first call."""
        return self.samples / self.execute_seconds if self.execute_seconds else 0.0

    def percentile(self, percent: float) -> float:
        """Return the least latency that so many per cent of the last calls did not exceed; 0 before the first call."""
        if not 0 <= percent <= 100:
            raise ValueError(f"percent must be between 0 and 100, not {percent!r}")
        ordered = sorted(self.latencies)
        return ordered[max(ceil(len(ordered) * percent / 100) - 1, 0)] if ordered else 0.0  # nearest rank


class Meter:
    """Collects what becomes a `Profile`; from any thread."""

    def __init__(self, target: str, device_id: int) -> None:
        self._lock = lock_of()
        self._target, self._device_id = target, device_id
        self._sums: dict[str, Any] = {}
        self._latencies: deque[float] = deque(maxlen=_KEPT)

    def add(self, **amounts: float) -> None:
        """Note what was done: `prepares=1, prepare_seconds=0.5`; of a call that succeeded, its time is its latency."""
        with self._lock:
            for name, amount in amounts.items():
                self._sums[name] = self._sums.get(name, 0) + amount
            if "execute_seconds" in amounts:
                self._latencies.append(amounts["execute_seconds"])

    def profile(self) -> Profile:
        """Return what was noted so far."""
        with self._lock:
            return Profile(self._target, self._device_id, latencies=tuple(self._latencies), **self._sums)
