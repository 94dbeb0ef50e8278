"""The figures of a build, from its report: measured and synthesised ones before estimates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brainsmith.blueprint.schema import FIGURES

_COSTED = ("lut", "bram18", "dsp")


def figures_of(report: Mapping[str, Any]) -> dict[str, float | None]:
    """Return each of `FIGURES`; None for what the build does not know."""
    estimate, rtl = report.get("estimate") or {}, report.get("rtl") or {}
    synthesis, rate = report.get("synthesis") or {}, report.get("rate") or {}
    resources = synthesis or estimate
    found: dict[str, float | None] = {
        "fps": rate.get("fps", estimate.get("fps")),
        "interval_cycles": rtl.get("interval_cycles") or estimate.get("interval_cycles"),
        "latency_cycles": rtl.get("latency_cycles") or estimate.get("latency_cycles"),
        **{name: resources.get(name) for name in ("lut", "ff", "bram18", "uram", "dsp")},
        "cost": _cost(report.get("device") or {}),
        "fmax_mhz": (synthesis.get("place") or {}).get("fmax_mhz"),
        "accuracy": (report.get("accuracy") or {}).get("after"),
    }
    return {name: found[name] for name in FIGURES}


def _cost(device: Mapping[str, Any]) -> float | None:
    """Return the sum of the shares of what a design takes of its device."""
    shares = [(device.get("resources") or {}).get(name, {}).get("share") for name in _COSTED]
    return (
        None if None in shares or not shares else float(sum(share for share in shares if share is not None))
    )
