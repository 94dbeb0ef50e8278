"""What blueprints hold beside plain YAML: names of plugins, arguments, numbers in a range, entries that do nothing."""

from __future__ import annotations

import math
from pathlib import Path

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.blueprint.names import parse_name
from brainsmith.blueprint.schema import Arguments, PluginName, Position
from brainsmith.figures import number
from brainsmith.yaml_nodes import YamlDocument, describe, is_null, is_text, scalar


class Document(YamlDocument):
    """A blueprint being read."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.blanks: list[Position] = []
        self.files: dict[int, str] = {}
        """Absolute names of files that nodes name, by the node's id."""
        self.nothing = MappingNode("tag:yaml.org,2002:map", [])
        """Stands for an empty blueprint."""

    def file_named(self, node: Node, text: str) -> str:
        """Return the absolute name of a file that a node names: relative ones stand beside the file that names them."""
        place = node.start_mark
        beside = (
            place.line >= 0 if place else False
        )  # else it is an override, which belongs to the current folder
        folder = Path(place.name).absolute().parent if beside else Path.cwd()
        self.files[id(node)] = str(folder / Path(text).expanduser())
        return self.files[id(node)]

    def position(self, node: Node) -> Position:
        """Give the place of a node."""
        return Position(*self.place(node))

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
        return None if isinstance(value, str) else number(value)

    def number_in(
        self, node: Node, label: str, what: str, least: float, most: float = math.inf, whole: bool = False
    ) -> float | None:
        """Read a number from `least` to `most`; `what` says in an error what it should be."""
        number = self.number(node)
        if number is not None and least <= number <= most and not (whole and number != int(number)):
            return number
        self.report(node, f"{label} must be {what}, not {describe(node)}")
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
