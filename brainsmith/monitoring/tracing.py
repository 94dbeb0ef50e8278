"""Spans of OpenTelemetry's, where the process has set up a provider of them.

Imported only where `opentelemetry.trace` is. A span never changes what is built: what an exporter raises ends no build, and
what it reads, and the random numbers that become ids, are not those of the step that runs.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Thread
from typing import Any, TypeAlias, TypeVar

from opentelemetry import context, trace

from brainsmith import __version__
from brainsmith.forks import lock_of
from brainsmith.store.audit import RUNNING as RECORDERS

T = TypeVar("T")
Value: TypeAlias = str | bool | int | float | list[str]

LOGGER = logging.getLogger(__name__)
_DRAWING = lock_of()
_warned: set[str] = set()
_known: list[tuple[trace.TracerProvider, trace.Tracer]] = []


@dataclass
class Begun:
    """A span that goes on, and is the parent of those that begin meanwhile in its thread."""

    span: trace.Span
    token: Any

    def set(self, name: str, value: Value) -> None:
        """Set an attribute."""
        _apart(lambda: self.span.set_attribute(name, value))

    def end(self, error: BaseException | None) -> None:
        """End it; with the error that left it, if one did."""
        _apart(lambda: self._end(error))

    def _end(self, error: BaseException | None) -> None:
        context.detach(self.token)
        if error is not None:
            self.span.set_attribute("error.type", type(error).__qualname__)
            self.span.record_exception(error)
            self.span.set_status(trace.StatusCode.ERROR, str(error) or type(error).__name__)
        self.span.end()


def begin(name: str, attributes: Mapping[str, Value]) -> Begun | None:
    """Begin a span; None where no provider is set up, so that nobody wants it."""
    return _with_own_numbers(lambda: _begin(name, attributes)) if _apart(has_provider) else None


def note_past(name: str, attributes: Mapping[str, Value], nanoseconds: int) -> None:
    """Report a span that ends now, and began at a time since the epoch."""
    if _apart(has_provider):
        _with_own_numbers(
            lambda: _tracer().start_span(name, attributes=attributes, start_time=nanoseconds).end()
        )


def has_provider() -> bool:
    """Return whether spans go anywhere: a provider is set, or `OTEL_PYTHON_TRACER_PROVIDER` names one."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def ids_now() -> dict[str, str]:
    """Return the ids of the trace and the span that go on here, as log records name them; nothing where there is none."""
    now = trace.get_current_span().get_span_context()
    if not now.is_valid:
        return {}
    return {"trace_id": trace.format_trace_id(now.trace_id), "span_id": trace.format_span_id(now.span_id)}


def _tracer() -> trace.Tracer:
    """Return the tracer of the provider that is set up; making one takes longer than a span."""
    provider = trace.get_tracer_provider()
    if not _known or _known[0][0] is not provider:
        _known[:] = [(provider, provider.get_tracer("brainsmith", __version__))]
    return _known[0][1]


def _begin(name: str, attributes: Mapping[str, Value]) -> Begun:
    span = _tracer().start_span(name, attributes=attributes)
    return Begun(span, context.attach(trace.set_span_in_context(span)))


def _with_own_numbers(function: Callable[[], T]) -> T | None:
    """Call a function that draws ids, as `_apart` does: a step's random numbers are the same with traces and without.

    One thread at a time, so that none takes the numbers of another one's ids for the step's.
    """
    with _DRAWING:
        state = random.getstate()
        random.seed()
        try:
            return _apart(function)
        finally:
            random.setstate(state)


def _apart(function: Callable[[], T]) -> T | None:
    """Call a function; what it reads does not count as read by a step. None if it fails."""
    found: list[T] = []
    try:
        RECORDERS.aside(lambda: found.append(function()))
    except Exception as error:  # noqa: BLE001  (somebody's exporter)
        _warn_once(error)
    return found[0] if found else None


def _warn_once(error: Exception) -> None:
    """Warn of errors of a class once, from another thread: what the thread of a step warns of is kept with its result."""
    kind = type(error).__name__
    if kind not in _warned:
        _warned.add(kind)
        warn = Thread(target=LOGGER.warning, args=("a span could not be reported: %s: %s", kind, error))
        warn.start()
        warn.join()
