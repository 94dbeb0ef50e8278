"""Read what a build's RTL steps have written: the circuit and its simulation, and the synthesis.

A report tells what there is: a file that is missing, or a value of another kind, leaves its fields unknown. A file that
is no JSON object raises (`read_report`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from brainsmith.report_fields import Fields, fields, items
from brainsmith.steps.step_reports import read_report

PLAN = "rtl/design/design.json"
FIFOS, SIMULATION, SYNTHESIS = (f"report/rtl_{name}.json" for name in ("fifos", "simulation", "synthesis"))
RESOURCES = ("lut", "lutram", "ff", "bram18", "uram", "dsp")


def read_circuit(folder: Path, accuracy: Fields | None = None) -> dict[str, Any] | None:
    """Return the report's `rtl`.

    Args:
        folder: The output folder of the build.
        accuracy: The report's, of the last model: it is the circuit's too if all its frames are the model's.

    Returns:
        What was measured (numbers, None where nothing was), the FIFOs, and the design. None if the build made no
        circuit.
    """
    plan, fifos, simulation = (read_report(folder / name) or {} for name in (PLAN, FIFOS, SIMULATION))
    if not (plan or fifos or simulation):
        return None
    design = _read(_DESIGN, plan) if plan else None
    found: dict[str, Any] = _read(_SIMULATION, simulation)
    if design is not None:
        cycles = [layer["cycles"] or 0 for layer in design["layers"]]
        for name, estimate in (("interval", max(cycles, default=0)), ("latency", sum(cycles))):
            if found[f"{name}_estimate"] is None:
                found[f"{name}_estimate"] = estimate or None
    if found["accuracy"] is None and found["mismatches"] == 0 and accuracy is not None:
        found["accuracy"] = accuracy["after"] if accuracy["samples"] == found["frames"] else None
    found["fifos"] = (
        _read([_FIFO], fifos["fifos"]) if isinstance(fifos.get("fifos"), list) else _unsized(design)
    )
    found["sizing"] = _read(_SIZING, fifos) if fifos else None
    found["design"] = design
    return found


def in_parts(folder: Path) -> bool:
    """Tell whether a build's circuit was simulated in parts, because a frame of the whole takes too long."""
    return bool((read_report(folder / SIMULATION) or {}).get("parts"))


def read_synthesis(folder: Path, layers: Iterable[Fields] = ()) -> dict[str, Any] | None:
    """Return the report's `synthesis`; None if the build did not synthesise.

    Args:
        folder: The output folder of the build.
        layers: With estimates, for those that the step's file does not have.
    """
    content = read_report(folder / SYNTHESIS)
    if not content:
        return None
    found: dict[str, Any] = _read(_SYNTHESIS, content)
    estimates = {layer.get("name"): layer for layer in layers}
    for layer in found["layers"]:
        layer["estimate"] = _read(_ESTIMATE, layer["estimate"] or estimates.get(layer["name"]))
    return found


def _unsized(design: Fields | None) -> list[Fields]:
    """Return the FIFOs that a design has, of which it is not known how they were sized."""
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


