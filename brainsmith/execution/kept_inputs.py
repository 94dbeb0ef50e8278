"""The inputs that builds make up, kept by content: searching them takes as long as verifying all steps with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.generated import Generated
from brainsmith.execution.kept import kept
from brainsmith.graph.array_types import Array
from brainsmith.store.reads import file_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.execute import Executor

Made = tuple[Generated, dict[str, Array]]

MOST_BYTES = 1 << 22
"""Larger ones are made again: a few of them would fill what is kept of this kind."""


def kept_for_all(model: ModelWrapper, digest: str, executor: Executor) -> Made:
    """Return what `generated_for_all` does, made now or by an earlier build.

    Args:
        model: It.
        digest: Stands for its content.
        executor: Runs it. Where its operators are defined in no file, nothing is kept.
    """

    def make() -> tuple[Made, Any, Iterable[str]]:
        from brainsmith.execution.generated_inputs import generated_for_all

        made, program = generated_for_all(model), executor.program
        plain = _plain(*made) if program.files is not None else None
        return made, plain and (program.files, plain), program.modules

    return kept("inputs", digest).obtain(_whole, make, lambda: {"of": "the input model"})


def _plain(made: Generated, others: dict[str, Array]) -> Any:
    """Return a plain form; None of what is too large."""
    stacks = {"": made.stack, **others}
    if sum(stack.nbytes for stack in stacks.values()) > MOST_BYTES:
        return None
    plain = {name: (str(stack.dtype), stack.shape, stack.tobytes()) for name, stack in stacks.items()}
    return plain, int(made.thresholds), int(made.missed), made.unsearched


def _whole(kept: Any) -> Made | None:
    """Return what has this plain form; None of another form, or if a file that the model names has changed."""
    try:
        files, (stacks, thresholds, missed, unsearched) = kept
        if any(file_digest(name) != known for name, known in files.items()):
            return None
        found = {
            name: np.frombuffer(data, dtype).reshape(shape).copy()
            for name, (dtype, shape, data) in stacks.items()
        }
        return Generated(found.pop(""), thresholds, missed, unsearched), found
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
