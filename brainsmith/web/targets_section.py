"""The section of the targets: whether the model gives the same on each."""

from __future__ import annotations

from brainsmith import figures
from brainsmith.figures import number
from brainsmith.markup import Markup, tag
from brainsmith.report_fields import Fields, fields, first_text, items, text
from brainsmith.web.elements import cell, section, sentence, table

_COLUMNS = ("Target", "Result", "Outputs", "Inside", "Worst error", "First difference")
_NONE = (
    "The model was not compared on targets: nothing was verified, the blueprint asks for no comparison, or the build ended "
    "earlier."
)


def targets_section(targets: object) -> Markup:
    """Show what each target gave beside the first one.

    Args:
        targets: The report's `targets`.
    """
    found = fields(targets)
    results = [fields(one) for one in items(found.get("results"))]
    if not results:
        reason = first_text(found, "reason")
        words = f"The model was not compared on targets: {reason}" if reason else _NONE
        return section("targets", "Targets", sentence(words))
    rows = [_row(one) for one in results]
    return section(
        "targets", "Targets", table("Targets", _COLUMNS, rows, numeric={2, 3, 4}), note=_note(found)
    )


def _note(found: Fields) -> str:
    after = first_text(found, "after")
    what = f"What step {after} made of the model" if after else "The input model"
    share = figures.small(number(found.get("tolerance")))
    return (
        f"{what} on {figures.plural(number(found.get('samples')) or 0, 'sample')}, each target beside "
        f"{first_text(found, 'with')}: whole numbers must be equal, others may differ by {share} of the largest value. "
        "Inside: how many tensors within the model were compared, too; of a circuit, those between its layers."
    )


def _row(one: Fields) -> Markup:
    kind, words = _outcome(one)
    remarks = [first_text(one, "rounding"), *map(text, items(one.get("notes")))]
    notes = [tag("li", note) for note in remarks if note]
    state = tag("span", words, class_=f"state {kind}")
    place = fields(one.get("first"))
    where = first_text(one, "told") if place else figures.ABSENT
    return tag(
        "tr",
        tag("th", first_text(one, "target"), scope="row"),
        tag("td", state, tag("ul", notes, class_="fine") if notes else None),
        cell(figures.count(number(one.get("outputs"))), number(one.get("outputs"))),
        cell(figures.count(number(one.get("inside"))), number(one.get("inside"))),
        cell(_worst(one), number(one.get("worst"))),
        tag("td", tag("ul", tag("li", where), class_="fine")),
    )


def _outcome(one: Fields) -> tuple[str, str]:
    if reason := first_text(one, "reason"):
        return "open", f"not compared: {reason}"
    if not one.get("agrees"):
        return "bad", "differs"
    return "good", "equal" if number(one.get("worst")) == 0 else "equal within the tolerance"


def _worst(one: Fields) -> str:
    """Write the worst error; one that is no number in the report is infinite."""
    if first_text(one, "reason"):
        return figures.ABSENT
    worst = number(one.get("worst"))
    return "not a number" if worst is None else figures.small(worst)
