"""Nodes of ops of other environments: where no module here has a class for a node, QONNX gets one that is made of a record.

The domain of such a node is the one that the op states, or else the module that defines it there; its type is the name
of the class, as QONNX has it. Nodes of the domain `brainsmith.ops` are found by the op's name, as those of ops here.
"""

from __future__ import annotations

import sys

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.node_claims import op_type_of
from brainsmith.plugin.node_types import keep_current
from brainsmith.plugin.package_files import module_files
from brainsmith.plugin.precedence import chosen
from brainsmith.settings import load_settings

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

_OURS = ("", "ai", "brainsmith", "finn", "onnx", "qonnx")
"""How the domains begin that no other environment may add to: what their operators compute is kept."""

_EMPTY = "brainsmith.plugin.environments"
"""A module without operators, for a domain that no module here stands for."""


def offer_foreign_ops(registry: ModuleType) -> None:
    """Let QONNX find the ops of other environments.

    Args:
        registry: QONNX's `qonnx.custom_op.registry`.
    """
    discover, resolve = registry._discover_custom_op_versions, registry.resolve_domain
    if hasattr(discover, "of_environments"):
        return

    def discovered(domain: str, op_type: str) -> dict[int, Any]:
        found: dict[int, Any] = discover(domain, op_type)
        return found or _versions(domain, op_type)

    def resolved(domain: str) -> str:
        path: str = resolve(domain)
        return _EMPTY if path == domain and _ops_in(domain) and not _is_here(domain) else path

    discovered.of_environments = True  # type: ignore[attr-defined]
    registry._discover_custom_op_versions = discovered  # type: ignore[attr-defined]
    registry.resolve_domain = resolved  # type: ignore[attr-defined]


def _versions(domain: str, op_type: str) -> dict[int, Any]:
    """Return the classes of a type of node by version; of several environments, that which has precedence."""
    providers: dict[int, list[PluginInfo]] = {}
    for info in _ops_in(domain):
        name, mark, number = op_type_of(info).partition("_v")
        if name == op_type:
            providers.setdefault(int(number) if mark and number.isdigit() else 1, []).append(info)
    if providers:
        keep_current(domain)
    return {version: chosen(found).load() for version, found in providers.items()}


def _ops_in(domain: str) -> list[PluginInfo]:
    """Return the ops of other environments whose nodes are of a domain."""
    if domain.partition(".")[0] in _OURS or not load_settings().environments:
        return []
    records = get_plugin_manager().all_records()[0].records("op")
    elsewhere = (info for info in records if "environment" in info.extra)
    return [info for info in elsewhere if info.extra.get("domain", info.import_name) == domain]


def _is_here(module: str) -> bool:
    """Tell whether this Python has a module; none is imported."""
    return module in sys.modules or any(module_files(module))
