"""The section of the synthesis: each layer's figures beside its estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from brainsmith import figures
from brainsmith.figures import number
from brainsmith.markup import Markup, tag
from brainsmith.report_fields import Fields, fields, first_text, items, numbers, text, total
from brainsmith.rtl.stitching.design import MEMORY
from brainsmith.web.elements import cell, section, sentence, sort_key, table

RESOURCES = {
    "lut": "LUT", "lutram": "LUTRAM", "ff": "FF", "bram18": "BRAM18", "uram": "URAM", "dsp": "DSP",
}  # fmt: skip
_ESTIMATED = ("lut", "ff", "bram18", "uram", "dsp")
_NO_ESTIMATE: Mapping[str, float | None] = MappingProxyType({})
_MEMORIES = "The estimate of a layer includes the memory of its weights, which has a row of its own here."
_NONE = "The circuit was not synthesised: the build's output does not ask for it, or it ended earlier."


def synthesis_section(synthesis: object, device: object = None) -> Markup:
    """Show the figures of a synthesis, with what they overstate or leave out.

    Args:
        synthesis: The report's `synthesis`.
        device: The report's `device`.
    """
    found = fields(synthesis)
    if not found:
        return section("synthesis", "Synthesis", sentence(_NONE))
    layers = [fields(layer) for layer in items(found.get("layers"))]
    stated = [text(note) for note in items(found.get("notes"))]
    stated += _clock(fields(found.get("clock"))) + _placed(fields(found.get("place")))
    if any(first_text(layer, "kernel") == MEMORY for layer in layers):
        stated.append(_MEMORIES)
    notes = [tag("li", note) for note in stated]
    parts = [
        _table(found, layers, fields(device)),
        tag("ul", notes, class_="remarks") if notes else None,
    ]
    return section("synthesis", "Synthesis", parts, note=_note(found, layers))


def _note(found: Fields, layers: Sequence[Fields]) -> str:
    tool, family = first_text(found, "tool"), first_text(found, "family")
    made = (f" by {tool}" if tool else "") + (f" for the family {family}" if family else "")
    seconds = sum(number(layer.get("seconds")) or 0 for layer in layers)
    time = f" in {figures.seconds(seconds)}" if seconds else ""
    return (
        f"{figures.plural(len(layers), 'layer')} synthesised{made}{time}, each alone, without place and route, beside "
        "their estimates. The whole design is optimised together, so it can need less than the sum of its parts."
    )


def _clock(found: Fields) -> list[str]:
    """Say what clock the design reaches by estimate, and where its slowest path is, if that is known."""
    clock, target, ratio = (number(found.get(key)) for key in ("fmax_mhz", "target_mhz", "to_mvau"))
    if clock is None:
        return []
    asked = "" if target is None else f" ({figures.count(target)} MHz are asked for)"
    beside = (
        "" if ratio is None else f", {figures.three_digits(ratio)} times that of FINN's matrix-vector unit"
    )
    start, end = first_text(found, "start"), first_text(found, "end")
    levels = figures.plural(number(found.get("levels")) or 0, "level")
    return [
        f"By estimate the design reaches {figures.count(clock)} MHz{asked}{beside}. Its slowest path has {levels} of "
        f"logic, from {start} to {end}."
    ]


def _placed(found: Fields) -> list[str]:
    """Say what clock the design reaches on the part that open tools can place on, if it was placed there."""
    clock, device = number(found.get("fmax_mhz")), first_text(found, "device")
    if clock is None or not device:
        return []
    names = {"lut": "LUTs of four inputs", "ff": "flip-flops", "bram": "block RAMs", "dsp": "multipliers"}
    used = ", ".join(f"{figures.count(number(found.get(key)))} {name}" for key, name in names.items())
    return [
        f"Placed and routed on {device} the design reaches {figures.count(clock)} MHz, with {used}. This does not "
        "predict the clock on the part that it was built for."
    ]


def _table(found: Fields, layers: Sequence[Fields], device: Fields) -> Markup:
    columns = ["#", "Layer"]
    for key, name in RESOURCES.items():
        columns += [name, "estimate"] if key in _ESTIMATED else [name]
    columns += ["Levels", "MHz"]
    rows = [_row(index, layer) for index, layer in enumerate(layers)]
    sums = [("All layers", _figures(_totals(layers), _estimates(layers)))]
    fifos = [fields(fifo) for fifo in items(found.get("fifos"))]
    if fifos:
        sums.append(("All FIFOs", _figures(_totals(fifos), _estimates(fifos))))
    whole = numbers(found, *RESOURCES)
    if set(whole) != {None}:
        sums.append(("Whole design", _figures(whole, _estimate(found))))
        if first_text(device, "name") and first_text(device, "source") == "synthesis":
            resources = fields(device.get("resources"))
            shares = [number(fields(resources.get(key)).get("share")) for key in RESOURCES]
            sums.append((f"Of {first_text(device, 'name')}", _figures(shares, show=_share)))
    whole_path = fields(found.get("clock"))
    foot = [
        tag(
            "tr",
            tag("td"),
            tag("th", name, scope="row"),
            cells,
            _path(whole_path if name == "Whole design" else {}),
            tag("td"),
        )
        for name, cells in sums
    ]
    numeric = {0, *range(2, len(columns) + 1)}
    return table("Synthesis of the layers", [*columns, "Time"], rows, numeric, tag("tfoot", foot))


def _row(index: int, layer: Fields) -> Markup:
    name, kernel = first_text(layer, "name"), first_text(layer, "kernel")
    seconds = number(layer.get("seconds"))
    return tag(
        "tr",
        cell(index + 1),
        tag("th", name or figures.ABSENT, scope="row", title=kernel or None),
        _figures(numbers(layer, *RESOURCES), _estimate(layer)),
        _path(fields(layer.get("path"))),
        cell(figures.seconds(seconds), seconds),
    )


def _figures(
    values: Sequence[float | None],
    estimate: Mapping[str, float | None] = _NO_ESTIMATE,
    show: Callable[[float | None], str] = figures.count,
) -> list[Markup]:
    """Write the cells of all resources, each with its estimate beside it, and by how much that misses."""
    cells = []
    for key, value in zip(RESOURCES, values, strict=True):
        cells.append(cell(show(value), value))
        if key in _ESTIMATED:
            other = estimate.get(key)
            cells.append(tag("td", _beside(other, value), class_="number beside", data_order=sort_key(other)))
    return cells


def _beside(estimate: float | None, counted: float | None) -> str:
    """Write an estimate; where it is not what was counted, also by which share it is above or below."""
    told = figures.count(estimate)
    if estimate is None or not counted or estimate == counted:
        return told
    return (
        f"{told} ({'+' if estimate > counted else '-'}{figures.share(abs(estimate - counted) / counted, 1)})"
    )


def _path(path: Fields) -> list[Markup]:
    """Write the levels of logic of a slowest path, and the clock that it allows by estimate."""
    levels, clock = number(path.get("levels")), number(path.get("fmax_mhz"))
    return [cell(figures.count(levels), levels), cell(figures.count(clock), clock)]


def _share(value: float | None) -> str:
    return figures.ABSENT if value is None else figures.share(value)


def _totals(layers: Sequence[Fields]) -> list[float | None]:
    return [total(number(layer.get(key)) for layer in layers) for key in RESOURCES]


def _estimate(layer: Fields) -> dict[str, float | None]:
    return {key: number(fields(layer.get("estimate")).get(key)) for key in _ESTIMATED}


def _estimates(layers: Sequence[Fields]) -> dict[str, float | None]:
    """Add up estimates; None where a layer has none, because a sum of the others would look like a saving.

    A memory of weights has none of its own: it is in that of its layer.
    """
    found = [_estimate(layer) for layer in layers if first_text(layer, "kernel") != MEMORY]
    by_key = {key: [one[key] for one in found] for key in _ESTIMATED}
    return {key: None if None in values else total(values) for key, values in by_key.items()}
