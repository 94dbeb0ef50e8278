"""HTML and SVG elements as values, escaped by construction.

A report holds names that come out of a model file, so they may hold anything, markup too. Text becomes
markup only by passing through `tag`, which escapes every child and attribute that is not `Markup` already.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from functools import cache
from typing import TypeAlias

# Characters that neither XML 1.0 nor UTF-8 can carry: control characters, lone surrogates, non-characters.
# They are listed, and not those that can be written: Python compiles that in a tenth of the time.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Most texts hold nothing to escape; one search finds that out.
_SPECIAL = re.compile(f"[&<>\"']|{_UNWRITABLE.pattern}")
_VOID = frozenset({"meta", "link", "input", "img", "br", "hr", "col"})
# What could end a script element, open another, or end a line in JavaScript.
_JSON_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Markup(str):
    """Text that is markup already, so that `tag` inserts it as it stands."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"
Attribute: TypeAlias = "str | int | float | bool | None"


def clean(text: str) -> str:
    """Replace characters that no HTML or SVG document can carry by U+FFFD."""
    return _UNWRITABLE.sub("\ufffd", text)


def escape(text: str) -> Markup:
    """Escape a text for element content and for quoted attributes."""
    if isinstance(text, Markup) or not _SPECIAL.search(text):
        return Markup(text)
    return Markup(html.escape(clean(text)))


def tag(element: str, *children: Child, **attributes: Attribute) -> Markup:
    """Build one element.

    Args:
        element: The element's name.
        children: Texts (escaped), `Markup` (kept), numbers, iterables of these; None is left out.
        attributes: `class_` stands for `class`, `_` for `-`; None and False are left out, True is empty.

    Returns:
        The element; never self-closing, so that HTML and XML parsers read it alike.
    """
    opening = f"<{element}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if element in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{join(children)}</{element}>")


def join(children: Iterable[Child]) -> Markup:
    """Put children one after another, escaping what is not markup."""
    return Markup("".join(_content(child) for child in children))


def embed_json(value: object, element_id: str) -> Markup:
    """Build a data block that a script reads; no text in it can end the block."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    body = Markup(clean(text).translate(_JSON_ESCAPES))
    return tag("script", body, type="application/json", id=element_id)


def _content(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, str):
        return child if isinstance(child, Markup) else escape(child)
    if isinstance(child, int):
        return str(child)
    return join(child)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    if isinstance(value, str):
        text: str = escape(value)
    elif isinstance(value, float):
        text = f"{value:.2f}".rstrip("0").rstrip(".")
    else:
        text = "" if value is True else str(value)
    return f' {_attribute_name(key)}="{text}"'


@cache
def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")
