"""How a registry is pickled: that of the process is that of the process which reads it, any other one is its records."""

from __future__ import annotations

from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.registry import REGISTRY, Registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def reduced(registry: Registry) -> tuple[Any, ...]:
    """Return what `Registry.__reduce__` does."""
    if registry is REGISTRY:
        return the_registry, ()
    return registry_of, ([info.to_plain() for info in registry.values()], registry.groups)


def the_registry() -> Registry:
    """Return the registry of this process."""
    from brainsmith.plugin.core import get_registry

    return get_registry()


def registry_of(records: list[tuple[Any, ...]], groups: dict[str, tuple[str, ...]]) -> Registry:
    """Return a registry of records in their plain form."""
    from brainsmith.plugin.snapshot import Snapshot

    found = [PluginInfo.from_plain(values) for values in records]
    registry = Registry()
    registry.replace_discovered(Snapshot(found, groups, [], [], [], [], (), 0.0))
    return registry
