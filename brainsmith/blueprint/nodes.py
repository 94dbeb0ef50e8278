"""Typed access to the nodes of a YAML document; every complaint is collected with its place.

Values are read from the composed nodes, which know their line and column, and never through YAML's object
constructors: a blueprint holds names, numbers, texts, lists and mappings, nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.blueprint.names import parse_name
from brainsmith.blueprint.schema import Arguments, PluginName, Position
from brainsmith.close_names import did_you_mean
from brainsmith.errors import Problem
from brainsmith.plugin.shown import shown

_TAG = "tag:yaml.org,2002:"
#: Tags whose scalars are texts here: a date, ``=`` and ``<<`` mean nothing special in a blueprint.
_TEXT_TAGS = (_TAG + "str", _TAG + "timestamp", _TAG + "value", _TAG + "merge")
#: YAML 1.1 reads ``1e-6`` as a text, because it has no dot; people mean a number.
_EXPONENT = re.compile(r"[-+]?(\d+(?:\.\d*)?|\.\d+)[eE][-+]?\d+")
_constructor = yaml.constructor.SafeConstructor()

Pairs = dict[str, tuple[Node, Node]]


def is_null(node: Node) -> bool:
    """Tell whether a node is ``~``, ``null`` or empty."""
    return isinstance(node, ScalarNode) and node.tag == _TAG + "null"


def is_text(node: Node) -> bool:
    """Tell whether a node is a text."""
    try:
        return isinstance(node, ScalarNode) and isinstance(scalar(node), str)
    except ValueError:
        return False


def scalar(node: ScalarNode) -> object:
    """Give the plain value of a scalar.

    Raises:
        ValueError: The text does not fit its tag, or the tag is not one of YAML's plain ones.
    """
    if node.tag in _TEXT_TAGS:
        if node.style is None and _EXPONENT.fullmatch(node.value):
            return float(node.value)
        return node.value
    if ":" in node.value:
        return node.value  # YAML 1.1 would read 1:30 as 90
    kind = node.tag.removeprefix(_TAG)
    if kind not in ("int", "float", "bool", "null"):
        written = f"{node.tag.replace(_TAG, '!!')} {node.value}"
        raise ValueError(f"{written}, whose YAML tag has no meaning here")
    try:
        return getattr(_constructor, f"construct_yaml_{kind}")(node)
    except (ValueError, KeyError, OverflowError, IndexError):
        raise ValueError(f"{shown(node.value)} is not a YAML {kind}") from None


def describe(node: Node) -> str:
    """Say what a node is, for the end of "X must be Y, not ..."."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if not isinstance(node, ScalarNode):
        return "a list"
    if is_null(node):
        return "null" if node.value else "empty"
    try:
        return shown(scalar(node))
    except ValueError as error:
        return str(error)


