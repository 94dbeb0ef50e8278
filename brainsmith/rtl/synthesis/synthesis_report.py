"""What a synthesis found, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.synthesis.slowest_path import SlowestPath


@dataclass(frozen=True)
class Estimate:
    """The estimate of a layer, a FIFO or a design; None where there is no model."""

    lut: int | None
    bram18: int | None
    dsp: int | None
    ff: int | None = None
    uram: int | None = None


@dataclass(frozen=True)
class LayerFigures:
    """One layer alone, with the memory of its weights.

    Attributes:
        name: Of the layer.
        kernel: Of the layer.
        used: What it needs.
        estimate: Made before, if it is known.
        seconds: Of processor time that its synthesis took, when it was done.
        path: Its slowest, between registers; None if it was not looked for.
    """

    name: str
    kernel: str
    used: Resources
    estimate: Estimate | None
    seconds: float
    path: SlowestPath | None = None


@dataclass(frozen=True)
class FifoFigures:
    """One FIFO alone.

    Attributes:
        name: Of its link.
        bits: Of a beat.
        depth: In beats.
        used: What it needs.
        estimate: Of its depth and width, if there is a model.
    """

    name: str
    bits: int
    depth: int
    used: Resources
    estimate: Estimate | None = None


@dataclass(frozen=True)
class SynthesisReport:
    """What a design needs of a part.

    Attributes:
        part: As it was asked for.
        family: The part's.
        tool: What synthesised, with its version.
        used: What the whole design needs, layers and FIFOs optimised together.
        layers: Each alone.
        fifos: Each alone.
        notes: Sentences on what the figures overstate or leave out.
        seconds: Of processor time that all took together, when they were done; two run at a time.
        peak_mb: The most memory that one process had.
        path: The slowest of the whole design; None if it was not looked for.
        mvau_ns: What that of FINN's matrix-vector unit takes on such a part.
    """

    part: str
    family: str
    tool: str
    used: Resources
    layers: tuple[LayerFigures, ...]
    fifos: tuple[FifoFigures, ...]
    notes: tuple[str, ...]
    seconds: float
    peak_mb: int
    path: SlowestPath | None = None
    mvau_ns: float = 0.0

    @property
    def parts_sum(self) -> Resources:
        """Return what layers and FIFOs need, each by itself."""
        used = [layer.used for layer in self.layers] + [fifo.used for fifo in self.fifos]
        return sum(used, Resources())

    @property
    def estimate(self) -> Estimate:
        """Return the estimates of all layers and FIFOs together; None of what one of them has no model of."""
        made = [layer.estimate for layer in self.layers] + [fifo.estimate for fifo in self.fifos]
        parts = [each or _UNKNOWN for each in made]
        found: dict[str, int | None] = {}
        for name in asdict(_UNKNOWN):
            values = [getattr(part, name) for part in parts]
            found[name] = None if None in values else sum(values)
        return Estimate(**found)

    def to_plain(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it: the figures of `used` lie beside the names."""
        return {
            "part": self.part,
            "family": self.family,
            "tool": self.tool,
            **asdict(self.used),
            "parts_sum": asdict(self.parts_sum),
            "estimate": asdict(self.estimate),
            "error": _errors(self.estimate, self.used),
            "notes": list(self.notes),
            "path": self._timed(self.path),
            "layers": [{**_flat(layer), "path": self._timed(layer.path)} for layer in self.layers],
            "fifos": [_flat(fifo) for fifo in self.fifos],
            "seconds": self.seconds,
            "peak_mb": self.peak_mb,
        }

    def _timed(self, path: SlowestPath | None) -> dict[str, Any] | None:
        """Return a path with the clock that it allows, and that over what FINN's matrix-vector unit allows."""
        if path is None:
            return None
        ratio = round(self.mvau_ns / path.ns, 2) if path.ns else None
        return {**asdict(path), "fmax_mhz": path.fmax_mhz, "to_mvau": ratio}


_UNKNOWN = Estimate(None, None, None)
_SHARED = ("lut", "ff")
"""What estimates miss by a share; of all others they are exact, or wrong."""


def _flat(figures: LayerFigures | FifoFigures) -> dict[str, Any]:
    fields = asdict(figures)
    error = _errors(figures.estimate, figures.used)
    return {**fields.pop("used"), **fields, "error": error}


def _errors(estimate: Estimate | None, used: Resources) -> dict[str, float | None]:
    """Return by which share of what is used the estimate is above it (0.1 is a tenth too high)."""
    found: dict[str, float | None] = {}
    for name in _SHARED:
        told, real = getattr(estimate or _UNKNOWN, name), getattr(used, name)
        found[name] = None if told is None or not real else round((told - real) / real, 4)
    return found
