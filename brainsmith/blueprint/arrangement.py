"""In which order the steps of a pipeline run: those that an output takes are added, those beyond it are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from brainsmith.blueprint.outputs import OUTPUTS, RTL_STEPS, TAKES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brainsmith.blueprint.build_step import BuildStep

_TAKES_FROM_EARLIER = {
    "rtl_stitch": "connects the layers that rtl_codegen generates",
    "rtl_size_fifos": "simulates the design that rtl_stitch makes",
    "rtl_simulate": "runs the design with the FIFOs that rtl_size_fifos has sized",
    "rtl_synthesise": "takes the design that rtl_simulate has verified",
    "rtl_package": "packs what all the others make",
}


class Arrangement(NamedTuple):
    """A pipeline as it runs.

    Attributes:
        output: How far it goes.
        order: Each step that runs, and the name of each RTL step that is added.
        left_out: The steps that lie beyond the output.
        problems: What is wrong with the order: a step, and why.
    """

    output: str
    order: tuple[BuildStep | str, ...]
    left_out: tuple[BuildStep, ...]
    problems: tuple[tuple[BuildStep, str], ...]


def arrange(steps: Sequence[BuildStep], output: str | None) -> Arrangement:
    """Leave out of a pipeline the RTL steps beyond an output, and add those that the output takes and it lacks.

    Without an output a pipeline ends where it ends: only what its last RTL step needs is added. An added step stands
    before the next RTL step that is named, or at the end. What is named keeps its place.

    Args:
        steps: The pipeline as it is written.
        output: One of `OUTPUTS`; None for the least that takes all the RTL steps named.
    """
    named = [step.rtl_step for step in steps]
    reached = output or _least(named)
    wanted = TAKES[reached]
    if output is None:
        last = max((RTL_STEPS.index(step) for step in named if step), default=-1)
        wanted = tuple(step for step in wanted if RTL_STEPS.index(step) <= last)
    missing = [step for step in wanted if step not in named]
    order: list[BuildStep | str] = []
    left_out: list[BuildStep] = []
    for step in steps:
        if step.rtl_step and step.rtl_step not in wanted:
            left_out.append(step)
            continue
        while step.rtl_step and missing and RTL_STEPS.index(missing[0]) < RTL_STEPS.index(step.rtl_step):
            order.append(missing.pop(0))
        order.append(step)
    return Arrangement(reached, (*order, *missing), tuple(left_out), tuple(_problems(steps)))


def _least(named: Iterable[str]) -> str:
    steps = {step for step in named if step}
    return next(output for output in OUTPUTS if steps.issubset(TAKES[output]))


def _problems(steps: Sequence[BuildStep]) -> Iterable[tuple[BuildStep, str]]:
    """Yield what cannot work, whatever the output: another one may be asked for with the same pipeline."""
    before: list[BuildStep] = []
    for step in steps:
        problem = _misplaced(step, before) if step.rtl_step else _too_late(step, before)
        if problem:
            yield step, problem
        if step.rtl_step:
            before.append(step)


def _misplaced(step: BuildStep, before: list[BuildStep]) -> str:
    """Say why an RTL step cannot stand after those before it."""
    for other in before:
        if other.rtl_step == step.rtl_step:
            if other.shown == step.shown:
                return f"step {step.shown} is listed twice: first at {other.position}"
            return f"step {step.shown} replaces {other.shown}, which is listed too: {other.position}"
    for other in before:
        if RTL_STEPS.index(other.rtl_step) > RTL_STEPS.index(step.rtl_step):
            why = _TAKES_FROM_EARLIER[other.rtl_step]
            return (
                f"step {step.shown} comes after {other.shown}, which {why}. "
                f"The order is {', '.join(RTL_STEPS)}"
            )
    return ""


def _too_late(step: BuildStep, before: list[BuildStep]) -> str:
    """Say why another entry cannot stand after an RTL step."""
    if not before or not step.changes_model:
        return ""
    what = {"step": f"step {step.shown}", "transform": f"transform {step.shown}"}.get(
        step.kind, f"the list {step.shown}"
    )
    return (
        f"{what} comes after {before[0].shown} and changes the model, so the generated files would not match it. "
        f"Put it before {before[0].shown}"
    )
