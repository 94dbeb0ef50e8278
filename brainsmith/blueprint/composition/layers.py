"""The files of a blueprint: those that it extends first, each once, and what the command line sets last."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import KEYS
from brainsmith.close_names import did_you_mean
from brainsmith.errors import Problem
from brainsmith.store.fingerprint import digest
from brainsmith.yaml_file import read_document, root_of
from brainsmith.yaml_nodes import Mark, describe, is_null

MOST_FILES = 100
_ROOT = "hw_compiler"

Overrides = Mapping[str, object] | Sequence[str]
"""Values by the name of a variable or the keys of a blueprint, `target.fps`; or texts, `target.fps=1000`."""


@dataclass(slots=True)
class Layer:
    """What one file says, or one override.

    Attributes:
        root: The whole document, where it lacks the key ``hw_compiler``.
        variables: Key and value by name.
        body: What stands under ``hw_compiler``; None if nothing usable does.
    """

    root: Node | None = None
    variables: dict[str, tuple[Node, Node]] = field(default_factory=dict)
    body: Node | None = None


class LayerReader:
    """Reads files and what they extend; what is wrong with them is left in the document's problems.

    Attributes:
        sources: Digest of each file that was read, by absolute name.
        extended: Whether one of them extends another.
    """

    def __init__(self, doc: Document) -> None:
        self.sources: dict[str, str] = {}
        self.extended = False
        self._doc = doc

    def layers(self, paths: Iterable[str]) -> list[Layer]:
        """Return the layers of files, in the order in which later ones go before earlier ones."""
        found: list[Layer] = []
        for path in paths:
            if _identity(path) not in self.sources:
                found += self._read(path, ())
        return found

    def _read(self, path: str, below: tuple[str, ...], at: Node | None = None) -> list[Layer]:
        """Read a file and what it extends.

        Args:
            path: As messages name it.
            below: The files that led to it, the blueprint's own first.
            at: Where it is named; None of the blueprint's own.
        """
        root = self._root(path)
        if isinstance(root, Problem):
            if at is None or root.line:
                self._doc.problems.append(root)
            else:
                self._doc.report(at, f"extends: {root}")
            return []
        if not isinstance(root, MappingNode):
            text = f"a blueprint must be a mapping with the key {_ROOT}, not {describe(root)}"
            self._doc.report(root, text)
            return []
        pairs = self._doc.pairs(root, "the file")
        self._refuse_unknown(pairs)
        found = []
        if "extends" in pairs:
            self.extended = True
            for node, other in self._extended(path, pairs["extends"][1]):
                found += self._extend(other, (*below, path), node)
        found.append(Layer(None if _ROOT in pairs else root, self._variables(pairs), self._body(pairs)))
        return found

    def _extend(self, path: str, below: tuple[str, ...], at: Node) -> list[Layer]:
        """Read a file that another one extends, unless it was read already."""
        real = _identity(path)
        if real in map(_identity, below):
            self._doc.report(at, f"extends goes in a circle: {' -> '.join((*below, path))}")
        elif len(self.sources) >= MOST_FILES:
            self._doc.report(at, f"the blueprint extends more than {MOST_FILES} files")
        elif real not in self.sources:
            return self._read(path, below, at)
        return []

    def _root(self, path: str) -> Node | Problem:
        """Read a document, and note its content."""
        data = read_document(path, "a blueprint")
        if isinstance(data, Problem):
            return data
        self.sources[_identity(path)] = digest(data)
        empty = Problem(path, 1, 1, f"the file is empty; a blueprint is a mapping with the key {_ROOT}")
        return root_of(path, data) or empty

    def _refuse_unknown(self, pairs: Mapping[str, tuple[Node, Node]]) -> None:
        for key, (node, _) in pairs.items():
            if key not in KEYS[""]:
                hint = did_you_mean(key, KEYS[""]) or "."
                if key in KEYS[_ROOT]:
                    hint = f". It belongs under {_ROOT}."
                self._doc.report(node, f"unknown key {key!r} beside {_ROOT}{hint}")

    def _extended(self, path: str, node: Node) -> Iterable[tuple[Node, str]]:
        """Yield where each file is named that this one extends, and its name beside this file's folder."""
        items = node.value if isinstance(node, SequenceNode) else [node]
        for item in items:
            text = self._doc.text(item, "extends", "the path of a blueprint, or a list of them")
            if text and "${" in text:
                self._doc.report(item, "extends takes no variables: they are known when all files were read")
            elif text:
                yield item, os.path.normpath(Path(path).parent / Path(text).expanduser())

    def _variables(self, pairs: Mapping[str, tuple[Node, Node]]) -> dict[str, tuple[Node, Node]]:
        found = self._doc.pairs(pairs["variables"][1], "variables") if "variables" in pairs else {}
        for name, (key, _) in found.items():
            if not name.isidentifier():
                text = f"a variable must be named by letters, digits and _, not {name!r}"
                self._doc.report(key, text)
        return found

    def _body(self, pairs: Mapping[str, tuple[Node, Node]]) -> Node | None:
        if _ROOT not in pairs:
            return None
        body = pairs[_ROOT][1]
        if not isinstance(body, MappingNode):
            self._doc.report(body, f"{_ROOT} must be a mapping, not {describe(body)}")
            return None
        self._doc.pairs(body, _ROOT)  # says what is given twice
        return body


