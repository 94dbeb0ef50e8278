"""Read what a build's RTL steps have written: the circuit and its simulation, and the synthesis.

A report tells what there is: a file that is missing, damaged or of another kind leaves its fields unknown.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from brainsmith.web.content import Fields, fields, items

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PLAN = "rtl/design/design.json"
FIFOS, SIMULATION, SYNTHESIS = (f"report/rtl_{name}.json" for name in ("fifos", "simulation", "synthesis"))
RESOURCES = ("lut", "lutram", "ff", "bram18", "uram", "dsp")
_PLACED = ("fmax_mhz", "lut", "ff", "bram", "dsp", "seconds")
_ENDS = ("input", "output")
_MEASURED = (
    "frames", "mismatches", "stalled_frames", "stalled_mismatches", "generated_frames", "interval_cycles",
    "interval_estimate", "latency_cycles", "latency_estimate", "cycles_per_second", "accuracy",
)  # fmt: skip


def read_circuit(folder: Path, accuracy: Fields | None = None) -> dict[str, Any] | None:
    """Return the report's `rtl`.

    Args:
        folder: The output folder of the build.
        accuracy: The report's, of the last model: it is the circuit's too if all its frames are the model's.

    Returns:
        What was measured (numbers, None where nothing was), the FIFOs, and the design. None if the build made no
        circuit.
    """
    plan, fifos, simulation = (_read(folder / name) for name in (PLAN, FIFOS, SIMULATION))
    if not (plan or fifos or simulation):
        return None
    design = _design(plan) if plan else None
    measured = {name: _number(simulation.get(name)) for name in _MEASURED}
    if design is not None:
        cycles = [layer["cycles"] or 0 for layer in design["layers"]]
        for name, estimate in (("interval", max(cycles, default=0)), ("latency", sum(cycles))):
            if measured[f"{name}_estimate"] is None:
                measured[f"{name}_estimate"] = estimate or None
    ends = {
        name: {end: _number(fields(simulation.get(name)).get(end)) for end in _ENDS}
        for name in ("stalled_cycles", "stalled_shares")
    }
    if measured["accuracy"] is None and measured["mismatches"] == 0 and accuracy is not None:
        measured["accuracy"] = accuracy["after"] if accuracy["samples"] == measured["frames"] else None
    random = simulation.get("random")
    return {
        **measured,
        **ends,
        "random": random if isinstance(random, bool) else None,
        "layers": [_alone(layer) for layer in _entries(simulation.get("layers"))],
        "fifos": _fifos(fifos, design),
        "sizing": _sizing(fifos),
        "design": design,
    }


def read_synthesis(folder: Path, layers: Iterable[Fields] = ()) -> dict[str, Any] | None:
    """Return the report's `synthesis`; None if the build did not synthesise.

    Args:
        folder: The output folder of the build.
        layers: With FINN's estimates, for those that the step's file does not have.
    """
    found = _read(folder / SYNTHESIS)
    if not found:
        return None
    estimates = {layer.get("name"): layer for layer in layers}
    return {
        "family": _text(found.get("family")),
        "tool": _text(found.get("tool")),
        **{name: _number(found.get(name)) for name in RESOURCES},
        "notes": [str(note) for note in items(found.get("notes"))],
        "place": _placed(fields(found.get("place"))),
        "layers": [_synthesised(layer, estimates) for layer in _entries(found.get("layers"))],
        "fifos": [
            {
                "name": _text(fifo.get("name")),
                **{key: _number(fifo.get(key)) for key in ("bits", "depth", *RESOURCES)},
            }
            for fifo in _entries(found.get("fifos"))
        ],
    }


def _placed(found: Fields) -> Fields | None:
    """Return where the design was placed and routed besides, and its clock there; None if it was not."""
    if not found:
        return None
    return {"device": _text(found.get("device")), **{name: _number(found.get(name)) for name in _PLACED}}


def _alone(layer: Fields) -> Fields:
    """Translate what came of a layer that ran alone."""
    return {
        "name": _text(layer.get("layer")),
        "kernel": _text(layer.get("kernel")),
        **{key: _number(layer.get(key)) for key in ("frames", "values", "wrong")},
    }


def _sizing(found: Fields) -> Fields | None:
    """Return how the FIFOs were sized; None if they were not."""
    if not found:
        return None
    minimal = found.get("minimal")
    numbers = {key: _number(found.get(key)) for key in ("gauge_bits", "simulations", "seconds")}
    return {**numbers, "minimal": minimal if isinstance(minimal, bool) else None}


def _synthesised(layer: Fields, estimates: dict[Any, Fields]) -> Fields:
    name = _text(layer.get("name"))
    estimate = fields(layer.get("estimate")) or estimates.get(name, {})
    return {
        "name": name,
        "kernel": _text(layer.get("kernel")),
        **{key: _number(layer.get(key)) for key in RESOURCES},
        "estimate": {key: _number(estimate.get(key)) for key in ("lut", "bram18", "dsp")},
        "seconds": _number(layer.get("seconds")),
    }


def _design(plan: Fields) -> Fields:
    """Translate `design.json` for readers of reports: no ports, ends as `layer.stream`."""
    return {
        "top": _text(plan.get("top")),
        "layers": [
            {
                **{key: _text(layer.get(key)) for key in ("name", "kernel", "module")},
                "cycles": _number(layer.get("cycles")),
            }
            for layer in _entries(plan.get("layers"))
        ],
        "links": [_link(link) for link in _entries(plan.get("links"))],
        **{ends: [_stream(stream) for stream in _entries(plan.get(ends))] for ends in ("inputs", "outputs")},
    }


def _link(link: Fields) -> Fields:
    layout = fields(link.get("layout"))
    return {
        "name": _text(link.get("name")),
        **{end: _end(fields(link.get(end))) for end in ("source", "target")},
        "bits": _number(link.get("bits")),
        "depth": _number(link.get("depth")),
        "tensor": _text(layout.get("tensor")) or None,
        **{key: _number(layout.get(key)) for key in ("lanes", "lane_bits")},
    }


def _end(end: Fields) -> str:
    return ".".join(part for part in (_text(end.get("layer")), _text(end.get("stream"))) if part)


def _stream(stream: Fields) -> Fields:
    layout = fields(stream.get("layout"))
    return {
        "name": _text(stream.get("name")),
        "bits": _number(stream.get("bits")),
        "tensor": _text(layout.get("tensor")) or None,
        "shape": [size for size in map(_number, items(layout.get("shape"))) if size is not None],
    }


def _fifos(found: Fields, design: Fields | None) -> list[Fields]:
    """Return the FIFOs as they were sized; where that is not known, those that the design has."""
    if isinstance(found.get("fifos"), list):
        return [
            {
                **{key: _text(fifo.get(key)) for key in ("name", "from", "to")},
                **{key: _number(fifo.get(key)) for key in ("bits", "depth", "gauge", "total_bits")},
            }
            for fifo in _entries(found["fifos"])
        ]
    return [
        {
            "name": link["name"],
            "from": link["source"],
            "to": link["target"],
            "bits": link["bits"],
            "depth": link["depth"],
            "gauge": None,
            "total_bits": link["bits"] * link["depth"] if link["bits"] is not None else None,
        }
        for link in (design["links"] if design else ())
        if link["depth"]
    ]


def _read(path: Path) -> Fields:
    try:
        return fields(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}


def _entries(value: object) -> list[Fields]:
    return [item for item in items(value) if isinstance(item, dict)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value
