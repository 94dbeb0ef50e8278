"""What a blueprint's ``requires`` means here: what is asked of plugins, and the distributions that do not meet it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.close_names import did_you_mean
from brainsmith.plugin.plugin_needs import read_need

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brainsmith.blueprint.schema import Position, Requirement
    from brainsmith.errors import Problem
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_needs import Need


def needs_stated(requires: Iterable[Requirement]) -> list[Need]:
    """Return what a blueprint asks of plugins."""
    return [
        read_need(f"{each.name} {each.versions}", "", f"{each.position}")
        for each in requires
        if ":" in each.name
    ]


def unmet_distributions(requires: Iterable[Requirement], records: Iterable[PluginInfo]) -> list[Problem]:
    """Say which of the distributions that a blueprint names are not installed, or in another version."""
    from brainsmith.plugin.packages import unmet_requirements  # most blueprints name none

    known = list(records)
    return [
        each.position.problem(f"the blueprint {text}{_perhaps_a_plugin(each, known)}")
        for each in requires
        if ":" not in each.name
        for text in unmet_requirements([f"{each.name}{each.versions}"])
    ]


def _perhaps_a_plugin(stated: Requirement, known: list[PluginInfo]) -> str:
    """Say how a plugin is named, where one is called so: what an index has under that name is somebody else's."""
    types = dict.fromkeys(info.type for info in known if info.name == stated.name)
    keys = " or ".join(f"{one}:{stated.name}" for one in types)
    return f"\n  if the plugin is meant, its key has a colon: {keys}" if keys else ""


def unknown_plugins(
    requires: Iterable[Requirement], records: Iterable[PluginInfo]
) -> Iterator[tuple[Position, str]]:
    """Yield what a blueprint asks of plugins that do not exist here, which a misspelt name would be, too."""
    known = list(records)
    for each in requires:
        if ":" in each.name and not any(read_need(each.name, "", "").concerns(info) for info in known):
            hint = did_you_mean(each.name.rpartition(":")[2], {info.name for info in known})
            yield each.position, f"requires names {each.name!r}, and there is no such plugin{hint}"
