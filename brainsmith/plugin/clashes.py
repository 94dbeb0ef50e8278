"""Two different objects under one name in one framework."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.precedence import duplicate_message

if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo


def settle_clashes(records: list[PluginInfo]) -> tuple[list[PluginInfo], list[Problem]]:
    """Let `override=True` win; report other clashes. Both records stay, so that using the name says what is wrong."""
    named: dict[tuple[str, str], dict[str, PluginInfo]] = {}
    for info in records:  # two entry points may name the same module
        named.setdefault((info.key, info.framework), {}).setdefault(info.reference, info)
    kept = {id(info) for claims in named.values() for info in claims.values()}
    problems: list[Problem] = []
    for claims in named.values():
        meant = [info for info in claims.values() if info.extra.get("override")]
        chosen, *others = meant or claims.values()
        if meant:
            kept.difference_update(id(info) for info in claims.values() if info not in meant)
        problems.extend(
            Problem(info.file or info.origin, info.line, 0, duplicate_message(chosen, info))
            for info in others
        )
    return [info for info in records if id(info) in kept], problems
