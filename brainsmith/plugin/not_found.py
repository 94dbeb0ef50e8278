"""What to say of a name that nothing has."""

from __future__ import annotations

import difflib

from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.plugin.precedence import split_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brainsmith.plugin.registry import Registry


def not_found_message(registry: Registry, plugin_type: str, name: str) -> str:
    """Return the sentence that says that a name is unknown: where it was looked for, and what is close to it."""
    framework, bare = split_name(name)
    where = f" in {framework!r}" if framework else ""
    close = _close_names(registry, plugin_type, bare)
    hint = f". Did you mean {' or '.join(map(repr, close))}?" if close else ""
    elsewhere = [other for other in PLUGIN_TYPES if other != plugin_type and registry.knows(other, bare)]
    also = f" (there is a {elsewhere[0]} of that name)" if elsewhere else ""
    count = len(registry.records(plugin_type, framework))
    return (
        f"no {plugin_type} named {bare!r}{where}{also}{hint}\n"
        f"  {count} are registered: brainsmith plugins list --type {plugin_type}"
    )


def _close_names(registry: Registry, plugin_type: str, bare: str) -> list[str]:
    names = {info.name.lower(): info.name for info in registry.records(plugin_type)}
    return [names[close] for close in difflib.get_close_matches(bare.lower(), names, n=3, cutoff=0.6)]
