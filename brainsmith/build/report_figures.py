"""The figures of a build, from its report: measured and synthesised ones before estimates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brainsmith.blueprint.schema import FIGURES
from brainsmith.figures import as_stated, number
from brainsmith.report_fields import Fields, fields

_COSTED = ("lut", "bram18", "dsp")


def figures_of(report: Mapping[str, Any]) -> dict[str, float | None]:
    """Return each of `FIGURES`; None for what the build does not know, or does not state as a number."""
    estimate, rtl, synthesis, rate = (
        fields(report.get(key)) for key in ("estimate", "rtl", "synthesis", "rate")
    )
    resources = synthesis or estimate
    found: dict[str, object] = {
        "fps": rate.get("fps", estimate.get("fps")),
        "interval_cycles": rtl.get("interval_cycles") or estimate.get("interval_cycles"),
        "latency_cycles": rtl.get("latency_cycles") or estimate.get("latency_cycles"),
        **{name: resources.get(name) for name in ("lut", "ff", "bram18", "uram", "dsp")},
        "cost": _cost(fields(fields(report.get("device")).get("resources"))),
        "fmax_mhz": fields(synthesis.get("place")).get("fmax_mhz"),
        "accuracy": fields(report.get("accuracy")).get("after"),
    }
    return {name: as_stated(found[name]) for name in FIGURES}


def _cost(resources: Fields) -> float | None:
    """Return the sum of the shares of what a design takes of its device."""
    shares = [number(fields(resources.get(name)).get("share")) for name in _COSTED]
    return None if None in shares else float(sum(share for share in shares if share is not None))
