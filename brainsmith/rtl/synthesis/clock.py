"""The clock that a design reaches by estimate, and what keeps it from a faster one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from brainsmith.rtl.synthesis.synthesis_report import LayerFigures, SynthesisReport

NEAR = 1.1
"""A path of the whole design that is longer than this many times the slowest of a layer counts as one between layers."""


@dataclass(frozen=True)
class ClockEstimate:
    """The clock of a whole design, estimated from its slowest path with typical delays.

    Attributes:
        target_mhz: What is asked for.
        fmax_mhz: What the slowest path allows.
        to_mvau: That over what FINN's matrix-vector unit allows on such a part, by the same estimate.
        ns: The slowest path.
        levels: Of logic on it.
        start: Where it starts.
        end: Where it ends.
        layer: The layer with the slowest path of those alone.
        kernel: Of that layer.
        own: Whether its core is this project's.
        warnings: Sentences for people.
    """

    target_mhz: float
    fmax_mhz: float
    to_mvau: float
    ns: float
    levels: int
    start: str
    end: str
    layer: str
    kernel: str
    own: bool
    warnings: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {**asdict(self), "warnings": list(self.warnings)}


def estimate_clock(report: SynthesisReport, period: float, own: Collection[str]) -> ClockEstimate | None:
    """Return the clock that a design reaches by estimate; None if it has no path.

    Args:
        report: Of its synthesis.
        period: What is asked for, in nanoseconds.
        own: The layers whose cores are this project's.
    """
    path = report.path
    if path is None or path.fmax_mhz is None:
        return None
    slowest = max((layer for layer in report.layers if layer.path is not None), key=_ns, default=None)
    return ClockEstimate(
        target_mhz=round(1000 / period, 1),
        fmax_mhz=path.fmax_mhz,
        to_mvau=round(report.mvau_ns / path.ns, 2),
        ns=path.ns,
        levels=path.levels,
        start=path.start,
        end=path.end,
        layer=slowest.name if slowest else "",
        kernel=slowest.kernel if slowest else "",
        own=slowest is not None and slowest.name in own,
        warnings=tuple(_warnings(report, slowest, period, own)),
    )


def _warnings(
    report: SynthesisReport, slowest: LayerFigures | None, period: float, own: Collection[str]
) -> Iterator[str]:
    path = report.path
    assert path is not None
    if path.ns > period:
        yield (
            f"the clock of {1000 / period:,.0f} MHz is not reached by estimate: the slowest path takes {path.ns:.2f} ns "
            f"({1000 / path.ns:,.0f} MHz), with {path.levels} levels of logic, from {path.start} to {path.end}"
            f"{_where(path.ns, slowest)}. It is no place and route, so it may be reached all the same; a slower clock in "
            "the blueprint (`target: {clock_ns: ...}`), or fewer values a cycle in that layer (step `fold`), are safe"
        )
    if slowest is not None and slowest.name in own:
        yield from _slow_core(report, slowest, own)


def _slow_core(report: SynthesisReport, slowest: LayerFigures, own: Collection[str]) -> Iterator[str]:
    """Yield a warning if the design's slowest path is in that layer and others would allow a faster clock."""
    path, design = slowest.path, report.path
    assert path is not None
    assert design is not None
    others = [layer for layer in report.layers if layer.path is not None and layer.name not in own]
    other = max(others, key=_ns, default=None)
    reached = _ns(other) if other is not None else report.mvau_ns
    if path.ns <= reached or design.ns > NEAR * path.ns:
        return
    without = (
        f"the slowest other layer, {other.name} ({other.kernel})," if other else "FINN's matrix-vector unit"
    )
    yield (
        f"the slowest path of the design is in a core of this project: {slowest.name} ({slowest.kernel}), with "
        f"{path.ns:.2f} ns from {path.start} to {path.end}; {without} takes {reached:.2f} ns by the same estimate. If the "
        "clock is not reached on the part, give that layer fewer values a cycle (step `fold`), or another backend "
        "(`kernels:` in the blueprint)"
    )


def _ns(layer: LayerFigures) -> float:
    return layer.path.ns if layer.path is not None else 0.0


def _where(ns: float, slowest: LayerFigures | None) -> str:
    if slowest is None or slowest.path is None:
        return ""
    if ns > NEAR * slowest.path.ns:
        return ", between layers"
    return f", in layer {slowest.name} ({slowest.kernel})"
