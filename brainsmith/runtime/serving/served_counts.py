"""What a server counts of its requests: plain numbers, of which `/metrics` shows families."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from brainsmith.monitoring.timings import Tally, Timings
from brainsmith.runtime.serving import protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from brainsmith.monitoring.timings import Labels

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_ROUTES = (protocol.TARGET, protocol.PREPARE, protocol.EXECUTE, protocol.METRICS)


class ServedCounts:
    """The requests to one target.

    Args:
        target: Its name, which each figure has as a label.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._seconds = Timings(_BOUNDS)
        self._answers = Tally()
        self._refusals = Tally()
        self._running = Tally()

    def begun(self, path: str) -> OneRequest:
        """Note that a request came."""
        self._running.add((self._target,))
        return OneRequest(self, route_of(path))

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Note that a request has its answer, or that its client went away before that (status 0)."""
        self._running.add((self._target,), -1)
        self._answers.add((self._target, route, str(status) if status else "none"))
        self._seconds.note((self._target, route), seconds)

    def refused(self, kind: str, status: int) -> None:
        """Note why a request is not answered with what it asks for."""
        self._refusals.add((self._target, kind, str(status)))

    def collect(self) -> Iterator[Metric]:
        """Yield the families of these figures."""
        from brainsmith.monitoring.families import counter, gauge, histogram  # only where figures are shown

        yield counter(
            "brainsmith_served_requests",
            "Requests to a served target, by what they asked for and the status of the answer.",
            ("target", "route", "status"),
            self._answers.found(),
        )
        yield histogram(
            "brainsmith_served_request_duration_seconds",
            "How long requests took, from their head to the end of the answer.",
            ("target", "route"),
            self._seconds,
        )
        yield counter(
            "brainsmith_served_refusals",
            "Requests that were not answered with what they asked for, by the kind of error.",
            ("target", "kind", "status"),
            self._refusals.found(),
        )
        running: dict[Labels, float] = {(self._target,): 0, **self._running.found()}
        yield gauge(
            "brainsmith_served_requests_in_progress",
            "How many requests are being answered now.",
            ("target",),
            running,
        )


class OneRequest:
    """A request that is being answered.

    Attributes:
        status: Of the answer; 0 as long as there is none.
    """

    def __init__(self, counts: ServedCounts, route: str) -> None:
        self.status = 0
        self._counts, self._route = counts, route
        self._begin = time.perf_counter()

    def end(self) -> None:
        """Note its end."""
        self._counts.answered(self._route, self.status, time.perf_counter() - self._begin)


def route_of(path: str) -> str:
    """Return what a path asks for, of few values: a client may ask for any path."""
    if path.startswith(protocol.MODELS):
        return protocol.MODELS.rstrip("/")
    return path if path in _ROUTES else "other"
