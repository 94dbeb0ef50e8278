"""Two different objects under one name in one framework."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.precedence import clashes, duplicate_message

if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo


def settle_clashes(records: list[PluginInfo]) -> tuple[list[PluginInfo], list[Problem]]:
    """Let `override=True` win; report other clashes. Both records stay, so that using the name says what is wrong."""
    unique: dict[tuple[str, str, str], PluginInfo] = {}
    for info in records:  # two entry points may name the same module
        unique.setdefault((info.key, info.framework, info.reference), info)
    overridden = {(info.key, info.framework) for info in unique.values() if info.extra.get("override")}
    kept = [
        info
        for info in unique.values()
        if info.extra.get("override") or (info.key, info.framework) not in overridden
    ]
    return kept, [
        Problem(info.file or info.origin, info.line, 0, duplicate_message(first, info))
        for first, info in clashes(kept)
    ]
