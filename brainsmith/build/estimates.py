"""Read the estimates that a build's steps have written: this project's file, or FINN's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from brainsmith.steps.resources import RESOURCES
from brainsmith.steps.step_reports import read_report

TOTALS = ("interval_cycles", "latency_cycles", "fps", *RESOURCES, "fifos")


def read_estimates(folder: Path, clock_ns: float) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Return the layers, and the totals of the whole accelerator.

    Args:
        folder: The output folder of the build.
        clock_ns: Clock period, for the frames per second of FINN's cycles.

    Returns:
        The layers in order (name, op_type, backend, cycles, lut, ff, bram18, dsp, uram, attributes, and choice: which
        plugin and why, where the step specialize chose it), and
        `TOTALS` with the names of the layers of whose LUTs there is no model (`lut_not_modelled`); their `lut` is None,
        and so is the `ff` of those without a model of their flip-flops. No layers and None if no step made estimates.
    """
    layers, estimate = _read_either(folder, clock_ns)
    _add_choices(layers, folder)
    if estimate is not None:
        estimate["lut_not_modelled"] = [layer["name"] for layer in layers if layer.get("lut") is None]
    return layers, estimate


def _read_either(folder: Path, clock_ns: float) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Read this project's file, or else FINN's."""
    ours = read_report(folder / "report" / "estimates.json")
    if ours is not None:
        layers = ours.get("layers", [])
        return layers, {name: ours.get(name) for name in TOTALS}
    cycles = read_report(folder / "report" / "estimate_layer_cycles.json")
    if cycles is None:
        return [], None
    resources = read_report(folder / "report" / "estimate_layer_resources.json") or {}
    network = read_report(folder / "report" / "estimate_network_performance.json") or {}
    layers = [_finn_layer(name, count, resources.get(name, {})) for name, count in cycles.items()]
    interval = max(cycles.values(), default=0)
    return layers, {
        "interval_cycles": interval,
        "latency_cycles": network.get("critical_path_cycles", sum(cycles.values())),
        "fps": 1e9 / (interval * clock_ns) if interval else None,
        **{name: sum(layer[name] or 0 for layer in layers) for name in RESOURCES if name != "ff"},
        "ff": None,
        "fifos": None,
    }


def _add_choices(layers: list[dict[str, Any]], folder: Path) -> None:
    """Say of each layer which plugin it is and why, as the step specialize noted it (`choice`)."""
    chosen = read_report(folder / "report" / "backends.json") or {}
    known = {choice["layer"]: choice for choice in chosen.get("layers", [])}
    for layer in layers:
        choice = known.get(layer["name"])
        if choice is not None:
            refused = "".join(f"; not {one['backend']}: {one['reason']}" for one in choice["refused"])
            layer["choice"] = f"{choice['backend']} ({choice['reason']}{refused})"


def _finn_layer(name: str, cycles: int, resources: dict[str, Any]) -> dict[str, Any]:
    """Translate a layer of FINN's reports; its name is all they say of its kind (`MVAU_rtl_0`)."""
    kind = name.rpartition("_")[0] or name
    backend = kind.rpartition("_")[2]
    return {
        "name": name,
        "op_type": kind,
        "backend": backend if backend in ("hls", "rtl") else "",
        "cycles": cycles,
        **{name: int(resources.get(key, 0)) for name, key in RESOURCES.items()},
        "lut": int(resources.get("LUT", 0)) or None,  # 0 is how FINN says that it has no model
        "ff": None,
        "attributes": {},
    }
