"""Refuse a network before the first step, by what the step `integer` would refuse it for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.build.artifact import Artifact
from brainsmith.errors import BrainsmithError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.build.task import BuildTask

_BEGIN = ("brainsmith:cleanup", "brainsmith:integer")


def front_steps(steps: Sequence[BuildStep]) -> Sequence[BuildStep]:
    """Return the steps up to `integer`, if nothing but `cleanup` runs before it; else none.

    What a step or transform of anybody else makes of a network is known only after it ran.
    """
    begin = steps[: len(_BEGIN)]
    known = tuple(step.plugin for step in begin if step.kind == "step" and not step.args) == _BEGIN
    return begin if known else ()


def refuse_without_layers(source: Artifact, task: BuildTask) -> None:
    """Raise what the step `integer` raises of a model: it is cleaned up, and becomes layers, which are thrown away.

    Raises:
        ModelError: Nodes have no layers of integers; the text names each, why, and what would help.
    """
    from brainsmith.steps.cleanup import cleanup
    from brainsmith.steps.integer import integer_layers

    try:
        integer_layers(cleanup(Artifact(source.data).take(), None), "integer" in task.config["approximate"])
    except BrainsmithError:
        raise
    except Exception:  # noqa: BLE001  (a defect, which the step reports with its node and where the log is)
        return
