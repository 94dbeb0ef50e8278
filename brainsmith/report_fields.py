"""Read report.json into values that are always complete.

A failed or partial build writes a partial report, and the page must still show what there is. So reading
never raises: what is absent or of another kind becomes None, an empty text or an empty tuple.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from brainsmith.figures import number

Fields: TypeAlias = Mapping[str, Any]


def fields(value: object) -> Fields:
    """Give a mapping as it is, and an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Give a list as it is, and an empty one for anything else."""
    return list(value) if isinstance(value, list | tuple) else []


def text(value: object) -> str:
    """Write a value as text: a list as `[1, 64]`, what is empty as nothing, truth values as yes and no."""
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(text(item) for item in value)}]"
    if isinstance(value, Mapping):
        return ", ".join(f"{text(key)}: {text(item)}" for key, item in value.items())
    return str(value)


def first_text(source: Fields, *keys: str) -> str:
    """Give the first of several fields that is there, as text."""
    return next((text(source[key]) for key in keys if text(source.get(key))), "")


def numbers(source: Fields, *keys: str) -> list[float | None]:
    """Give several fields as numbers; None for what is absent or no number."""
    return [number(source.get(key)) for key in keys]


def total(values: Iterable[float | None]) -> float | None:
    """Add up the values that are known; None if none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
