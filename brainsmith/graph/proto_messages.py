"""All that a model is made of: its message, and those in it, whatever field they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def messages_in(message: Any) -> Iterator[Any]:
    """Yield a message and all that are in it."""
    waiting = [message]
    while waiting:
        one = waiting.pop()
        yield one
        for field, value in one.ListFields():
            if field.type == field.TYPE_MESSAGE:
                waiting.extend(value if _is_repeated(field) else (value,))


def text_faults(message: Any) -> Iterator[str]:
    """Yield the fields of texts that hold what is no text: protobuf gives bytes there, which fail anywhere later."""
    for one in messages_in(message):
        for field, value in one.ListFields():
            if field.type != field.TYPE_STRING:
                continue
            values = value if _is_repeated(field) else (value,)
            if not all(isinstance(text, str) for text in values):
                yield f"{field.name} in {one.DESCRIPTOR.name} is not UTF-8"


def _is_repeated(field: Any) -> bool:
    own = getattr(field, "is_repeated", None)  # newer protobuf; `label` is deprecated there
    return bool(field.label == field.LABEL_REPEATED if own is None else own)
