"""Typed access to the nodes of a YAML document; every complaint is collected with its place.

Values are read from the composed nodes, which know their line and column, and never through YAML's object
constructors: a blueprint and the settings hold names, numbers, texts, lists and mappings, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.close_names import did_you_mean
from brainsmith.errors import Problem
from brainsmith.shown import shown

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


class Mark(yaml.Mark):
    """Where a value is written that stands elsewhere.

    Attributes:
        used: Where it is used, to follow what is wrong with it: ``as ${rate} at base.yaml:4:10``.
    """

    def __init__(self, name: str, line: int, column: int, used: str = "") -> None:
        super().__init__(name, 0, line, column, None, 0)
        self.used = used


class YamlDocument:
    """A file being read, perhaps with others that it takes in: turns nodes into values and collects what is wrong."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def place(self, node: Node) -> tuple[str, int, int]:
        """Give the file, line and column of a node, from 1; 0 of what stands in no file."""
        mark = node.start_mark
        return (mark.name, mark.line + 1, mark.column + 1) if mark else (self.file, 0, 0)

    def report(self, node: Node, text: str) -> None:
        """Collect a problem at a node."""
        used = getattr(node.start_mark, "used", "")
        self.problems.append(Problem(*self.place(node), f"{text} ({used})" if used else text))

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
                self.report(key, f"{label} has a merge key (<<), unknown here: write the keys out")
            elif not is_text(key):
                self.report(key, f"a key in {label} must be a string, not {describe(key)}")
            elif not key.value:
                self.report(key, f"a key in {label} is empty")
            elif key.value in pairs:
                file, line, column = self.place(pairs[key.value][0])
                first = f"first at {file}:{line}:{column}"
                self.report(key, f"key {key.value!r} in {label} is given twice: {first}")
            else:
                pairs[key.value] = (key, value)
        return pairs

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
