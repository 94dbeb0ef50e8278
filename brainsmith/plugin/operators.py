"""Which class serves which type of node: QONNX asks the module that a node's domain names, and finds plugins there.

The class of a plugin is imported when such a node is first looked up, never before.
"""

from __future__ import annotations

import re

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginLoadError
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.node_claims import TABLE, claims, enter_operator, only_claimant
from brainsmith.plugin.node_types import NodeType, keep_current, keep_name_whole
from brainsmith.plugin.plugin_registry import REGISTRY
from brainsmith.plugin.source_files import source_or_nothing

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from brainsmith.errors import Problem
    from brainsmith.plugin.info import PluginInfo


def operators_in(domain: str) -> dict[str, list[PluginInfo]]:
    """Return who claims a domain's types of nodes, by the types, without importing any."""
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
    for info in (*REGISTRY.records("kernel"), *REGISTRY.records("backend")):
        if info.extra.get("domain") == module.__name__ and REGISTRY.is_loaded(info):
            enter_operator(info, REGISTRY.load(info))


_DEFINED = re.compile(rb"""^class\s+(\w+)|\bop_type\s*=\s*["'](\w+)["']""", re.MULTILINE)


def _unread() -> dict[str, Problem]:
    """Return what files that discovery could not read wholly may define, by their text, each with the problem.

    QONNX looks a type up in `__all__` first, and says only that it does not exist: with these names in it, the look-up
    comes here and the problem is reported.
    """
    found: dict[str, Problem] = {}
    for problem in get_plugin_manager().everything().problems:
        for pair in _DEFINED.findall(source_or_nothing(problem.file)):
            for name in filter(None, pair):
                found.setdefault(name.decode(), problem)
    return found


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
