"""What changed between two catalogues, and the changes before: plain data, which `catalogue.json` keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Plugins = Mapping[str, Mapping[str, Any]]
"""What `catalogue.json` states of each plugin, by keys."""

LISTS = ("added", "removed", "changed")
"""The lists of a change."""

MOST_KEPT = 50
"""How many changes a catalogue remembers; the oldest are forgotten."""

_UNCOMPARED = ("page", "provider")
"""What is stated for each plugin, and says nothing about it alone."""


def compare(before: Plugins, after: Plugins) -> dict[str, Any] | None:
    """Return what changed; None if nothing did.

    Returns:
        `added` and `removed`: keys with the summary of each; `changed`: keys with the fields that differ, each with what it
        was (`before`) and what it is (`after`), None where it was not stated.
    """
    added = [_named(key, after[key]) for key in after if key not in before]
    removed = [_named(key, before[key]) for key in before if key not in after]
    changed = [
        {**_named(key, after[key]), "fields": fields}
        for key in after
        if key in before and (fields := _differences(before[key], after[key]))
    ]
    providers = {"before": providers_of(before), "after": providers_of(after)}
    if not (added or removed or changed) and providers["before"] == providers["after"]:
        return None
    return {
        "providers": providers,
        "plugins": {"before": len(before), "after": len(after)},
        "added": added,
        "removed": removed,
        "changed": changed,
    }


def providers_of(plugins: Plugins) -> list[str]:
    """Return who provides plugins, with versions."""
    return sorted({str(one.get("provider", "")) for one in plugins.values()} - {""})


def remembered(change: dict[str, Any] | None, history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the changes that a new catalogue remembers, the newest first.

    Args:
        change: What changed now; None if nothing did.
        history: The changes that the earlier catalogue remembered.
    """
    return [*([change] if change else []), *history][:MOST_KEPT]


def _named(key: str, plugin: Mapping[str, Any]) -> dict[str, Any]:
    return {"key": key, **{name: plugin[name] for name in ("type", "framework", "name")}}


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    old, new = _own(before), _own(after)
    return {
        name: {"before": old.get(name), "after": new.get(name)}
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    }


def _own(plugin: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a plugin states itself: a version that is its provider's would change all plugins with it."""
    inherited = str(plugin.get("provider", "")).rpartition(" ")[2]
    return {
        name: value
        for name, value in plugin.items()
        if name not in _UNCOMPARED and not (name == "version" and value == inherited)
    }
