"""How many frames per second an accelerator takes: measured once it was simulated, before that estimated."""

from __future__ import annotations

from typing import Any

from brainsmith.build.circuit_summary import count
from brainsmith.figures import plural

Fields = dict[str, Any]


def rate_of(
    estimate: Fields | None, rtl: Fields | None, clock_ns: float, target: int | None
) -> Fields | None:
    """Return the report's `rate`.

    Args:
        estimate: The report's; its `fps` is at the blueprint's clock.
        rtl: The report's; `interval_cycles` is None with one frame, or where nothing was simulated.
        clock_ns: The clock period.
        target: What the blueprint asks for.

    Returns:
        `fps` (None if it is not known), whether it was `measured`, the `estimate`, the `target`, and whether that is
        `met` (None if it cannot be determined). None where nothing is known and nothing asked for.
    """
    estimated = None if estimate is None else estimate["fps"]
    interval = None if rtl is None else rtl["interval_cycles"]
    fps = 1e9 / (interval * clock_ns) if interval else estimated
    if fps is None and target is None:
        return None
    met = None if fps is None or target is None else fps >= target * (1 - 1e-9)  # of floats, not of rates
    return {"fps": fps, "measured": bool(interval), "estimate": estimated, "target": target, "met": met}


def rate_line(rate: Fields) -> str:
    """Return a line for a terminal; `rate` as in `report.json`."""
    if rate["fps"] is None:
        return f"unknown; target {count(rate['target'])}"
    how = "measured" if rate["measured"] else "estimated"
    beside = target = ""
    if rate["measured"] and rate["estimate"] is not None:
        beside = f" (estimated {count(rate['estimate'])})"
    if rate["target"] is not None:
        target = f"; target {count(rate['target'])}: {'met' if rate['met'] else 'missed'}"
    return f"{plural(rate['fps'], 'frame')} per second, {how}{beside}{target}"
