"""All that is known of a plugin without importing it, as people read it: `plugins show` prints it, a catalogue shows it."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginLoadError
from brainsmith.plugin.collections import backends_of, means_kernel
from brainsmith.plugin.node_claims import op_type_of
from brainsmith.plugin.precedence import framework_identifier
from brainsmith.plugin.trust import why_not_trusted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.plugin.details import Details
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry


def details_or_reason(info: PluginInfo) -> tuple[Details | None, str]:
    """Return what the source says of a plugin, or None and why it cannot be read."""
    from brainsmith.plugin.details import details_of  # parses

    try:
        return details_of(info), ""
    except PluginLoadError as error:
        return None, str(error)


def facts_of(info: PluginInfo, registry: Registry) -> Iterable[tuple[str, str]]:
    """Yield what is known of a plugin, as names and texts; a text may be empty."""
    yield "description", info.description
    yield "stage", info.stage or ""
    if info.type == "kernel":
        backends = [
            f"{backend.qualified} ({backend.backend_type})" for backend in backends_of(registry, info)
        ]
        yield "backends", ", ".join(backends) or "none"
        inferring = [
            one.qualified for one in registry.records("transform") if means_kernel(registry, one, info)
        ]
        yield "inferred by", ", ".join(inferring)
    else:
        yield "kernel", info.kernel or ""
    yield "backend type", info.backend_type or ""
    yield "node", node_of(info)
    yield "import as", usage_of(info)
    yield "object", info.reference
    yield "origin", info.origin
    yield "version", info.version
    yield "trust", why_not_trusted(info)
    yield "author", info.author
    yield "license", info.license
    yield "requires", ", ".join(info.requires)
    yield "requires plugins", ", ".join(info.requires_plugins)
    yield "needs brainsmith", " and ".join(bounds_of(info))
    yield "priority", "" if info.priority == 50 else str(info.priority)
    yield "device types", ", ".join(info.device_types)
    yield "tags", ", ".join(info.tags)
    yield from extra_facts(info)


def node_of(info: PluginInfo) -> str:
    """Return the type of a plugin's nodes, and their domain; empty where it states none."""
    domain = info.extra.get("domain", "")
    return f"{op_type_of(info)} of {domain}" if domain else ""


def extra_facts(info: PluginInfo) -> Iterable[tuple[str, str]]:
    """Yield what only the framework or the type knows, but for what has a line of its own."""
    for name, value in info.extra.items():
        if name not in ("domain", "op_type", "license") and (name, value) != ("time_limit", 0.0):
            yield (
                name.replace("_", " "),
                ", ".join(map(str, value)) if isinstance(value, tuple) else str(value),
            )


def bounds_of(info: PluginInfo) -> Iterable[str]:
    """Yield the versions of BrainSmith that a plugin works with, where it states them."""
    if info.min_brainsmith:
        yield f">= {info.min_brainsmith}"
    if info.max_brainsmith:
        yield f"<= {info.max_brainsmith}"


def usage_of(info: PluginInfo) -> str:
    """Return the expression that gives the object, after `from brainsmith.plugins import ...`."""
    if info.type not in ("transform", "kernel", "backend", "step"):
        return ""
    door = f"{info.type}s"
    if not info.name.isidentifier():
        return f'{door}["{info.qualified}"]'
    own = info.framework == "brainsmith"
    return f"{door}.{info.name}" if own else f"{door}.{framework_identifier(info.framework)}.{info.name}"
