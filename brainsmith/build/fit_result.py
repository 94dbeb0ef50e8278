"""What became of a fit: the line of the summary, and what it promised and the circuit does not keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.build.device_use import NAMES
from brainsmith.figures import plural, share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Fields = Mapping[str, Any]

_BEST = {
    "fps": "the smallest interval",
    "latency": "the smallest latency",
    "resources": "the smallest circuit",
}
"""What a goal asks for."""

_ADVICE = {
    "estimate": "no foldings were found that leave room for their FIFOs: raise target.fit.use, or ask for less",
    "synthesis": "lower target.fit.use to make room for what was not foreseen",
}
"""What to do about a circuit that takes too much, by what said so."""


def fit_line(fit: Fields) -> str:
    """Return a line for a terminal; `fit` as in `report.json`."""
    best = f"{_BEST[fit['goal']]} within {share(fit['use'], 0)} of {fit['device']}"
    if fit["proven"]:
        return f"{best}, proven in {fit['seconds']:.1f} s ({plural(fit['options'], 'folding')} of the layers)"
    return f"{best}, not proven: {_bounds(fit)}"


def fit_shortfalls(fit: Fields | None, device: Fields | None) -> Iterator[str]:
    """Say what is not proven, and what the circuit takes beyond its share.

    Args:
        fit: The report's; None if the foldings were not chosen for a device.
        device: The report's.
    """
    if fit is None:
        return
    if not fit["proven"]:
        yield f"the foldings are not proven to be the best ones: {_bounds(fit)}"
    beyond = []
    for key, held in ({} if device is None else device["resources"]).items():
        if held["used"] is not None and fit["limits"][key] < held["used"] <= held["available"]:
            beyond.append(f"{NAMES[key]} ({held['used']:,} of {fit['limits'][key]:,})")
    if beyond and device is not None:
        yield (
            f"the circuit takes more than {share(fit['use'], 0)} of {fit['device']}, by the {device['source']}: "
            f"{', '.join(beyond)}; {_ADVICE[device['source']]}"
        )


def _bounds(fit: Fields) -> str:
    said = [f"another choice may cost {share(fit['gap'], 1)} less"]
    if fit["interval_bound"] < fit["interval_cycles"]:
        said.append(
            f"no interval is below {fit['interval_bound']:,} cycles, and this is {fit['interval_cycles']:,}"
        )
    if fit["goal"] == "latency" and fit["latency_bound"] < fit["latency_cycles"]:
        said.append(
            f"no latency is below {fit['latency_bound']:,} cycles, and this is {fit['latency_cycles']:,}"
        )
    return "; ".join(said)
