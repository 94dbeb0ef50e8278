"""Nodes of ops of other environments: where no module here has a class for a node, QONNX gets one that is made of a record.

The domain of such a node is the one that the op states, or else the module that defines it there; its type is the name
of the class, as QONNX has it; where several environments have it, the environment stands before the domain. Nodes of the
domain `brainsmith.ops` are found by the op's name, as those of ops here.
"""

from __future__ import annotations

import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import AmbiguousPluginError
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.node_claims import op_type_of
from brainsmith.plugin.node_types import keep_current
from brainsmith.plugin.package_files import module_files
from brainsmith.plugin.precedence import chosen, precedence
from brainsmith.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable
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
    """Return the classes of a type of node by version; of several environments, that which has precedence.

    Raises:
        AmbiguousPluginError: Only the names of environments decide which has.
    """
    providers: dict[int, list[PluginInfo]] = {}
    for info in _ops_in(domain):
        name, mark, number = op_type_of(info).partition("_v")
        if name == op_type:
            providers.setdefault(int(number) if mark and number.isdigit() else 1, []).append(info)
    if providers:
        keep_current(domain)
    for found in providers.values():
        _refuse_rivals(chosen(found), found, f"{domain}.{op_type}")
    return {version: chosen(found).load() for version, found in providers.items()}


def _refuse_rivals(info: PluginInfo, providers: Iterable[PluginInfo], node: str) -> None:
    """Raise if a node means an op only because of the name of its environment.

    Args:
        info: The op that has precedence.
        providers: Those of this type.
        node: The type, as the message names it.

    Raises:
        AmbiguousPluginError: Those of several environments have one priority and one version; it names them.
    """
    from brainsmith.plugin.plugin_versions import version_rank  # hardly any type has several providers

    rank = precedence(info)[:2], version_rank(info)
    rivals = [one for one in providers if (precedence(one)[:2], version_rank(one)) == rank]
    if len({one.framework for one in rivals}) > 1:
        domains = " or ".join(f"{one.framework}.{_domain_of(one)}" for one in rivals)
        raise AmbiguousPluginError(
            f"a node {node} may mean the ops of {len(rivals)} environments, with one priority and one version:\n"
            + "".join(f"  {one.qualified} ({one.origin})\n" for one in rivals)
            + f"  say which by the node's domain: {domains}, or give one of them a higher priority= or version"
        )


def _ops_in(domain: str) -> list[PluginInfo]:
    """Return the ops of other environments whose nodes are of a domain, which may begin with the environment."""
    if domain.partition(".")[0] in _OURS or not load_settings().environments:
        return []
    records = get_plugin_manager().all_records()[0].records("op")
    elsewhere = [info for info in records if "environment" in info.extra]
    environment, _, rest = domain.partition(".")
    return [info for info in elsewhere if _domain_of(info) == domain] or [
        info for info in elsewhere if (info.framework, _domain_of(info)) == (environment, rest)
    ]


def _domain_of(info: PluginInfo) -> str:
    domain: str = info.extra.get("domain", info.import_name)
    return domain


def _is_here(module: str) -> bool:
    """Tell whether this Python has a module; none is imported."""
    return module in sys.modules or any(module_files(module))
