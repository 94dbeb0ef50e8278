"""Blueprints and selections as plain values that `marshal` can write, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from brainsmith.blueprint import build_step, schema, selection
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.store.fingerprint import short_digest

_CLASSES: dict[str, type] = {
    name: cls
    for module in (schema, selection, build_step)
    for name, cls in vars(module).items()
    if isinstance(cls, type) and is_dataclass(cls)
}
#: Begins the first text of a tuple that stands for an object; no text of a blueprint begins so.
_MARK = "\0"
_RECORD = _MARK + "record"

FORM = short_digest(repr({name: [field.name for field in fields(cls)] for name, cls in _CLASSES.items()}))
"""Stands for the classes and their fields: what was written in another form must not be read."""


def to_plain(value: Any) -> Any:
    """Give a value of the blueprint layer as tuples, lists, dicts, texts and numbers.

    A dataclass becomes a tuple that begins with its class's name, marked; a record one that names it.
    """
    if isinstance(value, PluginInfo):
        return (_RECORD, value.type, value.qualified)
    if is_dataclass(value):
        return (
            _MARK + type(value).__name__,
            *(to_plain(getattr(value, field.name)) for field in fields(value)),
        )
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(to_plain(item) for item in value)
    return value


def from_plain(plain: Any, registry: Registry) -> Any:
    """Make the value of its plain form, with the records that the registry has now.

    Raises:
        PluginNotFoundError: A plugin is gone.
    """
    if isinstance(plain, tuple) and plain and isinstance(plain[0], str) and plain[0].startswith(_MARK):
        if plain[0] == _RECORD:
            return _record(registry, plain[1], plain[2])
        cls = _CLASSES[plain[0].removeprefix(_MARK)]
        return cls(*(from_plain(item, registry) for item in plain[1:]))
    if isinstance(plain, dict):
        return {key: from_plain(item, registry) for key, item in plain.items()}
    if isinstance(plain, tuple | list):
        return type(plain)(from_plain(item, registry) for item in plain)
    return plain


def _record(registry: Registry, plugin_type: str, qualified: str) -> PluginInfo:
    """Return a record, whether its plugin can be used here or not: a selection may go without what needs FINN.

    Raises:
        PluginNotFoundError: The plugin is gone.
    """
    bare = qualified.rpartition(":")[2]
    for info in registry.providers(plugin_type, bare):
        if info.qualified == qualified:
            return info
    return registry.resolve(plugin_type, qualified)
