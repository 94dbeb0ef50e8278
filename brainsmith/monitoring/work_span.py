"""Work with a begin, an end and an outcome: counted and timed by its kind, and a span of OpenTelemetry's.

    with WorkSpan("simulation", f"{__name__}.Simulator.run", {"brainsmith.design.name": "mlp"}) as span:
        span.set("brainsmith.simulation.cycles", simulate())

Nothing of OpenTelemetry is imported: a process that has not done so cannot have set up an exporter.
"""

from __future__ import annotations

import sys
import time

from brainsmith import TYPE_CHECKING
from brainsmith.monitoring.timings import Tally, Timings

if TYPE_CHECKING:
    from brainsmith.monitoring.tracing import Begun, Value

OK, REUSED, STALLED, FAILED, INTERRUPTED = "ok", "reused", "stalled", "failed", "interrupted"
"""The outcomes. What is reused was not done again, because a cache had its result. That a simulation stalls is no failure:
sizing FIFOs looks for depths with which it does not; where it is one, the step fails."""

_SHORT = (0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)
_LONG = (0.1, 0.5, 2.0, 10.0, 30.0, 120.0, 600.0, 1800.0, 7200.0)

_ENDS = ((OK,), (FAILED,))

DURATIONS = {
    "build": Timings(_LONG, _ENDS),
    "step": Timings(_LONG, (*_ENDS, (REUSED,))),
    "simulation": Timings(_LONG, (*_ENDS, (STALLED,))),
    "compilation": Timings(_LONG, _ENDS),
    "synthesis": Timings(_LONG, _ENDS),
    "load": Timings(_SHORT, _ENDS),
}
"""How long work took in this process, by kind and then by outcome. Discoveries and adapters are counted by the hub."""

RUNNING = Tally()
"""How much of it goes on now, by kind."""


class WorkSpan:
    """Work that goes on, as a context; an error that leaves it makes it fail.

    Args:
        kind: `build`, `step`, `simulation`, `compilation`, `synthesis`, `load`, `discovery` or `adapter`.
        function: What does it, with its module: `code.function.name`.
        attributes: Further ones, by their whole names.
        label: Which one of its kind, if there are few: it is in the name of the span, as in `step cleanup`.

    Attributes:
        outcome: `ok`, unless the body says another one or fails.
    """

    __slots__ = ("_attributes", "_begin", "_begun", "_error", "_function", "_kind", "_label", "outcome")

    def __init__(
        self, kind: str, function: str, attributes: dict[str, Value] | None = None, label: str = ""
    ) -> None:
        self.outcome = OK
        self._kind, self._function, self._label = kind, function, label
        self._attributes = attributes
        self._begin = 0.0
        self._error: BaseException | None = None
        self._begun: Begun | None = None

    def __enter__(self) -> WorkSpan:
        if "opentelemetry.trace" in sys.modules:
            from brainsmith.monitoring.tracing import begin  # where somebody may want traces

            name = f"{self._kind} {self._label}" if self._label else self._kind
            attributes = {"code.function.name": self._function, **(self._attributes or {})}
            self._begun = begin(name, attributes)
        if self._kind in DURATIONS:
            RUNNING.add((self._kind,))
        self._begin = time.perf_counter()
        return self

    def set(self, name: str, value: Value) -> None:
        """Add an attribute that is known only now."""
        if self._begun is not None:
            self._begun.set(name, value)

    def failed(self, error: Exception) -> None:
        """Say that the work failed, though the error is dealt with and does not leave the body."""
        self.outcome, self._error = FAILED, error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self.outcome = FAILED if isinstance(error, Exception | SystemExit) else INTERRUPTED
        if self._kind in DURATIONS:
            RUNNING.add((self._kind,), -1)
            DURATIONS[self._kind].note((self.outcome,), time.perf_counter() - self._begin)
        if self._begun is not None:
            self._begun.set("brainsmith.outcome", self.outcome)
            self._begun.end(error or self._error)
