"""Read report.json into values that are always complete.

A failed or partial build writes a partial report, and the page must still show what there is. So reading
never raises: what is absent or of another kind becomes None, an empty text or an empty tuple.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, TypeAlias

from brainsmith.figures import number

Fields: TypeAlias = Mapping[str, Any]
# A link must lead into the report's folder: no scheme, no root.
_PLAIN = re.compile(r"[A-Za-z0-9_.-][A-Za-z0-9_./-]*")


@dataclass(frozen=True)
class Subject:
    """What was built from what and for what; empty or None where the report does not say."""

    name: str
    file: str
    digest: str
    blueprint: str
    part: str
    clock_ns: float | None
    fps: float | None


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


def read_subject(report: Fields) -> Subject:
    """Read the model, the blueprint and its target."""
    model, blueprint = fields(report.get("model")), fields(report.get("blueprint"))
    file, target = first_text(model, "file"), fields(blueprint.get("target"))
    return Subject(
        PurePath(file.replace("\\", "/")).name or first_text(model, "name") or "model without a name",
        file,
        first_text(model, "digest"),
        first_text(blueprint, "file"),
        first_text(target, "part"),
        number(target.get("clock_ns")) or None,
        number(target.get("fps")) or None,
    )


def read_shortfalls(report: Fields) -> tuple[str, ...]:
    """Read what the build did not prove, as sentences."""
    return tuple(first_text(fields(entry), "text") for entry in items(report.get("shortfalls")))


def read_files(report: Fields) -> tuple[str, ...]:
    """Read the names of what lies beside the report; one that is no plain path below its folder is left out."""
    names = (text(name) for name in items(report.get("files")))
    return tuple(name for name in names if _PLAIN.fullmatch(name) and ".." not in name.split("/"))
