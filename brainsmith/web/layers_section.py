"""The section of the hardware layers: cycles and resources as charts, and everything in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brainsmith import figures
from brainsmith.markup import Markup, tag
from brainsmith.report_fields import text
from brainsmith.web.charts import Bar, bar_chart
from brainsmith.web.design_layers import RESOURCES, DesignFifos, DesignLayer
from brainsmith.web.elements import cell, count_cell, section, sentence, table

_NOTES = {
    "Cycles": "per frame; the layer with the most sets the rate",
    "LUT": "look-up tables",
    "BRAM18": "block RAMs of 18 Kb",
    "DSP": "multipliers",
}
_MEASURES = ("Cycles", *map(str.upper, RESOURCES))
_COLUMNS = ("#", "Layer", "Operator", "Backend", "PE", "SIMD", *_MEASURES, "Other attributes")


def measures(layer: DesignLayer) -> dict[str, float | None]:
    """Give a layer's cycles and resources under their headings."""
    return dict(zip(_MEASURES, (layer.cycles, *layer.resources.values()), strict=True))


def slowest(layers: Sequence[DesignLayer]) -> DesignLayer | None:
    """Give the layer that limits the rate: the first of those with the most cycles."""
    known = [layer for layer in layers if layer.cycles]
    return max(known, key=lambda layer: layer.cycles or 0, default=None)


def layers_section(
    layers: Sequence[DesignLayer],
    interval: float | None,
    places: Mapping[int, str],
    fifos: DesignFifos,
) -> Markup:
    """Show cycles and resources per layer as charts, and all layers in a table.

    Args:
        layers: The layers in the order of the design.
        interval: Cycles from frame to frame of the whole design, if known.
        places: Ids of the layers' nodes in the graph, by the layers' indices.
        fifos: What all FIFOs together take.
    """
    if not layers:
        words = "The report has no hardware layers: the pipeline made none, or the build ended before the estimates."
        return section("layers", "Layers", sentence(words))
    note = _amount(layers) + _bottleneck(layers, interval) + _source(layers)
    return section("layers", "Layers", _charts(layers, fifos), _table(layers, places), note=note)


def _amount(layers: Sequence[DesignLayer]) -> str:
    converters = sum(layer.is_converter for layer in layers)
    are = f", {converters} of them {'a width converter' if converters == 1 else 'width converters'}"
    return figures.plural(len(layers), "hardware layer") + (are if converters else "")


def _bottleneck(layers: Sequence[DesignLayer], interval: float | None) -> str:
    top = slowest(layers)
    if top is None or top.cycles is None:
        return "; none states its cycles."
    also = sum(layer.cycles == top.cycles for layer in layers) - 1
    others = f", as do {also} others" if also > 1 else ", as does one other" if also else ""
    limit = f"; {top.name} sets the rate with {figures.plural(top.cycles, 'cycle')} per frame{others}."
    if interval is not None and interval > top.cycles:
        limit += f" The whole design takes a frame every {figures.plural(interval, 'cycle')}."
    return limit


def _source(layers: Sequence[DesignLayer]) -> str:
    """Say where the resources come from."""
    if not layers[0].synthesised:
        return " Resources are estimates."
    return " Resources were counted by the synthesis, each layer with the memory of its weights; cycles are estimates."


def _charts(layers: Sequence[DesignLayer], fifos: DesignFifos) -> list[Markup]:
    """Draw a chart of each measure that has one; say in a sentence which have none."""
    drawn, unused, unstated = [], [], []
    for heading, note in _NOTES.items():
        values = [measures(layer)[heading] for layer in layers]
        if any(values):
            drawn.append(_chart(layers, values, heading, note, fifos))
        elif all(value is None for value in values):
            unstated.append(heading)
        else:
            unused.append(heading)
    words = [f"No layer uses {heading}." for heading in unused]
    words += [f"No layer states its {heading}." for heading in unstated]
    return [tag("div", drawn, class_="charts"), *([sentence(" ".join(words))] if words else [])]


