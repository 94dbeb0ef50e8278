"""What a target took: how long it prepared, how long each call lasted, how many samples it does in a second."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil

from brainsmith.forks import lock_of

_KEPT = 10_000
"""Latencies that are kept; older ones only count in the totals."""


@dataclass(frozen=True)
class Profile:
    """What one target took since it was initialised, by all managers together. All times are in seconds.

    Attributes:
        target: Its name.
        device_id: Which of several devices.
        initialize_seconds: How long `initialize` took.
        prepares: Resources that were prepared; those that were there already do not count.
        prepare_seconds: How long that took, together.
        executes: Calls that succeeded.
        failures: Calls that raised.
        samples: In the calls that succeeded.
        execute_seconds: The sum of their latencies.
        latencies: Of the last calls that succeeded, in their order; 10,000 at most.
    """

    target: str
    device_id: int
    initialize_seconds: float
    prepares: int
    prepare_seconds: float
    executes: int
    failures: int
    samples: int
    execute_seconds: float
    latencies: tuple[float, ...]

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
        self._initialize = self._prepare = self._execute = 0.0
        self._prepares = self._executes = self._failures = self._samples = 0
        self._latencies: deque[float] = deque(maxlen=_KEPT)

    def initialized(self, seconds: float) -> None:
        """Note how long `initialize` took."""
        self._initialize = seconds

    def prepared(self, seconds: float) -> None:
        """Note one resource that was prepared."""
        with self._lock:
            self._prepares += 1
            self._prepare += seconds

    def executed(self, seconds: float, samples: int) -> None:
        """Note one call that succeeded."""
        with self._lock:
            self._executes += 1
            self._samples += samples
            self._execute += seconds
            self._latencies.append(seconds)

    def failed(self) -> None:
        """Note one call that raised."""
        with self._lock:
            self._failures += 1

    def profile(self) -> Profile:
        """Return what was noted so far."""
        with self._lock:
            return Profile(
                self._target,
                self._device_id,
                self._initialize,
                self._prepares,
                self._prepare,
                self._executes,
                self._failures,
                self._samples,
                self._execute,
                tuple(self._latencies),
            )
