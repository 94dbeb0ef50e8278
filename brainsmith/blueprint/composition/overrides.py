"""What is set over a blueprint's files: on the command line (``--set target.fps=1000``), or from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.blueprint.composition.overlays import EXPLORE, ROOT, Overlay
from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import KEYS
from brainsmith.close_names import did_you_mean
from brainsmith.errors import Problem
from brainsmith.yaml_file import root_of
from brainsmith.yaml_nodes import Mark

Overrides = Mapping[str, object] | Sequence[str]
"""Values by the name of a variable or the keys of a blueprint, `target.fps`; or strings, `target.fps=1000`."""


def _overlay(
    doc: Document, name: str, value: Node | Problem | None, place: Mark, known: Sequence[str]
) -> Overlay:
    """Return one override as an overlay.

    Args:
        doc: Where problems are left.
        name: The variable's name, or the keys under ``hw_compiler`` with a dot between them.
        value: The value; None for null; or what is wrong with it.
        place: What stands for its place in messages.
        known: The variables of the blueprint.
    """
    first, *rest = name.split(".")
    if name not in known and first not in (EXPLORE, *KEYS[ROOT]):
        hint = did_you_mean(first, [*known, *KEYS[ROOT], EXPLORE])
        there = f"the variables are {', '.join(known) or '(none)'}, the keys {', '.join(KEYS[ROOT])}"
        text = f"there is no variable or key {first!r}{hint or f': {there}'}"
        doc.problems.append(Problem(place.name, 0, 0, text))
        return Overlay()
    if isinstance(value, Problem):
        doc.problems.append(Problem(place.name, 0, 0, value.text))
        return Overlay()
    node = _placed(value or ScalarNode("tag:yaml.org,2002:null", ""), place)
    if name in known:
        return Overlay(variables={name: (_text(name, place), node)})
    for key in reversed(rest if first == EXPLORE else (first, *rest)):
        node = MappingNode("tag:yaml.org,2002:map", [(_text(key, place), node)], place, place)
    return Overlay(explore=node) if first == EXPLORE else Overlay(body=node)


def overrides_of(doc: Document, overrides: Overrides, known: Sequence[str]) -> Iterable[Overlay]:
    """Yield each override as an overlay, in their order."""
    if isinstance(overrides, Mapping):
        for name, given in overrides.items():
            place = Mark(f"--set {name}={given}", -1, -1)
            yield _overlay(doc, name, _node_of(given), place, known)
        return
    for text in overrides:
        name, equals, written = text.partition("=")
        place = Mark(f"--set {text}", -1, -1)
        value = root_of(place.name, written.encode())
        if not equals:
            value = Problem(
                place.name, 0, 0, f"it has no value: write {name}=VALUE, or {name}=null to take it away"
            )
        yield _overlay(doc, name.strip(), value, place, known)


def _node_of(value: object) -> Node | Problem:
    """Return a Python value as a node, or that it cannot be one."""
    try:
        return yaml.SafeDumper(StringIO()).represent_data(value)
    except yaml.YAMLError:
        text = f"an override is a string, a number, a list or a mapping, not {type(value).__name__}"
        return Problem("", 0, 0, text)


def _text(text: str, place: Mark) -> ScalarNode:
    return ScalarNode("tag:yaml.org,2002:str", text, place, place)


def _placed(node: Node, place: Mark) -> Node:
    """Return a tree of nodes that all are written at one place."""
    value: Any = node.value
    if isinstance(node, SequenceNode):
        value = [_placed(item, place) for item in node.value]
    elif isinstance(node, MappingNode):
        value = [(_placed(key, place), _placed(item, place)) for key, item in node.value]
    if isinstance(node, ScalarNode):
        return ScalarNode(node.tag, value, place, place, node.style)
    return type(node)(node.tag, value, place, place)
