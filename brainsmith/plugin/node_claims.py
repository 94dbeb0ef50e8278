"""Which type of node is whose: what records claim, and the tables of FINN's domains.

A kernel or backend states the domain of its nodes and their type (`@backend(domain=..., op_type=...)`; the type is
the name of the class where it states none).
"""

from __future__ import annotations

import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import DuplicatePluginError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

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