class Document:
    """One file being read: turns nodes into values and collects what is wrong with them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.blanks: list[Position] = []

    def position(self, node: Node) -> Position:
        """Give the place of a node, from 1."""
        return Position(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def report(self, node: Node, text: str) -> None:
        """Collect a problem at a node."""
        self.problems.append(self.position(node).problem(text))

    def mapping(self, node: Node, label: str, keys: Sequence[str]) -> Pairs:
        """Read a mapping with known keys; null is an empty one."""
        pairs = self.pairs(node, label)
        for key in [key for key in pairs if key not in keys]:
            hint = did_you_mean(key, keys) or f". It takes {', '.join(keys)}."
            self.report(pairs.pop(key)[0], f"unknown key {key!r} in {label}{hint}")
        return pairs

    def pairs(self, node: Node, label: str) -> Pairs:
        """Read a mapping whose keys are texts, each given once; null is an empty one."""
        if is_null(node):
            return {}
        if not isinstance(node, MappingNode):
            self.report(node, f"{label} must be a mapping, not {describe(node)}")
            return {}
        pairs: Pairs = {}
        for key, value in node.value:
            if key.tag == _TAG + "merge":
                self.report(key, f"{label} has a merge key (<<), unknown to blueprints: write the keys out")
            elif not is_text(key) or not key.value:
                self.report(key, f"a key in {label} must be a text, not {describe(key)}")
            elif key.value in pairs:
                first = self.position(pairs[key.value][0])
                self.report(key, f"key {key.value!r} in {label} is given twice: first at {first}")
            else:
                pairs[key.value] = (key, value)
        return pairs

    def items(self, node: Node, label: str) -> list[tuple[str, Node]]:
        """Read a list as (label, node); null is an empty list and a bare ``~`` in it an empty place."""
        if is_null(node):
            return []
        if not isinstance(node, SequenceNode):
            self.report(node, f"{label} must be a list, not {describe(node)}")
            return []
        items = [(f"{label}[{index}]", item) for index, item in enumerate(node.value)]
        return [(name, item) for name, item in items if not self._is_blank(name, item)]

    def _is_blank(self, label: str, node: Node) -> bool:
        """Note a bare ``~``; complain about an entry with nothing in it, which is rather a name forgotten."""
        if is_null(node) and not node.value:
            self.report(node, f"{label} is empty: write a name, or ~ for an entry that does nothing")
            return True
        blank = is_null(node) or (isinstance(node, ScalarNode) and node.value.strip() == "~")
        if blank:
            self.blanks.append(self.position(node))
        return blank

    def name(self, node: Node, label: str) -> PluginName | None:
        """Read a plugin's name: ``Name``, ``framework:Name``, each with ``~`` before it if optional."""
        name = parse_name(node.value, self.position(node)) if is_text(node) else None
        if name is None:
            form = "a name (Streamline, finn:Streamline, or ~Streamline if it is optional)"
            self.report(node, f"{label} must be {form}, not {describe(node)}")
        return name

    def text(self, node: Node, label: str, what: str) -> str | None:
        """Read a text that is not empty; `what` says in an error what it should be."""
        if is_text(node) and node.value.strip():
            return str(node.value).strip()
        self.report(node, f"{label} must be {what}, not {describe(node)}")
        return None

    def number(self, node: Node) -> float | None:
        """Give a finite number, or None where the node is something else, such as a boolean."""
        try:
            value = scalar(node) if isinstance(node, ScalarNode) else None
        except ValueError:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        try:
            return value if math.isfinite(value) else None
        except OverflowError:  # a whole number beyond the range of floats
            return None

    def number_in(
        self, node: Node, label: str, what: str, least: float, most: float = math.inf, whole: bool = False
    ) -> float | None:
        """Read a number from `least` to `most`; `what` says in an error what it should be."""
        number = self.number(node)
        if number is not None and least <= number <= most and not (whole and number != int(number)):
            return number
        self.report(node, f"{label} must be {what}, not {describe(node)}")
        return None

    def plain(self, node: Node, label: str) -> object:
        """Give a node as None, bool, int, float, str, list or dict."""
        if isinstance(node, SequenceNode):
            return [self.plain(item, f"{label}[{index}]") for index, item in enumerate(node.value)]
        if isinstance(node, MappingNode):
            pairs = self.pairs(node, label)
            return {key: self.plain(value, f"{label}.{key}") for key, (_, value) in pairs.items()}
        if isinstance(node, ScalarNode):
            try:
                return scalar(node)
            except ValueError as error:
                self.report(node, f"{label} must be a plain value, not {error}")
        return None

    def arguments(self, node: Node, label: str) -> Arguments:
        """Read ``args``: plain values by argument name."""
        if isinstance(node, SequenceNode) or (isinstance(node, ScalarNode) and not is_null(node)):
            self.report(node, f"{label} must be a mapping from names to values, not {describe(node)}")
            return Arguments()
        pairs = self.pairs(node, label)
        return Arguments(
            {key: self.plain(value, f"{label}.{key}") for key, (_, value) in pairs.items()},
            {key: self.position(key_node) for key, (key_node, _) in pairs.items()},
        )
