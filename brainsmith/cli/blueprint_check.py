"""`brainsmith blueprint check FILE`: the resolved plan, or every error with its place."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.blueprint.loader import in_order
from brainsmith.blueprint.resolve import check_blueprint
from brainsmith.cli.plugins_list import warn_of_problems
from brainsmith.errors import BlueprintError, Problem
from brainsmith.figures import share
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.rtl.fitting.fit import USE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.blueprint.schema import Blueprint, FitGoal, Goal, Position, Verify
    from brainsmith.blueprint.selection import KernelUse, Selection
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.plugin.info import PluginInfo


def run(options: Options, terminal: Terminal) -> int:
    """Print what a blueprint selects."""
    path = options.required("FILE")
    manager = get_plugin_manager()
    manager.discover_plugins(modes=["full"])
    blueprint, selection = check_blueprint(path, manager.registry, overrides=options.texts("--set"))
    if options.flag("--load"):
        _load(path, selection)
    terminal.give(
        lambda: _plain(path, blueprint, selection), lambda: _show(path, blueprint, selection, terminal)
    )
    warn_of_problems(manager)
    return 0


def _show(path: str, blueprint: Blueprint, selection: Selection, terminal: Terminal) -> None:
    terminal.write(f"{path}: no errors")
    terminal.pairs([(name, value) for name, value in _plan(blueprint, selection) if value], "  ")
    for skipped in selection.skipped:
        terminal.write(f"  skipped: {skipped}")


def _load(path: str, selection: Selection) -> None:
    """Import every plugin that is named.

    Raises:
        BlueprintError: Those whose import fails, each at the place that names it.
    """
    from brainsmith.plugin.source_check import load_problems

    steps = (*selection.pre_hw, *selection.transforms, *selection.post_hw, *selection.steps)
    uses: list[tuple[PluginInfo | None, Position]] = [(use.record, use.position) for use in selection.kernels]
    uses += [(backend, use.position) for use in selection.kernels for backend in use.backends]
    uses += [(step.record, step.position) for step in steps]
    problems: dict[str, Problem] = {}
    for record, place in uses:
        for problem in load_problems([record] if record else []):
            problems.setdefault(problem.text, place.problem(problem.text))
    if problems:
        raise BlueprintError(in_order(path, problems.values()))


def _plain(path: str, blueprint: Blueprint, selection: Selection) -> dict[str, Any]:
    """Return what a blueprint selects, for programs."""
    goal, verify = blueprint.goal, blueprint.verify
    return {
        "file": path,
        "target": {"part": goal.part, "clock_ns": goal.clock_ns, "fps": goal.fps, "fit": _plain_fit(goal)},
        "kernels": [
            {"plugin": use.record.qualified, "backends": [backend.qualified for backend in use.backends]}
            for use in selection.kernels
        ],
        "steps": [_plain_step(use, selection) for use in selection.steps],
        "verify": {
            "approximate": list(verify.approximate),
            "changes_outputs": list(verify.changes_outputs),
            "unverified": list(verify.unverified),
        },
        "output": selection.output,
        "left_out": [use.name for use in selection.left_out],
        "strict": blueprint.strict,
        "plugins": sorted(f"{record.type} {record.qualified}" for record in selection.records),
        "skipped": list(selection.skipped),
        "error": None,
    }


def _plain_step(step: BuildStep, selection: Selection) -> dict[str, Any]:
    transforms = [
        {"plugin": one.plugin, "args": one.args, "group": one.group or None}
        for one in (selection.phase(step.name) if step.kind == "phase" else ())
    ]
    return {
        "name": step.name,
        "kind": step.kind,
        "plugin": step.plugin or None,
        "args": step.args,
        "transforms": transforms,
    }


def _plan(blueprint: Blueprint, selection: Selection) -> Iterable[tuple[str, str]]:
    yield "target", _goal(blueprint)
    yield "kernels", "\n".join(map(_kernel, selection.kernels))
    steps = []
    for number, step in enumerate(selection.steps, 1):
        plugin = f"  {step.kind} {step.plugin}" if step.plugin else ""
        steps.append(f"{number:2} {step.name}{plugin}{_arguments(step.args)}")
        if step.kind == "phase":
            steps.extend(f"     {_transform(transform)}" for transform in selection.phase(step.name))
    yield "steps", "\n".join(steps)
    yield "verify", _exceptions(blueprint.verify)
    yield "output", _output(selection)
    yield "strict", "exit code 3 unless all is proven" if blueprint.strict else ""
    yield "plugins", f"{len(selection.records)} are named, and no others are loaded"


def _goal(blueprint: Blueprint) -> str:
    goal = blueprint.goal
    parts = {
        "part": goal.part,
        "clock": None if goal.clock_ns is None else f"{goal.clock_ns:g} ns",
        "fps": goal.fps,
        "fit": None if goal.fit is None else _fit(goal.fit),
    }
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value is not None)


def _fit(fit: FitGoal) -> str:
    use = USE if fit.use is None else fit.use
    least = "" if fit.fps is None else f", at least {fit.fps:,} frames per second"
    return f"{share(use, 0)} of it for {fit.goal}{least}"


def _plain_fit(goal: Goal) -> dict[str, Any] | None:
    if goal.fit is None:
        return None
    use = USE if goal.fit.use is None else goal.fit.use
    return {"use": use, "goal": goal.fit.goal, "at_least_fps": goal.fit.fps}


def _exceptions(verify: Verify) -> str:
    """Return the steps that may change what the model computes, or that are not verified."""
    stated = (
        ("approximates", verify.approximate),
        ("gives other outputs", verify.changes_outputs),
        ("is not verified", verify.unverified),
    )
    return "\n".join(f"{step} {what}" for what, steps in stated for step in steps)


def _output(selection: Selection) -> str:
    left_out = ", ".join(use.name for use in selection.left_out)
    return f"{selection.output}; left out, because beyond it: {left_out}" if left_out else selection.output


def _kernel(use: KernelUse) -> str:
    backends = ", ".join(backend.qualified for backend in use.backends) or "no backend"
    return f"{use.record.qualified}: {backends}"


def _transform(step: BuildStep) -> str:
    group = f"  (of {step.group})" if step.group else ""
    return f"{step.plugin}{_arguments(step.args)}{group}"


def _arguments(arguments: Mapping[str, Any]) -> str:
    return "".join(f" {name}={value!r}" for name, value in arguments.items())
