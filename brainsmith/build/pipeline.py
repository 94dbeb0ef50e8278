"""The ordered steps of a build, and one callback between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.build.artifact import Artifact

    Between = Callable[[BuildStep | None, Artifact, BuildStep | None], None]
    Apply = Callable[[BuildStep, Artifact], Artifact]


def run_pipeline(steps: Sequence[BuildStep], model: Artifact, apply: Apply, between: Between) -> Artifact:
    """Run all steps on a model.

    Args:
        steps: What runs, in order.
        model: What the first step gets.
        apply: Runs one step, or takes its result from the cache.
        between: Called before the first step, between two, and after the last with (previous, model, next): progress,
            checkpoints, verification and timing hook in here.
    """
    previous: BuildStep | None = None
    for step in steps:
        between(previous, model, step)
        model = apply(step, model)
        previous = step
    between(previous, model, None)
    return model
