"""The section of the synthesis: each layer's figures beside FINN's analytic estimate."""

from __future__ import annotations

from collections.abc import Sequence

from brainsmith import figures
from brainsmith.figures import number
from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.plan import MEMORY
from brainsmith.web.content import Fields, fields, first_text, items, text
from brainsmith.web.elements import cell, section, sentence, sort_key, table

RESOURCES = {
    "lut": "LUT", "lutram": "LUTRAM", "ff": "FF", "bram18": "BRAM18", "uram": "URAM", "dsp": "DSP",
}  # fmt: skip
_ESTIMATED = ("lut", "bram18", "dsp")
_MEMORIES = "FINN's estimate of a layer includes the memory of its weights, which has a row of its own here."
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
    stated = [text(note) for note in items(found.get("notes"))] + _placed(fields(found.get("place")))
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
        "FINN's analytic estimates. The whole design is optimised together, so it can need less than the sum of its parts."
    )


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
    rows = [_row(index, layer) for index, layer in enumerate(layers)]
    sums = [_figures({key: _total(layers, key) for key in RESOURCES}, _estimates(layers))]
    fifos = [fields(fifo) for fifo in items(found.get("fifos"))]
    whole = {key: number(found.get(key)) for key in RESOURCES}
    foot = [tag("tr", tag("td"), tag("th", "All layers", scope="row"), sums, tag("td"))]
    if fifos:
        line = tag("th", "All FIFOs", scope="row")
        held = _figures({key: _total(fifos, key) for key in RESOURCES}, None)
        foot.append(tag("tr", tag("td"), line, held, tag("td")))
    if any(value is not None for value in whole.values()):
        line = tag("th", "Whole design", scope="row")
        foot.append(tag("tr", tag("td"), line, _figures(whole, None), tag("td")))
        if first_text(device, "name") and first_text(device, "source") == "synthesis":
            line = tag("th", f"Of {first_text(device, 'name')}", scope="row")
            foot.append(tag("tr", tag("td"), line, _shares(fields(device.get("resources"))), tag("td")))
    numeric = {0, *range(2, len(columns) + 1)}
    return table("Synthesis of the layers", [*columns, "Time"], rows, numeric, tag("tfoot", foot))


def _row(index: int, layer: Fields) -> Markup:
    values = {key: number(layer.get(key)) for key in RESOURCES}
    estimate = {key: number(fields(layer.get("estimate")).get(key)) for key in _ESTIMATED}
    name, kernel, seconds = (
        first_text(layer, "name"),
        first_text(layer, "kernel"),
        number(layer.get("seconds")),
    )
    return tag(
        "tr",
        cell(index + 1),
        tag("th", name or figures.ABSENT, scope="row", title=kernel or None),
        _figures(values, estimate),
        cell(figures.seconds(seconds), seconds),
    )


def _figures(values: dict[str, float | None], estimate: dict[str, float | None] | None) -> list[Markup]:
    cells = []
    for key, value in values.items():
        cells.append(cell(figures.count(value), value))
        if key in _ESTIMATED:
            other = (estimate or {}).get(key)
            cells.append(tag("td", figures.count(other), class_="number beside", data_order=sort_key(other)))
    return cells


def _shares(resources: Fields) -> list[Markup]:
    """Show how much of the device the whole design takes."""
    cells = []
    for key in RESOURCES:
        share = number(fields(resources.get(key)).get("share"))
        cells.append(cell(figures.ABSENT if share is None else figures.share(share), share))
        if key in _ESTIMATED:
            cells.append(tag("td", figures.ABSENT, class_="number beside"))
    return cells


def _total(layers: Sequence[Fields], key: str) -> float | None:
    known = [value for value in (number(layer.get(key)) for layer in layers) if value is not None]
    return sum(known) if known else None


def _estimates(layers: Sequence[Fields]) -> dict[str, float | None]:
    """Add up estimates; None where a layer has none, because a sum of the others would look like a saving.

    A memory of weights has none of its own: it is in that of its layer.
    """
    found = [fields(layer.get("estimate")) for layer in layers if first_text(layer, "kernel") != MEMORY]
    return {
        key: None if any(number(one.get(key)) is None for one in found) else _total(found, key)
        for key in _ESTIMATED
    }
