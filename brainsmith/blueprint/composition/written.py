"""A blueprint that was put together, written as one file: each value with the place that it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.blueprint.nodes import Document
from brainsmith.yaml_nodes import is_null

_TEXT = "tag:yaml.org,2002:str"
_INDENT = "  "
_PLAIN = re.compile(r"[\w.~*+-]+(?:[ :][\w.~*%+-]+)*", re.ASCII)
"""What needs no quotes if it had none."""


def written(doc: Document, body: Node, *, origins: bool = True) -> str:
    """Return the text of a blueprint; files that it names are absolute, so that it may stand anywhere.

    Args:
        doc: The blueprint, which was read.
        body: What stands under ``hw_compiler``.
        origins: Whether each value has the place that it comes from behind it.
    """
    lines = [("hw_compiler:", "")] if body.value else [("hw_compiler: {}", "")]
    lines += [(_INDENT + text, origin) for text, origin in _lines(doc, body)]
    if not origins:
        return "\n".join(text for text, _ in lines)
    width = min(max(len(text) for text, _ in lines), 60)
    return "\n".join(f"{text:<{width}}  # {origin}" if origin else text for text, origin in lines)


def plain_of(doc: Document, body: Node) -> dict[str, Any]:
    """Return the same for programs: the values, and the place of each by its keys."""
    origins: dict[str, str] = {}
    return {"hw_compiler": _plain(doc, body, "", origins), "origins": origins}


def _lines(doc: Document, node: Node) -> Iterator[tuple[str, str]]:
    """Yield the lines of a mapping or a list, and where what they say is written."""
    if isinstance(node, SequenceNode):
        for item in node.value:
            first, *rest = _entry(doc, item)
            yield f"- {first[0]}", first[1]
            yield from ((_INDENT + text, origin) for text, origin in rest)
        return
    for key, value in node.value:
        name = _scalar(doc, key)
        if isinstance(value, ScalarNode) or not value.value:
            yield f"{name}: {_scalar(doc, value)}", _origin(doc, value)
        else:
            yield f"{name}:", ""
            yield from ((_INDENT + text, origin) for text, origin in _lines(doc, value))


def _entry(doc: Document, node: Node) -> list[tuple[str, str]]:
    """Return the lines of an item of a list."""
    if isinstance(node, ScalarNode) or not node.value:
        return [(_scalar(doc, node), _origin(doc, node))]
    return list(_lines(doc, node))


def _scalar(doc: Document, node: Node) -> str:
    """Return a value on one line, as YAML reads it again."""
    if not isinstance(node, ScalarNode):
        return "{}" if isinstance(node, MappingNode) else "[]"
    if is_null(node):
        return "~"
    value = str(doc.files.get(id(node), node.value))
    style = None if node.tag != _TEXT or (node.style is None and _PLAIN.fullmatch(value)) else '"'
    return _as_yaml(node.tag, value, style)


@lru_cache(1024)  # the points of a space have most of their values in common
def _as_yaml(tag: str, value: str, style: str | None) -> str:
    plain = ScalarNode(tag, value, style=style)
    text: str = yaml.serialize(plain, Dumper=yaml.SafeDumper, width=10**9, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...")


def _origin(doc: Document, node: Node) -> str:
    file, line, column = doc.place(node)
    return f"{file}:{line}:{column}" if line else "the default order" if node.start_mark is None else file


def _plain(doc: Document, node: Node, label: str, origins: dict[str, str]) -> object:
    if isinstance(node, SequenceNode):
        return [_plain(doc, item, f"{label}[{at}]", origins) for at, item in enumerate(node.value)]
    if isinstance(node, MappingNode):
        dotted = f"{label}." if label else ""
        return {
            str(key.value): _plain(doc, value, f"{dotted}{key.value}", origins) for key, value in node.value
        }
    origins[label] = _origin(doc, node)
    return doc.files.get(id(node)) or (None if is_null(node) else doc.plain(node, label))