def _chart(
    layers: Sequence[DesignLayer],
    values: Sequence[float | None],
    heading: str,
    note: str,
    fifos: DesignFifos,
) -> Markup:
    largest = max(value for value in values if value is not None)
    key = heading.lower()
    bars = []
    for layer, value in zip(layers, values, strict=True):
        top = heading == "Cycles" and value == largest
        mark = "bottleneck" if top else _estimate(layer, key)
        bars.append(Bar(layer.name, value, "top" if top else "plain", mark, f"layer-{layer.index}"))
    if key in fifos.used:
        bars.append(Bar("All FIFOs", fifos.used[key], target="synthesis" if fifos.synthesised else ""))
    if key in RESOURCES:
        note += _total(layers, [*values, fifos.used.get(key, 0)], key, fifos.estimates.get(key, 0))
    return bar_chart(f"{heading} per layer", bars, figures.count, note)


def _total(layers: Sequence[DesignLayer], values: Sequence[float | None], key: str, fifos: float) -> str:
    """Add up a resource, and say where the sum leaves a layer out; `fifos` is the estimate of these."""
    least = "at least " if None in values else ""
    total = f"{least}{figures.count(sum(value or 0 for value in values))} in all"
    if not layers[0].synthesised:
        return f", estimated: {total}"
    # A width converter is made after the estimates, so nothing is missing where it has none.
    estimated = [layer.estimates for layer in layers if set(layer.estimates.values()) != {None}]
    guesses = [estimates[key] for estimates in estimated]
    bound = " or more" if None in guesses else ""
    guess = figures.count(fifos + sum(value or 0 for value in guesses))
    return f", synthesised: {total}, each part alone; in brackets the estimate, {guess}{bound}"


def _estimate(layer: DesignLayer, key: str) -> str:
    """Return the estimate that stands beside a synthesised figure."""
    guess = layer.estimates.get(key)
    return f"({figures.count(guess)})" if layer.synthesised and guess is not None else ""


def _table(layers: Sequence[DesignLayer], places: Mapping[int, str]) -> Markup:
    top = slowest(layers)
    most = top.cycles if top else None
    rows = [_row(layer, bool(most) and layer.cycles == most, places.get(layer.index)) for layer in layers]
    sums = [_sum([layer.resources[key] for layer in layers]) for key in RESOURCES]
    label = [tag("td"), tag("th", "All layers", scope="row"), tag("td", colspan=5)]
    foot = tag("tfoot", tag("tr", label, [cell(total) for total in sums], tag("td")))
    return table("Layers", _COLUMNS, rows, {0, *range(4, 12)}, foot)


def _sum(values: Sequence[float | None]) -> str:
    """Add up a column; where a layer has no figure, the sum is a lower bound."""
    return ("≥ " if None in values else "") + figures.count(sum(value or 0 for value in values))


def _row(layer: DesignLayer, top: bool, place: str | None) -> Markup:
    name = tag("a", layer.name, href=f"#{place}") if place else layer.name
    return tag(
        "tr",
        cell(layer.index + 1),
        tag("th", name, tag("span", "bottleneck", class_="tag") if top else None, scope="row"),
        tag("td", layer.op_type or figures.ABSENT),
        tag("td", layer.backend or figures.ABSENT, _why(layer)),
        [cell(text(layer.attributes.get(key)) or figures.ABSENT) for key in ("PE", "SIMD")],
        [count_cell(value) for value in measures(layer).values()],
        tag("td", _others(layer), class_="fine"),
        id=f"layer-{layer.index}",
        class_="top" if top else None,
    )


def _why(layer: DesignLayer) -> Markup | None:
    """Say which plugin the backend is and why, where that is known."""
    if not layer.choice:
        return None
    return tag("details", tag("summary", "why"), tag("p", layer.choice, class_="fine"))


def _others(layer: DesignLayer) -> Markup | str:
    others = {key: value for key, value in layer.attributes.items() if key not in {"PE", "SIMD"}}
    if not others:
        return figures.ABSENT
    return tag("details", tag("summary", figures.plural(len(others), "attribute")), tag("p", text(others)))
