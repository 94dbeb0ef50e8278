"""`brainsmith plan FILE`: the points of a design space, and what they share."""

from __future__ import annotations

from itertools import islice

from brainsmith import TYPE_CHECKING
from brainsmith.blueprint.space.space import load_space
from brainsmith.cli.plugins_list import warn_of_problems
from brainsmith.exploration.space_plan import check_names, planned
from brainsmith.figures import plural
from brainsmith.plugin.manager import get_plugin_manager

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brainsmith.blueprint.space.dimensions import Dimension
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.exploration.space_plan import SpacePlan

MOST_LINES = 40
"""Of the tree that is printed."""
_MOST_VALUES = 8
_MOST_BRANCHES = 3


def run(options: Options, terminal: Terminal) -> int:
    """Print the plan of a design space; one with errors is not printed."""
    path = options.required("FILE")
    manager = get_plugin_manager()
    space = load_space(path, options.texts("--set"))
    check_names(space, manager.registry)
    plan = planned(space)
    terminal.give(lambda: _plain(plan), lambda: _show(path, plan, terminal))
    warn_of_problems(manager)
    return 0


def _show(path: str, plan: SpacePlan, terminal: Terminal) -> None:
    space, many = plan.space, len(plan.points)
    without = f" of {space.size:,} without constraints" if space.size != many else ""
    terminal.write(f"{path}: {plural(many, 'point')}{without}")
    pairs = [
        (
            "choices",
            "\n".join(_aligned((each.name, _values(each), _where(each, plan)) for each in space.dimensions)),
        ),
        ("constraints", "\n".join(each.text for each in space.constraints)),
        ("objectives", "\n".join(f"{name} {wanted}" for name, wanted in space.objectives.items())),
        ("steps", "\n".join(_aligned(_steps(plan)))),
        (
            "shared",
            f"{plan.runs:,} steps run in place of {plan.alone:,}: {plan.alone / max(plan.runs, 1):.1f} times less",
        ),
        ("tree", "\n".join(_tree(plan))),
    ]
    terminal.pairs([(name, value) for name, value in pairs if value], "  ")


def _values(each: Dimension) -> str:
    shown = [str(value) for value in each.values]
    if len(shown) > _MOST_VALUES:
        shown = [*shown[: _MOST_VALUES - 2], "...", shown[-1]]
    return ", ".join(shown)


def _where(each: Dimension, plan: SpacePlan) -> str:
    if each.within is None:
        return ""
    outer = plan.space.dimensions[each.within[0]]
    return f"if {outer.name} is {outer.values[each.within[1]]}"


def _steps(plan: SpacePlan) -> Iterable[tuple[str, str, str]]:
    for step in plan.steps:
        yield step.name, plural(step.runs, "run"), ", ".join(step.choices)


def _tree(plan: SpacePlan) -> Iterable[str]:
    lines = list(islice(plan.tree(_MOST_BRANCHES), MOST_LINES + 1))
    for depth, steps, choices, points in lines[:MOST_LINES]:
        many = f"({plural(points, 'point')})" if points > 1 else ""
        yield "  " * depth + "  ".join(part for part in (steps, choices, many) if part)
    if len(lines) > MOST_LINES:
        yield "..."


def _aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return rows with their columns below each other."""
    listed = list(rows)
    widths = [max(len(row[at]) for row in listed) for at in range(len(listed[0]))] if listed else []
    return [
        "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        for row in listed
    ]


def _plain(plan: SpacePlan) -> dict[str, Any]:
    space = plan.space
    return {
        "file": space.file,
        "points": len(plan.points),
        "points_without_constraints": space.size,
        "choices": [
            {"name": each.name, "values": list(each.values), "where": _where(each, plan) or None}
            for each in space.dimensions
        ],
        "constraints": [each.text for each in space.constraints],
        "objectives": dict(space.objectives),
        "steps": [
            {"name": step.name, "choices": list(step.choices), "runs": step.runs} for step in plan.steps
        ],
        "runs": plan.runs,
        "runs_alone": plan.alone,
        "error": None,
    }
