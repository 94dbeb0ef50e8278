"""The three forms of a value that is left open: ``choice``, ``range`` and ``optional``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import SPACE_FORMS
from brainsmith.yaml_nodes import describe

MOST_OF_A_RANGE = 100_000
_STRING, _WHOLE, _REAL = (f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float"))
_TWO, _THREE = 2, 3
_BESIDE = ("name", "labels")


def space_form(node: Node) -> str:
    """Return which form a choice has, ``choice``, ``range`` or ``optional``; empty for what is no choice."""
    if not isinstance(node, MappingNode):
        return ""
    keys = [key.value for key, _ in node.value]
    forms = [key for key in keys if key in SPACE_FORMS]
    known = len(forms) == 1 and set(keys) <= {forms[0], *_BESIDE} and len(keys) == len(set(keys))
    return forms[0] if known else ""


def has_choices(node: Node) -> bool:
    """Tell whether a tree leaves anything open."""
    if space_form(node):
        return True
    if isinstance(node, MappingNode):
        return any(has_choices(value) for _, value in node.value)
    return isinstance(node, SequenceNode) and any(map(has_choices, node.value))


class _Numbers(Sequence[Node]):
    """The numbers of a range, each made when it is looked at: points are made one at a time, of ranges that may be long."""

    def __init__(self, node: Node, first: float, step: float, count: int) -> None:
        self._node, self._first, self._step, self._count = node, first, step, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Node: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Node]: ...
    def __getitem__(self, at: int | slice) -> Node | Sequence[Node]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(self._count))]
        if not 0 <= at < self._count:
            raise IndexError(at)
        return _number_at(self._node, self._first + at * self._step)


def alternatives_of(doc: Document, node: Node) -> Sequence[Node] | None:
    """Return what may be chosen, of what is optional the one thing; None if the form is wrong, which is reported."""
    form = space_form(node)
    value: Node = next(value for key, value in node.value if key.value == form)
    if form == "optional":
        return [value]
    if form == "range":
        return _numbers(doc, value)
    if not isinstance(value, SequenceNode) or not value.value:
        found = "an empty one" if isinstance(value, SequenceNode) else describe(value)
        doc.report(value, f"choice must be a list of alternatives, not {found}")
        return None
    return list(value.value)


def _numbers(doc: Document, node: Node) -> Sequence[Node] | None:
    """Return the numbers of ``range: [first, last]`` or ``[first, last, step]``, the last included."""
    items = node.value if isinstance(node, SequenceNode) else []
    numbers = [doc.number(item) for item in items]
    if len(numbers) not in (_TWO, _THREE) or any(each is None for each in numbers):
        what = "a list of the first number, the last and, unless it is 1, the step"
        doc.report(node, f"range must be {what}, not {describe(node)}")
        return None
    first, last, *more = [each for each in numbers if each is not None]
    step = more[0] if more else 1
    count = int((last - first) / step + 1e-9) + 1 if step and (last - first) / step > -1 else 0
    if not 1 <= count <= MOST_OF_A_RANGE:
        doc.report(node, f"range has {count:,} numbers: it must have 1 to {MOST_OF_A_RANGE:,}")
        return None
    return _Numbers(node, first, step, count)


def _number_at(node: Node, number: float) -> Node:
    number = float(f"{number:.12g}")  # 0.1 + 0.2 is 0.3 to whoever writes a range
    whole = number == int(number)
    text = str(int(number)) if whole else repr(number)
    return ScalarNode(_WHOLE if whole else _REAL, text, node.start_mark, node.end_mark)


def choice_of(node: Node, alternatives: Sequence[Node], labels: Sequence[Node]) -> Node:
    """Return a choice of alternatives with their labels, at the place of a node."""
    start, end = node.start_mark, node.end_mark
    pairs: list[tuple[Node, Node]] = [
        (ScalarNode(_STRING, key, start, end), SequenceNode("tag:yaml.org,2002:seq", list(items), start, end))
        for key, items in (("choice", alternatives), ("labels", labels))
    ]
    return MappingNode("tag:yaml.org,2002:map", pairs, start, end)


def named(node: Node, name: str) -> Node:
    """Return a choice with a name, unless it has one; any other value as it is."""
    if not space_form(node) or any(key.value == "name" for key, _ in node.value):
        return node
    start, end = node.start_mark, node.end_mark
    pair = (ScalarNode(_STRING, "name", start, end), ScalarNode(_STRING, name, start, end))
    return MappingNode(node.tag, [*node.value, pair], start, end)