def _identity(path: str) -> str:
    """Return the one name of a file that may be named in several ways."""
    try:
        return os.path.realpath(path)
    except ValueError:  # no file has such a name, which reading it says
        return path


def override_layer(
    doc: Document, name: str, value: Node | Problem | None, place: Mark, known: Sequence[str]
) -> Layer:
    """Return the layer of one override.

    Args:
        doc: Where problems are left.
        name: The variable's name, or the keys under ``hw_compiler`` with a dot between them.
        value: The value; None for null; or why it is none.
        place: What stands for its place in messages.
        known: The variables that there are.
    """
    first, *rest = name.split(".")
    if name not in known and first not in KEYS[_ROOT]:
        hint = did_you_mean(first, [*known, *KEYS[_ROOT]])
        there = (
            f"variables are {', '.join(known) or 'none'}; the keys of a blueprint {', '.join(KEYS[_ROOT])}"
        )
        text = f"there is no variable or key {first!r}{hint or f': {there}'}"
        doc.problems.append(Problem(place.name, 0, 0, text))
        return Layer()
    if isinstance(value, Problem):
        doc.problems.append(Problem(place.name, 0, 0, value.text))
        return Layer()
    node = placed(value or ScalarNode("tag:yaml.org,2002:null", ""), place)
    if name in known:
        return Layer(variables={name: (_text(name, place), node)})
    for key in reversed((first, *rest)):
        node = MappingNode("tag:yaml.org,2002:map", [(_text(key, place), node)], place, place)
    return Layer(body=node)


def override_layers(doc: Document, overrides: Overrides, known: Sequence[str]) -> Iterable[Layer]:
    """Yield a layer for each override, in their order."""
    if isinstance(overrides, Mapping):
        for name, given in overrides.items():
            place = Mark(f"--set {name}={given}", -1, -1)
            yield override_layer(doc, name, _node_of(given), place, known)
        return
    for text in overrides:
        name, equals, written = text.partition("=")
        place = Mark(f"--set {text}", -1, -1)
        value = root_of(place.name, written.encode())
        if not equals:
            value = Problem(
                place.name, 0, 0, f"it has no value: write {name}=VALUE, or {name}=~ to take it away"
            )
        yield override_layer(doc, name.strip(), value, place, known)


def _node_of(value: object) -> Node | Problem:
    """Return a Python value as a node, or that it cannot be one."""
    try:
        return yaml.SafeDumper(StringIO()).represent_data(value)
    except yaml.YAMLError:
        text = f"an override is a text, a number, a list or a mapping, not {type(value).__name__}"
        return Problem("", 0, 0, text)


def _text(text: str, place: Mark) -> ScalarNode:
    return ScalarNode("tag:yaml.org,2002:str", text, place, place)


def placed(node: Node, place: Mark) -> Node:
    """Return a tree of nodes that all are written at one place."""
    value: Any = node.value
    if isinstance(node, SequenceNode):
        value = [placed(item, place) for item in node.value]
    elif isinstance(node, MappingNode):
        value = [(placed(key, place), placed(item, place)) for key, item in node.value]
    if isinstance(node, ScalarNode):
        return ScalarNode(node.tag, value, place, place, node.style)
    return type(node)(node.tag, value, place, place)


def merged(base: Node | None, over: Node, keys: tuple[str, ...] = ()) -> Node:
    """Return a value with another one over it: mappings key by key, all else in place of what was there.

    Args:
        base: What was there; None for nothing.
        over: What is laid over it. In it, null takes a key away; not in arguments of steps, where it is a value.
        keys: Those that lead to it, from ``hw_compiler`` on.
    """
    if not isinstance(base, MappingNode) or not isinstance(over, MappingNode) or keys == ("kernels",):
        return over
    below = list(base.value)
    if not keys and any(key.value == "steps" for key, _ in over.value):
        below = [pair for pair in below if pair[0].value != "change_steps"]
    pairs, left = [], list(over.value)
    for key, value in below:
        given = [pair for pair in left if _same(pair[0], key)]
        left = [pair for pair in left if pair not in given]
        if not given:
            pairs.append((key, value))
        pairs += [(new, _over(value, item, (*keys, str(key.value)))) for new, item in given]
    values = len(keys) > 1 and keys[0] == "args"
    kept = [(key, value) for key, value in (*pairs, *left) if values or not is_null(value)]
    return MappingNode(over.tag, kept, over.start_mark, over.end_mark, over.flow_style)


def _over(base: Node, over: Node, keys: tuple[str, ...]) -> Node:
    if keys == ("change_steps",) and isinstance(base, SequenceNode) and isinstance(over, SequenceNode):
        return SequenceNode(over.tag, [*base.value, *over.value], over.start_mark, over.end_mark)
    return merged(base, over, keys)


def _same(key: Node, other: Node) -> bool:
    return isinstance(key, ScalarNode) and isinstance(other, ScalarNode) and key.value == other.value