def _read(form: Any, value: object) -> Any:
    """Return what a JSON value holds of a form, and nothing else.

    A form is a function that reads a value, a table of forms by key, or a list with the form of its entries, which are
    mappings. For example, `{"top": _text, "layers": [{"cycles": _number}]}` reads `{"top": 5, "layers": [{"cycles": 5,
    "more": 1}, "x"]}` as `{"top": "", "layers": [{"cycles": 5}]}`.
    """
    if isinstance(form, list):
        return [_read(form[0], entry) for entry in items(value) if isinstance(entry, dict)]
    if isinstance(form, dict):
        found = fields(value)
        return {key: _read(inner, found.get(key)) for key, inner in form.items()}
    return form(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    return [entry for entry in items(value) if isinstance(entry, str)]


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _numbers(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _number)


def _end(end: object) -> str:
    """Read the end of a link as `layer.stream`."""
    return ".".join(filter(None, _read({"layer": _text, "stream": _text}, end).values()))


def _link(link: Fields) -> Fields:
    own = {"name": _text, "source": _end, "target": _end, **_numbers("bits", "depth")}
    layout = {"tensor": _tensor, **_numbers("lanes", "lane_bits")}
    return {**_read(own, link), **_read(layout, link.get("layout"))}


def _stream(stream: Fields) -> Fields:
    own = {"name": _text, "bits": _number}
    return {**_read(own, stream), **_read({"tensor": _tensor, "shape": _shape}, stream.get("layout"))}


def _tensor(value: object) -> str | None:
    return _text(value) or None


def _shape(value: object) -> list[float]:
    return [size for size in map(_number, items(value)) if size is not None]


def _layer_alone(layer: Fields) -> Fields:
    return {
        "name": _text(layer.get("layer")),
        **_read(
            {"kernel": _text, **_numbers("frames", "values", "wrong", "cycles", "estimate", "share")}, layer
        ),
    }


def _parts(parts: object) -> Fields | None:
    """Read what was simulated in place of the whole circuit; None if that was simulated."""
    own = _numbers("frames", "frame_seconds", "predicted_seconds")
    sections = [{"layers": _texts, **_numbers("frames", "stalled_frames", "cycles")}]
    form = {
        **own,
        "text": _text,
        "whole": _text,
        "sections": sections,
        "reduced": _reduced,
        "uncovered": _texts,
    }
    return _read(form, parts) if fields(parts) else None


def _reduced(reduced: object) -> Fields | None:
    """Read how the whole circuit was simulated for a smaller image; None if it was not."""
    form = {
        **_numbers("frames", "stalled_frames", "interval_cycles", "interval_estimate", "latency_cycles"),
        "image": _shape,
        "of": _shape,
    }
    return _read(form, reduced) if fields(reduced) else None


def _placed(place: object) -> Fields | None:
    """Read where the design was placed and routed besides, and its clock there; None if it was not."""
    numbers = _numbers("fmax_mhz", "lut", "ff", "bram", "dsp", "seconds")
    return _read({"device": _text, **numbers}, place) if fields(place) else None


def _path(path: object) -> Fields | None:
    """Read the slowest path of a layer; None if it is not known."""
    form = {**_numbers("ns", "levels", "fmax_mhz", "to_mvau"), "start": _text, "end": _text}
    return _read(form, path) if fields(path) else None


def _clock(clock: object) -> Fields | None:
    """Read the clock that the whole design reaches by estimate; None if it was not estimated."""
    texts = {**dict.fromkeys(("start", "end", "layer", "kernel"), _text), "own": _flag, "warnings": _texts}
    numbers = _numbers("target_mhz", "fmax_mhz", "to_mvau", "ns", "levels")
    return _read({**numbers, **texts}, clock) if fields(clock) else None


_ENDS = _numbers("input", "output")
_SIMULATION = {
    **_numbers("frames", "mismatches", "stalled_frames", "stalled_mismatches", "generated_frames"),
    **_numbers("interval_cycles", "interval_estimate", "latency_cycles", "latency_estimate"),
    **_numbers("cycles_per_second", "accuracy"),
    "stalled_cycles": _ENDS,
    "stalled_shares": _ENDS,
    "random": _flag,
    "constant_outputs": lambda value: {str(name): _shape(values) for name, values in fields(value).items()},
    "constant_layers": lambda value: [name for name in items(value) if isinstance(name, str)],
    "layers": [_layer_alone],
    "parts": _parts,
}
_FIFO = {"name": _text, "from": _text, "to": _text, **_numbers("bits", "depth", "gauge", "total_bits")}
_SIZING = {
    **_numbers("gauge_bits", "simulations", "seconds", "layers_alone"),
    "minimal": _flag,
    "unsettled": lambda value: [name for name in items(value) if isinstance(name, str)],
}
_DESIGN = {
    "top": _text,
    "layers": [{"name": _text, "kernel": _text, "module": _text, "cycles": _number}],
    "links": [_link],
    "inputs": [_stream],
    "outputs": [_stream],
}
_ESTIMATE = _numbers("lut", "ff", "bram18", "uram", "dsp")
_ERROR = _numbers("lut", "ff")
_SYNTHESIS = {
    "family": _text,
    "tool": _text,
    **_numbers(*RESOURCES),
    "notes": lambda notes: [str(note) for note in items(notes)],
    "clock": _clock,
    "place": _placed,
    "estimate": _ESTIMATE,
    "error": _ERROR,
    "layers": [
        {
            **{"name": _text, "kernel": _text, **_numbers(*RESOURCES)},
            **{"estimate": fields, "error": _ERROR, "seconds": _number, "path": _path},
        }
    ],
    "fifos": [
        {
            "name": _text,
            **_numbers("bits", "depth", *RESOURCES),
            "estimate": _ESTIMATE,
            "error": _ERROR,
        }
    ],
}
