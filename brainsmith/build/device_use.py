"""How much of its device a design takes: what was synthesised, or else what is estimated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.figures import share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from brainsmith.rtl.devices.device import FpgaDevice

    Fields = Mapping[str, Any]

NAMES = {"lut": "LUT", "ff": "FF", "bram18": "BRAM18", "uram": "URAM", "dsp": "DSP"}
"""The resources of a device, and how people call them."""


def device_use(
    device: FpgaDevice | None, synthesis: Fields | None, estimate: Fields | None, layers: Sequence[Fields]
) -> dict[str, Any] | None:
    """Return the device, and of each resource what it has and what the design takes; None if no device is named.

    Args:
        device: What the build is for.
        synthesis: The report's `synthesis`.
        estimate: The report's `estimate`.
        layers: The report's `layers`.

    Returns:
        `name`, `declared`, `source` ("synthesis", "estimate" or None), `lower_bound` (what is not known fully) and
        `resources`: by name, `available`, `used` and `share`, the latter two None where they are not known, and `share`
        where the device has none.
    """
    if device is None:
        return None
    source, lower_bound = None, []
    used: Fields = {}
    if synthesis is not None:
        source, used = "synthesis", synthesis
    elif estimate is not None:
        source = "estimate"
        used = estimate
        lower_bound = [key for key in ("lut", "ff") if any(layer.get(key) is None for layer in layers)]
    return {
        "name": device.name,
        "declared": device.declared,
        "source": source,
        "lower_bound": lower_bound,
        "resources": {key: _resource(getattr(device, key), used.get(key)) for key in NAMES},
    }


def _resource(available: int, used: int | None) -> dict[str, Any]:
    taken = round(used / available, 6) if used is not None and available else None
    return {"available": available, "used": used, "share": taken}


def beyond_text(use: Fields | None) -> str:
    """Return the sentence on what the device does not have enough of; nothing if the design fits, or it is not known."""
    if use is None:
        return ""
    lacking = [f"{name} ({_said(held)})" for name, held in _known(use) if held["used"] > held["available"]]
    if not lacking:
        return ""
    return (
        f"the design does not fit {use['name']}: by the {use['source']} it needs too much of {', '.join(lacking)}; "
        "lower the target rate, or take a larger part"
    )


def device_line(use: Fields) -> str:
    """Return the line of the summary: what is taken, of each resource of which something is."""
    bound = {NAMES[key] for key in use["lower_bound"]}
    shares = [
        f"{'at least ' if name in bound else ''}{share(held['share'], 1)} of {name}"
        for name, held in _known(use)
        if held["share"]
    ]
    name = f"{use['name']}{' (as declared)' if use['declared'] else ''}"
    if not shares:
        return name
    return f"{name}: {', '.join(shares)}{' (estimated)' if use['source'] == 'estimate' else ''}"


def _known(use: Fields) -> Iterator[tuple[str, Fields]]:
    for key, held in use["resources"].items():
        if held["used"] is not None:
            yield NAMES[key], held


def _said(held: Fields) -> str:
    part = f", {share(held['share'], 0)}" if held["available"] else ""
    return f"{held['used']:,} of {held['available']:,}{part}"
