"""Run what decides which circuit a network becomes before the build begins, so that it is refused before the first step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.build.artifact import Artifact
from brainsmith.build.workspace import checkpoint_name
from brainsmith.errors import BrainsmithError, BuildError, ToolError
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.progress import Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.build.runner import StepRunner

_OWN = "brainsmith"
_FRONT_END = f"{_OWN}:integer"
_LAST = "rtl_codegen"
_HELD = ".early"


def early_steps(steps: Sequence[BuildStep]) -> Sequence[BuildStep]:
    """Return the steps from the first on that find out what cannot become a circuit, up to the RTL of each layer.

    These are this project's, and transforms of the frameworks. What a step of anybody else makes of a network is known only
    after it ran in its turn: these begin the rest, and there are none if that is in front of `integer`.
    """
    found: list[BuildStep] = []
    for step in steps:
        if not _is_known(step):
            break
        found.append(step)
    return tuple(found) if any(step.plugin == _FRONT_END for step in found) else ()


def _is_known(step: BuildStep) -> bool:
    if step.kind == "step":
        return step.framework == _OWN and step.rtl_step in ("", _LAST)
    return step.kind == "transform" and step.record is not None and step.framework in FRAMEWORKS


class EarlySteps:
    """Runs the early steps of a build once, and holds their results until it is their turn.

    So nothing is computed twice, and verification of what they made begins when all of them are known to succeed.

    Args:
        runner: Runs them.
        staging: Where the build works; models lie beside their checkpoints meanwhile.
        steps: Of the build.
    """

    def __init__(self, runner: StepRunner, staging: Path, steps: Sequence[BuildStep]) -> None:
        self._runner = runner
        self._staging = staging
        self._steps = early_steps(steps)
        self._last: tuple[int, Artifact] | None = None  # its facts are known to the runner
        self._failure: tuple[int, BuildError] | None = None

    def run(self, model: Artifact) -> None:
        """Run them.

        Args:
            model: The input model.

        Raises:
            BrainsmithError: What a step refuses the model for, in the step's own words. A failure that is no refusal is
                held until it is the step's turn, because it needs the log and the model before it.
        """
        if not self._steps:
            return
        with Task("finding out which circuit it becomes", len(self._steps), "steps") as task:
            for number, step in enumerate(self._steps, 1):
                try:
                    model = self._runner.apply(step, model)
                except BuildError as error:
                    self._failure = number, error
                    self._refuse(error)
                    return
                held = self._held(number)
                held.parent.mkdir(exist_ok=True)
                held.write_bytes(model.data)
                self._last = number, model
                task.add()

    def result(self, number: int) -> Artifact | None:
        """Return the result of a step, by its number from 1; None where it has not run. Each is given once.

        Raises:
            BuildError: The step failed.
        """
        if self._failure is not None and self._failure[0] == number:
            raise self._failure[1]
        if number > len(self._steps):
            return None
        held = self._held(number)
        data = held.read_bytes()
        held.unlink()
        return self._last[1] if self._last is not None and self._last[0] == number else Artifact(data)

    def discard(self) -> None:
        """Remove the results that nobody asked for: those behind a step that made something wrong."""
        for number in range(1, len(self._steps) + 1):
            self._held(number).unlink(missing_ok=True)

    def _held(self, number: int) -> Path:
        return self._staging / (checkpoint_name(number, self._steps[number - 1].name) + _HELD)

    @staticmethod
    def _refuse(error: BuildError) -> None:
        cause = error.__cause__
        if isinstance(cause, BrainsmithError) and not isinstance(cause, ToolError):
            raise cause from cause.__cause__
