"""The ordered steps of a build: a tuple, and one callback between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.build.artifact import Artifact

    Callback = Callable[[BuildStep | None, Artifact, BuildStep | None], None]
    Apply = Callable[[BuildStep, Artifact], Artifact]


@dataclass(frozen=True)
class Pipeline:
    """The steps in order.

    Attributes:
        steps: What runs.
        callback: Called before the first step, between two, and after the last with (previous, model, next):
            progress, checkpoints, verification and timing hook in here.
    """

    steps: tuple[BuildStep, ...]
    callback: Callback

    def run(self, model: Artifact, apply: Apply) -> Artifact:
        """Run all steps on a model; `apply` runs one of them, or takes its result from the cache."""
        previous: BuildStep | None = None
        for step in self.steps:
            self.callback(previous, model, step)
            model = apply(step, model)
            previous = step
        self.callback(previous, model, None)
        return model
