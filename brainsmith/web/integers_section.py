"""The section of the integers: of each tensor its range, its scale and what it came from, and the host's part."""

from __future__ import annotations

from collections.abc import Sequence

from brainsmith import figures
from brainsmith.figures import number
from brainsmith.markup import Markup, tag
from brainsmith.report_fields import Fields, fields, first_text, items, text
from brainsmith.web.elements import cell, section, sentence, table

_COLUMNS = (
    "Tensor",
    "From",
    "Operator",
    "Shape",
    "Least",
    "Greatest",
    "Datatype",
    "Scale",
    "Zero point",
    "Then",
)
_NUMBERS = {4, 5, 8}
_NONE = "The report has no integers of tensors: the step integer did not run, or the build ended earlier."
_NOTE = (
    "A value of the network is scale × (integer − zero point). Then: operators that are evaluated with the next quantiser, "
    "whose thresholds they are part of."
)


def integers_section(integers: object) -> Markup:
    """Show which integers each tensor is made of, and what the host does at the network's ends.

    Args:
        integers: The report's `integers`.
    """
    found = fields(integers)
    rows = [_row(fields(one)) for one in items(found.get("tensors"))]
    if not rows:
        return section("integers", "Integers", sentence(_NONE))
    said = [f"The host {text(one)}." for one in items(found.get("host"))]
    ends = tag("ul", [tag("li", one) for one in said]) if said else None
    shown = table("Integers of each tensor", _COLUMNS, rows, numeric=_NUMBERS)
    return section("integers", "Integers", ends, shown, note=_NOTE)


def _row(one: Fields) -> Markup:
    low, high, zero = (number(one.get(key)) for key in ("low", "high", "zero_point"))
    then = ", ".join(map(text, items(one.get("pending"))))
    return tag(
        "tr",
        tag("th", first_text(one, "tensor"), scope="row"),
        tag("td", first_text(one, "origin") or figures.ABSENT),
        tag("td", first_text(one, "operator") or figures.ABSENT),
        tag("td", text(one.get("shape")) or figures.ABSENT),
        cell(figures.count(low), low),
        cell(figures.count(high), high),
        tag("td", first_text(one, "datatype") or figures.ABSENT),
        tag("td", _values([value for value in map(number, items(one.get("scale"))) if value is not None])),
        cell(_zero(one), zero),
        tag("td", then or figures.ABSENT),
    )


def _zero(one: Fields) -> str:
    """Write the zero point; where it is no one whole number, what is added to the scaled integers."""
    if (zero := number(one.get("zero_point"))) is not None:
        return figures.count(zero)
    offsets = [value for value in map(number, items(one.get("offset"))) if value is not None]
    return f"offset {_values(offsets)}" if offsets else figures.ABSENT


def _values(values: Sequence[float]) -> str:
    """Write one value, or between which those of the channels lie."""
    if not values:
        return figures.ABSENT
    if len(values) == 1:
        return f"{values[0]:.6g}"
    return f"{min(values):.6g} to {max(values):.6g} ({figures.plural(len(values), 'channel')})"
