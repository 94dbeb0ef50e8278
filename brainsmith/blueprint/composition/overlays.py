"""The files of a blueprint: those that it extends first, and each once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from yaml.nodes import MappingNode, Node, SequenceNode

from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import KEYS
from brainsmith.close_names import did_you_mean
from brainsmith.errors import Problem
from brainsmith.store.fingerprint import digest
from brainsmith.yaml_file import read_document, root_of
from brainsmith.yaml_nodes import describe

MOST_FILES = 100
ROOT = "hw_compiler"
"""The key under which everything stands that a build takes."""
EXPLORE = "explore"
"""The key under which that stands which an exploration takes beside it."""


@dataclass(slots=True)
class Overlay:
    """What one file says, or one override.

    Attributes:
        root: The whole document, where it lacks the key ``hw_compiler``.
        variables: Key and value by name.
        body: What stands under ``hw_compiler``; None if nothing usable does.
        explore: What stands under ``explore``, likewise.
    """

    root: Node | None = None
    variables: dict[str, tuple[Node, Node]] = field(default_factory=dict)
    body: Node | None = None
    explore: Node | None = None


class OverlayReader:
    """Reads files and what they extend; what is wrong with them is left in the document's problems.

    Attributes:
        sources: Digest of each file that was read, by absolute name.
        extended: Whether one of them extends another.
    """

    def __init__(self, doc: Document) -> None:
        self.sources: dict[str, str] = {}
        self.extended = False
        self._doc = doc

    def overlays(self, paths: Iterable[str]) -> list[Overlay]:
        """Return the overlays of files: each is laid over those before it."""
        found: list[Overlay] = []
        for path in paths:
            if _identity(path) not in self.sources:
                found += self._read(path, ())
        return found

    def _read(self, path: str, below: tuple[str, ...], at: Node | None = None) -> list[Overlay]:
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
            text = f"a blueprint must be a mapping with the key {ROOT}, not {describe(root)}"
            self._doc.report(root, text)
            return []
        pairs = self._doc.pairs(root, "the file")
        self._refuse_unknown(pairs)
        found = []
        if "extends" in pairs:
            self.extended = True
            for node, other in self._extended(path, pairs["extends"][1]):
                found += self._extend(other, (*below, path), node)
        variables, body, explore = (
            self._variables(pairs),
            self._mapping(pairs, ROOT),
            self._mapping(pairs, EXPLORE),
        )
        found.append(Overlay(None if ROOT in pairs else root, variables, body, explore))
        return found

    def _extend(self, path: str, below: tuple[str, ...], at: Node) -> list[Overlay]:
        """Read a file that another one extends, unless it was read already."""
        real = _identity(path)
        if real in map(_identity, below):
            self._doc.report(at, f"extends files in a cycle: {' -> '.join((*below, path))}")
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
        empty = Problem(path, 1, 1, f"the file is empty; a blueprint is a mapping with the key {ROOT}")
        return root_of(path, data) or empty

    def _refuse_unknown(self, pairs: Mapping[str, tuple[Node, Node]]) -> None:
        for key, (node, _) in pairs.items():
            if key not in KEYS[""]:
                hint = did_you_mean(key, KEYS[""]) or "."
                if key in KEYS[ROOT]:
                    hint = f". It belongs under {ROOT}."
                self._doc.report(node, f"unknown key {key!r} beside {ROOT}{hint}")

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

    def _mapping(self, pairs: Mapping[str, tuple[Node, Node]], name: str) -> Node | None:
        if name not in pairs:
            return None
        node = pairs[name][1]
        if not isinstance(node, MappingNode):
            self._doc.report(node, f"{name} must be a mapping, not {describe(node)}")
            return None
        self._doc.pairs(node, name)  # says what is given twice
        return node


def _identity(path: str) -> str:
    """Return the one name of a file that may be named in several ways."""
    try:
        return os.path.realpath(path)
    except ValueError:  # no file has such a name, which reading it says
        return path
