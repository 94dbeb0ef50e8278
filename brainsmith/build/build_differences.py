"""What differs between two builds, by their reports: from the model and the blueprint to layers and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from brainsmith.build.report_figures import figures_of
from brainsmith.figures import as_stated
from brainsmith.report_fields import fields, items, text

SECTIONS = ("model", "blueprint", "plugins", "steps", "layers", "figures", "verification")
"""In the order in which one follows from the others."""

_UNTOLD = ("file", "files", "seconds", "name")
"""What two builds may differ in without being different."""

_COUNTS = {"cycles": "cycles", "lut": "LUT", "bram18": "BRAM18", "dsp": "DSP"}


class BuildDifference(NamedTuple):
    """One thing that is not the same.

    Attributes:
        what: Such as ``target.part``, or ``MVAU_rtl_0: lut``.
        before: Its value in the first build; None if it does not exist.
        after: In the second.
    """

    what: str
    before: Any
    after: Any


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[BuildDifference]]:
    """Return what differs between two builds, by section, in the order of the first one.

    Args:
        before: The report of a build, as in `report.json`.
        after: That of another one.
    """
    reads = (_model, _blueprint, _plugins, _steps, figures_of, _verification)
    plain = [list(_between(read(before), read(after))) for read in reads]
    return dict(zip(SECTIONS, [*plain[:4], list(_layers(before, after)), *plain[4:]], strict=True))


def _between(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[BuildDifference]:
    for what in dict.fromkeys([*before, *after]):
        if before.get(what) != after.get(what):
            yield BuildDifference(what, before.get(what), after.get(what))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield plain values with the keys that lead to them; lists count as a whole."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _flat(each, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _model(report: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in _flat(fields(report.get("model"))) if name not in _UNTOLD}


def _blueprint(report: Mapping[str, Any]) -> dict[str, Any]:
    blueprint = fields(report.get("blueprint"))
    whole = {name: value for name, value in blueprint.items() if name != "stated"}
    found = {name: value for name, value in _flat(whole) if name not in _UNTOLD}
    for name, value in _flat(fields(blueprint.get("stated"))):
        if isinstance(value, list):  # its order is that of the steps
            found |= {f"{name}: {each}": True for each in value}
        elif name not in found:
            found[name] = value
    return {**found, "strict": report.get("strict")}


def _plugins(report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        f"{one.get('type')} {one.get('framework')}:{one.get('name')}": one.get("version")
        for one in map(fields, items(report.get("plugins")))
    }


def _steps(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the place of each step; one that runs several times counts each time."""
    found: dict[str, Any] = {}
    for place, step in enumerate(map(fields, items(report.get("steps"))), start=1):
        name = f"{step.get('framework')}:{step.get('name')}"
        again = sum(other == name or other.startswith(f"{name} (") for other in found)
        found[f"{name} ({again + 1})" if again else name] = place
    return found


def _layers(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[BuildDifference]:
    """Yield what differs in layers of one name, and each layer that one build has alone, as one difference."""
    first, second = (
        {text(layer.get("name")): layer for layer in map(fields, items(report.get("layers")))}
        for report in (before, after)
    )
    for name in dict.fromkeys([*first, *second]):
        one, other = first.get(name), second.get(name)
        if one is None or other is None:
            yield BuildDifference(name, _in_short(one), _in_short(other))
            continue
        known = [{key: value for key, value in _flat(layer) if key not in _UNTOLD} for layer in (one, other)]
        for each in _between(*known):
            yield each._replace(what=f"{name}: {each.what.removeprefix('attributes.')}")


def _in_short(layer: Mapping[str, Any] | None) -> str | None:
    if layer is None:
        return None
    said = (f"{layer[name]:,} {unit}" for name, unit in _COUNTS.items() if as_stated(layer.get(name)))
    return ", ".join([str(layer.get("op_type")), *said])


def _verification(report: Mapping[str, Any]) -> dict[str, Any]:
    circuit, golden = fields(report.get("rtl")), fields(report.get("golden"))
    shortfalls = {text(one.get("text")): True for one in map(fields, items(report.get("shortfalls")))}
    return {
        **{f"golden {name}": golden.get(name) for name in ("samples", "random", "generated")},
        **{f"circuit {name}": circuit.get(name) for name in ("frames", "mismatches", "stalled_mismatches")},
        "error": report.get("error"),
        **{f"shortfall: {said}": True for said in shortfalls},
    }
