"""What a blueprint states, as plain values by its keys: for reports, which outlive the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from brainsmith.blueprint.schema import Arguments, Blueprint, KernelEntry, PluginName, Requirement, StepEntry


def stated(blueprint: Blueprint) -> dict[str, Any]:
    """Return what a blueprint states and what is stated in place of it; what it leaves open is left out."""
    plain = _plain(blueprint)
    return {("target" if name == "goal" else name): each for name, each in plain.items() if name != "file"}


def _plain(value: Any) -> Any:
    if isinstance(value, PluginName):
        return f"{'~' if value.optional else ''}{value.qualified}"
    if isinstance(value, Requirement):
        return f"{value.name} {value.versions}"
    if isinstance(value, StepEntry):
        return _entry(value)
    if isinstance(value, KernelEntry):
        backends = ", ".join(map(_plain, value.backends or ()))
        return f"{_plain(value.name)}{f': {backends}' if backends else ''}"
    if isinstance(value, Arguments):
        return _plain(value.values)
    if is_dataclass(value):  # what does not compare says where something stands
        pairs = {each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.compare}
        return {name: each for name, each in pairs.items() if _says_something(each)}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _says_something(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", {}, [])


def _entry(entry: StepEntry) -> str:
    """Return an entry of an order of steps in one line."""
    args = ", ".join(f"{name}={_plain(value)}" for name, value in entry.args.values.items())
    kind = f"{entry.kind} " if entry.kind == "transform" else ""
    passes = f", {entry.passes} passes" if entry.passes is not None else ""
    return f"{kind}{_plain(entry.name)}{f'({args})' if args else ''}{passes}"
