"""What the front end reported of the network's integers, and what the host does at its ends, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brainsmith.figures import plural
from brainsmith.steps.step_reports import read_report

INTEGERS = "report/integers.json"
"""Where the step `integer` leaves it, in the output folder."""


def read_integers(folder: Path) -> dict[str, Any] | None:
    """Return what the report says of integers, with sentences on the host's part; None if no step found any.

    Raises:
        BuildError: The file cannot be read.
    """
    found = read_report(folder / INTEGERS)
    return None if found is None else {"host": _host(found), **found}


def _host(found: dict[str, Any]) -> list[str]:
    said = [_quantises(one) for one in found["quantisers"]]
    return said + [text for one in found["outputs"] if (text := _scales(one))]


def _quantises(record: dict[str, Any]) -> str:
    mode = f", rounded by {record['rounding_mode']}" if record["rounding_mode"] else ""
    inputs = " and ".join(f"input '{name}'" for name in record["inputs"])
    zero = f", zero point {record['zero_point']}" if record["zero_point"] else ""
    after = f", after {', '.join(record['operators'])}" if record["operators"] else ""
    return f"quantises {inputs} to {record['low']} to {record['high']}: {_scale(record['scale'])}{zero}{mode}{after}"


def _scales(record: dict[str, Any]) -> str:
    """Say what makes an output of integers; nothing if it is the integers themselves."""
    if record["scale"] is None:
        return f"computes output '{record['name']}' in floats"
    parts = [] if record["scale"] == [1.0] else [_scale(record["scale"])]
    if any(record["offset"]):
        parts.append("an offset")
    parts += record["operators"]
    return f"computes output '{record['name']}' from integers: {', '.join(parts)}" if parts else ""


def _scale(values: Sequence[float]) -> str:
    return f"scale {values[0]:.6g}" if len(values) == 1 else f"{plural(len(values), 'scale')} of channels"
