"""Two different objects under one name in one framework."""

from __future__ import annotations

from brainsmith.errors import Problem
from brainsmith.plugin.precedence import duplicate_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo


def settle_clashes(records: list[PluginInfo]) -> tuple[list[PluginInfo], list[Problem]]:
    """Let `override=True` win; report other clashes. Both records stay, so that using the name says what is wrong."""
    first: dict[tuple[str, str], PluginInfo] = {}
    clashing: dict[tuple[str, str], dict[str, PluginInfo]] = {}
    kept: list[PluginInfo] = []
    for info in records:
        key = (info.key, info.framework)
        rival = first.setdefault(key, info)
        if rival is info:
            kept.append(info)
            continue
        claims = clashing.setdefault(key, {rival.reference: rival})
        if info.reference not in claims:  # else two entry points name the same module
            claims[info.reference] = info
            kept.append(info)
    problems: list[Problem] = []
    overridden: set[int] = set()
    for claims in clashing.values():
        meant = [info for info in claims.values() if info.extra.get("override")]
        if meant:
            overridden.update(id(info) for info in claims.values() if not info.extra.get("override"))
        chosen, *others = meant or claims.values()
        problems.extend(
            Problem(info.file or info.origin, info.line, 0, duplicate_message(info, [chosen, info]))
            for info in others
        )
    return [info for info in kept if id(info) not in overridden], problems
