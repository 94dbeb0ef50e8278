"""Which class serves which type of node: QONNX asks the module that a node's domain names, and finds plugins there.

A kernel or backend states the domain of its nodes and their type (`@backend(domain=..., op_type=...)`; the type is
the name of the class where it states none). Its class is imported when such a node is first looked up, never before.
"""

from __future__ import annotations

import re
import sys

from brainsmith.errors import DuplicatePluginError, PluginLoadError
from brainsmith.plugin.node_types import NodeType, keep_current, keep_name_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType
    from typing import Any

    from brainsmith.errors import Problem
    from brainsmith.plugin.info import PluginInfo

TABLE = "custom_op"
"""The dict in which FINN's domains keep their operators, by the types of their nodes."""


def op_type_of(info: PluginInfo) -> str:
    """Return the type of a plugin's nodes."""
    return info.extra.get("op_type") or info.reference.rpartition(":")[2].rpartition(".")[2]


def claims(records: Iterable[PluginInfo]) -> dict[tuple[str, str], list[PluginInfo]]:
    """Return the kernels and backends that claim a domain's type of node, by the two; several where they clash.

    One that another one overrides (`override=True`, same name and framework) claims nothing.

    Args:
        records: Of any types of plugins.
    """
    found: dict[tuple[str, str], dict[str, PluginInfo]] = {}
    nodes = [info for info in records if info.type in ("kernel", "backend") and info.extra.get("domain")]
    overriding = {(info.key, info.framework): info for info in nodes if info.extra.get("override")}
    for info in nodes:
        if overriding.get((info.key, info.framework), info).reference == info.reference:
            found.setdefault((info.extra["domain"], op_type_of(info)), {})[info.reference] = info
    return {claim: list(by_reference.values()) for claim, by_reference in found.items()}


def only_claimant(domain: str, op_type: str, claimants: list[PluginInfo]) -> PluginInfo:
    """Return whose nodes a domain's type is.

    Raises:
        DuplicatePluginError: Several plugins claim it.
    """
    if len(claimants) > 1:
        raise DuplicatePluginError(claim_message(domain, op_type, claimants))
    return claimants[0]


def claim_message(domain: str, op_type: str, claimants: Iterable[PluginInfo]) -> str:
    """Return the message of a type of node that several plugins claim, with their places."""
    places = "\n".join(f"  {info.type} {info.qualified} at {info.origin}" for info in claimants)
    return f"node type {op_type!r} of domain {domain!r} is defined twice:\n{places}"


def operators_in(domain: str) -> dict[str, list[PluginInfo]]:
    """Return who claims a domain's types of nodes, by the types, without importing any."""
    from brainsmith.plugin.manager import get_plugin_manager

    registry = get_plugin_manager().all_records()[0]
    records = (*registry.records("kernel"), *registry.records("backend"))
    return {op_type: found for (owner, op_type), found in claims(records).items() if owner == domain}


def offer_operators(module: ModuleType) -> None:
    """Let QONNX find plugins in a framework's module whose name is a domain, beside the framework's own operators.

    An operator of the framework that a plugin claims too is neither's: looking it up raises.
    """
    table: dict[str, Any] = getattr(module, TABLE, {})
    give = lazy_operators(module.__name__)

    def getattribute(name: str) -> Any:
        if name == "__all__":
            return sorted({*table, *give(name)})
        if name in table and len(operators_in(module.__name__).get(name, ())) < 2:
            return table[name]
        return give(name)

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


def leave_operator(info: PluginInfo, cls: Any) -> None:
    """Take a plugin out of the table of its domain, if it is in it."""
    table = getattr(sys.modules.get(info.extra.get("domain", "")), TABLE, None)
    if isinstance(table, dict) and table.get(op_type_of(info)) is cls:
        del table[op_type_of(info)]


_DEFINED = re.compile(rb"""^class\s+(\w+)|\bop_type\s*=\s*["'](\w+)["']""", re.MULTILINE)


def _unread() -> dict[str, Problem]:
    """Return what files that discovery could not read wholly may define, by their text, each with the problem.

    QONNX looks a type up in `__all__` first, and says only that it is not there: with these names in it, the look-up
    comes here and the problem is reported.
    """
    from brainsmith.plugin.manager import get_plugin_manager

    found: dict[str, Problem] = {}
    for problem in get_plugin_manager().everything().problems:
        for name in _defined(problem.file):
            found.setdefault(name, problem)
    return found


def _defined(path: str) -> list[str]:
    """Return the types of nodes that a file may define; none of a file that cannot be read."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return []
    return [name.decode() for pair in _DEFINED.findall(data) for name in pair if name]


def lazy_operators(domain: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module whose name is a domain."""

    def getattribute(name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {domain!r} has no attribute {name!r}")
        found = operators_in(domain)
        if name == "__all__":
            keep_current(domain)
            return [NodeType(op_type) for op_type in sorted({*found, *_unread()})]
        if name not in found:
            problem = _unread().get(name)
            if problem is not None:
                raise PluginLoadError(
                    f"domain {domain!r} has no operator {name!r}; a file that may define it has a problem:\n  {problem}"
                )
            raise AttributeError(
                f"domain {domain!r} has no operator {name!r}; it has {', '.join(sorted(found)) or 'none'}"
            )
        return keep_name_whole(only_claimant(domain, name, found[name]).load())

    return getattribute
