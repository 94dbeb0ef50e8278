"""Refuse, before any work, a model with layers that its pipeline cannot turn into hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import ModelError
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.steps.unsupported_nodes import describe_unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.blueprint.build_step import BuildStep

_INFERENCE = "hardware_inference"
# What our own transforms replace by operators that the front end converts.
_REPLACED = {"ExpandNorms": ("LayerNormalization", "RMSNormalization")}


def refuse(unsupported: dict[str, list[str]], steps: Iterable[BuildStep] | None) -> None:
    """Raise if a pipeline meets layers that it cannot convert.

    Args:
        unsupported: As `unsupported_nodes` gives them.
        steps: The pipeline; None if it is not known, because the blueprint has errors of its own.

    Raises:
        ModelError: It has our hardware_inference, and before it nothing that could replace these layers: only
            our own steps and the frameworks'. What a project's plugin does is not known.
    """
    if not unsupported:
        return
    before: list[BuildStep] = []
    for step in steps or ():
        if step.name == _INFERENCE and step.framework == "brainsmith":
            break
        before.append(step)
    else:
        if steps is not None:
            return
    if any(step.framework not in FRAMEWORKS for step in before):
        return
    replaced = {op_type for step in before for op_type in _REPLACED.get(step.name, ())}
    left = {op_type: nodes for op_type, nodes in unsupported.items() if op_type not in replaced}
    if left:
        raise ModelError(
            f"{describe_unsupported(left)}. Replace them in the model, or with a transform of your own before "
            f"{_INFERENCE}."
        )
