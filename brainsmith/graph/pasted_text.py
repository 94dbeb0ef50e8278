"""Texts of hardware layers that become part of C++ and Verilog, which are run: none may be more than a plain value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from brainsmith.graph.datatype_names import shortened
from brainsmith.graph.evaluated_text import is_literal
from brainsmith.graph.known_domains import has_layers

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_ATTRIBUTES = re.compile(r"model|body|output_hook|.*_(path|so)|code_gen_dir.*|rtlsim_trace")
"""Attributes of layers that name a file or a program."""

_PLAIN = re.compile(r"[\w .,:<>+-]*")
_HARMLESS = re.compile(r"[^\x00-\x1f\x7f\"\\$`#;]*")
_NAME = re.compile(r"[\w ./:-]*")


def is_plain_name(name: str) -> bool:
    """Tell whether a node may be called so: files, functions and modules of its code are."""
    return _NAME.fullmatch(name) is not None and ".." not in name


def is_plain(text: str) -> bool:
    """Tell whether a text is a plain word or numbers, a list or a table of such: in no language does it do anything."""
    return _PLAIN.fullmatch(text) is not None or (_HARMLESS.fullmatch(text) is not None and is_literal(text))


def texts_of(node: Any) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a node that are texts, with their names; lists text by text."""
    for attribute in node.attribute:
        for text in filter(None, (attribute.s, *attribute.strings)):
            yield attribute.name, text.decode("utf-8", "replace")


def pasted_fault(node: Any) -> str:
    """Return which text of a layer could become a statement of its C++ or Verilog, to follow "has"; empty if none.

    Args:
        node: Of any domain but ONNX's own; of one that has no layers it may have any text.
    """
    fault = _text_fault(node)
    return fault if fault and has_layers(node.domain) else ""


def _text_fault(node: Any) -> str:
    if not is_plain_name(node.name):
        return "a name that can become part of C++ or Verilog, and must be letters, digits, spaces and ./:-"
    for name, text in texts_of(node):
        is_file = FILE_ATTRIBUTES.fullmatch(name) is not None
        if not (_HARMLESS.fullmatch(text) if is_file else is_plain(text)):
            return (
                f"{name} = {shortened(repr(text))}, which can become part of C++ or Verilog, and must be "
                + (
                    "a path without quotes and $"
                    if is_file
                    else "a plain word, or a list or a table of plain values"
                )
            )
    return ""
