"""``${name}`` in the values of a blueprint: replaced by what its variables, or the command line, say."""

from __future__ import annotations

import re
from collections.abc import Mapping

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.space.forms import alternatives_of, choice_of, named, space_form
from brainsmith.close_names import did_you_mean
from brainsmith.yaml_file import MAX_NODES
from brainsmith.yaml_nodes import Mark, describe, is_null, is_text

_USE = re.compile(r"(?P<escape>\$)?\$\{(?P<name>[^}]*)\}")

_RESOLVER = yaml.resolver.Resolver()
"""Says what a scalar without quotes is: a number, true, null, or a string."""


class Variables:
    """The variables of a blueprint, and the values in which they are used."""

    def __init__(self, doc: Document, values: Mapping[str, Node]) -> None:
        self._doc = doc
        self._values = values
        self._made = 0

    def applied(self, node: Node, within: tuple[str, ...] = ()) -> Node:
        """Return a value with each variable in it replaced.

        Args:
            node: The value, with all that is in it.
            within: The variables whose values led to it.
        """
        self._made += 1
        if self._made > MAX_NODES:
            if self._made == MAX_NODES + 1:
                self._doc.report(node, f"more than {MAX_NODES} values, perhaps through a variable")
            return node
        if isinstance(node, SequenceNode):
            items = [self.applied(item, within) for item in node.value]
            return SequenceNode(node.tag, items, node.start_mark, node.end_mark, node.flow_style)
        if isinstance(node, MappingNode):
            pairs = [(key, self.applied(value, within)) for key, value in node.value]
            return MappingNode(node.tag, pairs, node.start_mark, node.end_mark, node.flow_style)
        if isinstance(node, ScalarNode) and is_text(node) and "${" in node.value:
            return self._scalar(node, within)
        return node

    def _scalar(self, node: ScalarNode, within: tuple[str, ...]) -> Node:
        """Replace what a text uses; one that is nothing but a variable becomes its value, whatever that is."""
        whole = _USE.fullmatch(node.value.strip())
        if whole and not whole["escape"]:
            value = self._value(node, whole["name"], within)
            if value is None:
                return node
            file, line, column = self._doc.place(node)
            used = f"as ${{{whole['name']}}} at {file}" + (f":{line}:{column}" if line else "")
            return _used(named(self.applied(value, (*within, whole["name"])), whole["name"]), used)
        choice = self._choice_within(node, within)
        if choice is not None:
            return choice
        text = _USE.sub(lambda use: self._within_text(node, use, within), node.value)
        tag = node.tag if node.style else _RESOLVER.resolve(ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
        return ScalarNode(tag, text, node.start_mark, node.end_mark, node.style)

    def _choice_within(self, node: ScalarNode, within: tuple[str, ...]) -> Node | None:
        """Return a choice of strings for a string that uses a variable which is a choice; None for any other."""
        for use in _USE.finditer(node.value):
            value = self._values.get(use["name"])
            if use["escape"] or value is None or space_form(value) not in ("choice", "range"):
                continue
            alternatives = alternatives_of(self._doc, self.applied(value, (*within, use["name"]))) or []
            texts = [self._with(node, use, each) for each in alternatives]
            made = [self.applied(text, within) for text in texts]
            return named(choice_of(node, made, alternatives), use["name"])
        return None

    def _with(self, node: ScalarNode, use: re.Match[str], value: Node) -> ScalarNode:
        """Return a string with one use of a variable replaced; what the value has of `${` stays as it is."""
        shown = str(value.value).replace("${", "$${") if isinstance(value, ScalarNode) else ""
        if not isinstance(value, ScalarNode):
            self._doc.report(node, f"{use[0]} is {describe(value)}, which cannot stand within a string")
        text = node.value[: use.start()] + shown + node.value[use.end() :]
        return ScalarNode(node.tag, text, node.start_mark, node.end_mark, node.style)

    def _within_text(self, node: ScalarNode, use: re.Match[str], within: tuple[str, ...]) -> str:
        if use["escape"]:
            return use[0][1:]
        value = self._value(node, use["name"], within)
        if value is None:
            return ""
        value = self.applied(value, (*within, use["name"]))
        if not isinstance(value, ScalarNode):
            what = f"{use[0]} is {describe(value)}, which cannot stand within a string"
            self._doc.report(node, what)
            return ""
        return str(value.value)

    def _value(self, node: Node, name: str, within: tuple[str, ...]) -> Node | None:
        """Return the value of a variable; None if it has none, which is reported where it is used."""
        value = self._values.get(name)
        if value is None:
            there = f". Variables are {', '.join(self._values) or 'none'}."
            hint = did_you_mean(name, self._values) or there
            self._doc.report(node, f"there is no variable {name!r}{hint}")
        elif name in within:
            circle = " -> ".join((*within[within.index(name) :], name))
            self._doc.report(node, f"a variable is made of itself: {circle}")
        elif is_null(value):
            text = f"variable {name!r} has no value: give it one with --set {name}=..., or under variables"
            self._doc.report(node, text)
        else:
            return value
        return None


def _used(node: Node, used: str) -> Node:
    """Return a value that says where it is used."""
    place = node.start_mark
    before = getattr(place, "used", "")
    mark = Mark(place.name, place.line, place.column, f"{before}, {used}" if before else used)
    if isinstance(node, SequenceNode):
        return SequenceNode(node.tag, [_used(item, used) for item in node.value], mark, mark)
    if isinstance(node, MappingNode):
        return MappingNode(
            node.tag, [(_used(key, used), _used(item, used)) for key, item in node.value], mark, mark
        )
    style = node.style if isinstance(node, ScalarNode) else None
    return ScalarNode(node.tag, node.value, mark, mark, style)
