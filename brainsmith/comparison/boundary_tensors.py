"""What the tensors between the layers of a circuit should be: the hardware model of its build, run in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.execute import Executor
from brainsmith.execution.read_model import read_model
from brainsmith.targets.build_folder import read_build_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from brainsmith.graph.array_types import Array


MODEL = "model.onnx"


def boundary_tensors(folder: Path, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Compute the tensors of a build's hardware layers.

    Args:
        folder: Of a build.
        inputs: By name, for the model that was built; the first axis holds all runs.

    Returns:
        Each tensor that a node of the hardware model computes, with all runs in the first axis, in the order of the graph;
        nothing for a folder that holds a package alone.

    Raises:
        BuildError: The model cannot be executed.
    """
    if not (folder / MODEL).is_file():
        return {}
    build = read_build_folder(folder)
    executor = Executor(read_model(folder / MODEL))
    arrays, runs = build.signature.checked(inputs)
    kept: dict[str, Array] = {}

    def accelerator(stacks: dict[str, Array]) -> dict[str, Array]:
        feed = {
            name: np.asarray(stack, np.float32)
            for name, stack in zip(executor.inputs, stacks.values(), strict=True)
        }
        found = executor.run(feed, keep=None)
        kept.update({name: found[name] for name in executor.order() if name in found})
        outputs = [stream.layout.tensor for stream in build.package.design.outputs]
        return {tensor: found[name] for tensor, name in zip(outputs, executor.outputs, strict=True)}

    build.run(build.signature.stacked(arrays, runs), accelerator)
    return {
        name: stack.reshape(-1, *stack.shape[2:]) if stack.ndim > 1 else stack for name, stack in kept.items()
    }
