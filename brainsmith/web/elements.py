"""The page's building blocks: sections, sentences, tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from brainsmith import figures
from brainsmith.markup import Child, Markup, escape, tag

# What messages put between backticks, and options: a line may not end within an option.
_CODE = re.compile(r"`([^`\n]+)`|(?<![\w-])(--[a-z][a-z-]*)")

# The style sheet shows it on narrow screens, the script wherever the table is wider than its frame.
_HINT = "Scroll sideways to see all columns."


def section(key: str, title: str, *children: Child, note: str = "") -> Markup:
    """Frame a section with its heading; `key` is the anchor that the page's contents lead to."""
    heading = tag("h2", title, id=f"{key}-title")
    lead = tag("p", note, class_="lead") if note else None
    return tag("section", heading, lead, children, id=key, aria_labelledby=f"{key}-title")


def sentence(words: str) -> Markup:
    """Say that something is absent, and why."""
    return tag("p", words, class_="absent")


def message(text: str) -> Markup:
    """Write a message as it stands on a terminal, with its code set as code."""
    return Markup(_CODE.sub(_set_as_code, escape(text)))


def _set_as_code(found: re.Match[str]) -> Markup:
    quoted, option = found.groups()
    return tag("code", Markup(quoted)) if quoted else tag("code", Markup(option), class_="option")


def scrolling(what: str, content: Child, style: str, **attributes: str) -> Markup:
    """Frame what may be larger than its place; the frame takes the focus so that keys can scroll it."""
    label = f"{what} (scrolls)"
    frame = {"class_": f"scroll {style}", "role": "region", "aria_label": label}
    return tag("div", content, tabindex=0, **frame, **attributes)


def graph_frame(title: str, words: str, canvas: Child, *more: Child, tools: str = "") -> Markup:
    """Frame a large drawing below its title; `tools` is the key by which the script finds where its buttons go."""
    caption = tag("figcaption", tag("h3", title), tag("p", words))
    buttons = tag("div", class_="tools", data_tools=tools, hidden=True) if tools else None
    return tag("figure", tag("div", caption, buttons, class_="head"), canvas, more, class_="graph-frame")


def cell(value: str | int, order: float | None = None) -> Markup:
    """Write a cell of a column of numbers; `order` is what sorting compares instead of the text."""
    return tag("td", value, class_="number", data_order=sort_key(order))


def count_cell(value: float | None) -> Markup:
    """Write a count of a column of numbers."""
    return cell(figures.count(value), value)


def sort_key(value: float | None) -> str | None:
    """Write a number that a column is sorted by; an attribute that is a float would keep two decimals only."""
    return None if value is None else f"{value:.9g}"


def table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Markup],
    numeric: range | set[int],
    foot: Markup | None = None,
) -> Markup:
    """Write a table in a scrolling frame; `numeric` are the indices of the columns of numbers."""
    heads = [
        tag("th", name, scope="col", class_="number" if index in numeric else None)
        for index, name in enumerate(columns)
    ]
    caption = tag("caption", title, class_="unseen")
    body = tag("table", caption, tag("thead", tag("tr", heads)), tag("tbody", rows), foot, class_="data")
    return scrolling(f"{title}, table", [tag("p", _HINT, class_="hint"), body], "wide")
