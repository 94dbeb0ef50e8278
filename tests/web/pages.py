"""What reports are made of, and what a page is made of once it is parsed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

VOID = {"meta", "link", "input", "img", "br", "hr", "col"}


class Page(HTMLParser):
    """A parsed page; parsing fails where an element is not closed in its place."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.problems: list[str] = []
        self.feed(document)
        self.close()
        self.problems += [f"<{name}> is never closed" for name in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"<{tag}> has an attribute twice: {names}")
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.problems.append(f"<{tag}/> is closed where it opens")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes <{self.open[-1] if self.open else 'nothing'}>")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in {"script", "style"}:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        found = [attributes for name, attributes in self.elements if name == tag]
        return [a for a in found if all(a.get(key) == value for key, value in wanted.items())]


LAYERS = [
    ("Thresholding_rtl_0", "Thresholding_rtl", "rtl", 49, None, 16, 1200, 2, 0),
    ("MVAU_rtl_0", "MVAU_rtl", "rtl", 16, 32, 784, 5230, 11, 16),
    ("Thresholding_rtl_1", "Thresholding_rtl", "rtl", 16, None, 64, 310, 0, 0),
    ("MVAU_hls_0", "MVAU_hls", "hls", 2, 4, 320, 640, 1, 2),
]
STEPS = [
    ("cleanup", 0.42, True),
    ("streamline", 2.71, False),
    ("specialize", 3.2, False),
    ("estimate", 0.06, False),
]


def layer(name: str, op: str, backend: str, pe: int, simd: int | None, *figures: int) -> dict[str, Any]:
    attributes = {"PE": pe, "weightDataType": "INT4"} | ({} if simd is None else {"SIMD": simd})
    values = dict(zip(("cycles", "lut", "bram18", "dsp"), figures, strict=True))
    return {"name": name, "op_type": op, "backend": backend, **values, "uram": 0, "attributes": attributes}


def graph(*nodes: tuple[str, str]) -> dict[str, Any]:
    """A chain from an input through nodes (name, operator) to an output."""
    chain = [("in", "Input"), *nodes, ("out", "Output")]
    ends = [f"n{index}" for index in range(len(chain))]
    return {
        "nodes": [
            {"id": end, "name": name, "op_type": op, "shape": [1, 64], "datatype": "INT4"}
            for end, (name, op) in zip(ends, chain, strict=True)
        ],
        "edges": [[a, b, f"tensor_{b}", [1, 64], "INT4"] for a, b in pairwise(ends)],
    }


def spoiled(report: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Yield a report with a value of another kind in place of one field at a time, and where that is."""
    for place in _places(report, ()):
        for value in (None, 5, "text", float("nan"), True, [], [1], [[{}]], {}, {"a": 1}, 10**400):
            spoilt: Any = copy.deepcopy(report)
            inner = spoilt
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
            yield place, spoilt


def _places(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    keys = (
        list(value)
        if isinstance(value, dict)
        else range(min(len(value), 1))
        if isinstance(value, list)
        else ()
    )
    for key in keys:
        yield (*place, key)
        yield from _places(value[key], (*place, key))
