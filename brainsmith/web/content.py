"""Read report.json into values that are always complete.

A failed or partial build writes a partial report, and the page must still show what there is. So reading
never raises: what is absent or of another kind becomes None, an empty text or an empty tuple.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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


@dataclass(frozen=True)
class Plugin:
    """One plugin that the build loaded."""

    name: str
    framework: str
    type: str
    note: str


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


def read_subject(report: Fields) -> Subject:
    """Read the model, the blueprint and its target; the first two may be just the names of their files."""
    model, blueprint = report.get("model"), report.get("blueprint")
    file = first_text(fields(model), "file") if isinstance(model, Mapping) else text(model)
    target = fields(fields(blueprint).get("target"))
    return Subject(
        PurePath(file.replace("\\", "/")).name or first_text(fields(model), "name") or "model without a name",
        file,
        first_text(fields(model), "digest"),
        first_text(fields(blueprint), "file") if isinstance(blueprint, Mapping) else text(blueprint),
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


def read_plugins(report: Fields) -> tuple[Plugin, ...]:
    """Read the loaded plugins: records, or texts such as `finn:X` and `transform:finn:X`."""
    found = report.get("plugins")
    if isinstance(found, Mapping):
        pairs = [(framework, entry) for framework, group in found.items() for entry in items(group)]
    else:
        pairs = [("", entry) for entry in items(found)]
    return tuple(_plugin(text(framework), entry) for framework, entry in pairs)


def _plugin(framework: str, entry: object) -> Plugin:
    if isinstance(entry, Mapping):
        note = " ".join(part for part in (first_text(entry, "version"), first_text(entry, "origin")) if part)
        own = first_text(entry, "framework") or framework
        return Plugin(first_text(entry, "name"), own, first_text(entry, "type"), note)
    *before, name = text(entry).split(":")
    return Plugin(name, before[-1] if before else framework, before[0] if len(before) > 1 else "", "")
