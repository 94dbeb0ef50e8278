"""What a blueprint's ``requires`` means here: what is asked of plugins, and the distributions that do not meet it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.plugin.plugin_needs import read_need

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.blueprint.schema import Requirement
    from brainsmith.errors import Problem
    from brainsmith.plugin.plugin_needs import Need


def needs_stated(requires: Iterable[Requirement]) -> list[Need]:
    """Return what a blueprint asks of plugins."""
    return [
        read_need(f"{each.name} {each.versions}", "", f"{each.position}")
        for each in requires
        if ":" in each.name
    ]


def unmet_distributions(requires: Iterable[Requirement]) -> list[Problem]:
    """Say which of the distributions that a blueprint names are not installed, or in another version."""
    from brainsmith.plugin.packages import unmet_requirements  # most blueprints name none

    return [
        each.position.problem(f"the blueprint {text}")
        for each in requires
        if ":" not in each.name
        for text in unmet_requirements([f"{each.name}{each.versions}"])
    ]
