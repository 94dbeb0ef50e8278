"""Figures as families of metrics, and these as the text that Prometheus reads; no other module imports prometheus-client.

Nothing is counted here: each family is made, when somebody asks, of numbers that are kept elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import choose_encoder

from brainsmith.monitoring.work_span import DURATIONS, RUNNING
from brainsmith.store.audit import RUNNING as RECORDERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prometheus_client import Metric

    from brainsmith.monitoring.timings import Labels, Timings

_ABOUT_WORK = {
    "build": "How long builds took, by how they ended.",
    "step": "How long steps of builds took; reused: their result was in the cache.",
    "simulation": "How long simulations of circuits ran; stalled: they did not end, which sizing FIFOs tries.",
    "compilation": "How long compiling simulations took.",
    "synthesis": "How long synthesising parts of circuits took.",
    "load": "How long importing plugins took.",
}


class Source(Protocol):
    """What has figures to show."""

    def collect(self) -> Iterator[Metric]:
        """Yield them."""


class WorkMetrics:
    """What this process did: builds, steps, simulations, compilations, syntheses and loads."""

    def collect(self) -> Iterator[Metric]:
        """Yield a histogram for each kind of work, and how much goes on."""
        for kind, timings in DURATIONS.items():
            yield histogram(f"brainsmith_{kind}_duration_seconds", _ABOUT_WORK[kind], ("outcome",), timings)
        going_on = {(kind,): 0 for kind in DURATIONS} | RUNNING.found()
        yield gauge("brainsmith_work_in_progress", "How much work goes on now.", ("kind",), going_on)


def exposition(sources: Sequence[Source], accept: str = "", process: bool = True) -> tuple[bytes, str]:
    """Return the text of all figures, and its media type.

    Args:
        sources: What has them.
        accept: The header of that name, by which a client asks for the form of OpenMetrics.
        process: Whether figures of this process itself (memory, CPU time, open files) are among them.
    """
    registry = CollectorRegistry(auto_describe=False)
    for source in sources:
        registry.register(_Collected(source))
    if process:
        ProcessCollector(registry=registry)
    encode, media_type = choose_encoder(accept)
    text: list[bytes] = []
    # A step may just run, and this be a thread that began meanwhile: what is looked at here is not read by the step.
    RECORDERS.aside(lambda: text.append(encode(registry)))
    return text[0], media_type


class _Collected:
    """A source, which is asked once for each text and not for its names before."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        return self._source.collect()


def gauge(name: str, about: str, labels: Sequence[str], values: Mapping[Labels, float]) -> Metric:
    """Return what may go up and down."""
    family = GaugeMetricFamily(name, about, labels=labels)
    for found, value in values.items():
        family.add_metric(found, value)
    return family


def counter(name: str, about: str, labels: Sequence[str], values: Mapping[Labels, float]) -> Metric:
    """Return what only goes up; its name ends with `_total` in the text."""
    family = CounterMetricFamily(name, about, labels=labels)
    for found, value in values.items():
        family.add_metric(found, value)
    return family


def histogram(name: str, about: str, labels: Sequence[str], timings: Timings) -> Metric:
    """Return how long things took."""
    family = HistogramMetricFamily(name, about, labels=labels)
    bounds = [*map(repr, timings.bounds), "+Inf"]
    for found, distribution in timings.found().items():
        family.add_metric(found, list(zip(bounds, distribution.counts, strict=True)), distribution.seconds)
    return family
