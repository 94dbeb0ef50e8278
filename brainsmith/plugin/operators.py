"""Which class serves which type of node: QONNX asks the module that a node's domain names, and finds plugins there.

A kernel or backend states the domain of its nodes and their type (`@backend(domain=..., op_type=...)`; the type is
the name of the class where it states none). Its class is imported when such a node is first looked up, never before.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

TABLE = "custom_op"
"""The dict in which FINN's domains keep their operators, by the types of their nodes."""


def op_type_of(info: PluginInfo) -> str:
    """Return the type of a plugin's nodes."""
    return info.extra.get("op_type") or info.reference.rpartition(":")[2].rpartition(".")[2]


def operators_in(domain: str) -> dict[str, PluginInfo]:
    """Return the kernels and backends of a domain by the types of their nodes, without importing any."""
    from brainsmith.plugin.manager import get_plugin_manager

    registry = get_plugin_manager().all_records()[0]
    records = (*registry.records("kernel"), *registry.records("backend"))
    return {op_type_of(info): info for info in records if info.extra.get("domain") == domain}


def offer_operators(module: ModuleType) -> None:
    """Let QONNX find plugins in a framework's module whose name is a domain, beside the framework's own operators."""
    table: dict[str, Any] = getattr(module, TABLE, {})
    give = lazy_operators(module.__name__)

    def getattribute(name: str) -> Any:
        if name == "__all__":
            return sorted({*table, *give(name)})
        return table[name] if name in table else give(name)

    module.__getattr__ = getattribute  # type: ignore[method-assign]
    from brainsmith.plugin.registry import REGISTRY

    for info in (*REGISTRY.records("kernel"), *REGISTRY.records("backend")):
        if info.extra.get("domain") == module.__name__ and REGISTRY.is_loaded(info):
            enter_operator(info, REGISTRY.load(info))


def enter_operator(info: PluginInfo, cls: Any) -> None:
    """Enter a plugin in the table of its domain if that is a framework's: its own passes look there.

    What a framework entered itself stays.
    """
    module = sys.modules.get(info.extra.get("domain", ""))
    table = getattr(module, TABLE, None)
    if isinstance(table, dict):
        table.setdefault(op_type_of(info), cls)


def lazy_operators(domain: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module whose name is a domain."""

    def getattribute(name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {domain!r} has no attribute {name!r}")
        found = operators_in(domain)
        if name == "__all__":
            return sorted(found)
        if name not in found:
            raise AttributeError(
                f"domain {domain!r} has no operator {name!r}; it has {', '.join(sorted(found)) or 'none'}"
            )
        return found[name].load()

    return getattribute
