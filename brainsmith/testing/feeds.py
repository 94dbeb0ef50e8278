"""Inputs for a small model: what a build generates, the ends of floats, and random ones of a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.generated_inputs import generated_for_all, range_of
from brainsmith.graph.ends import input_values

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from qonnx.core.modelwrapper import ModelWrapper

RANDOM = 16
"""Runs of random values."""

ENDS = (0.0, -0.0, 1e-30, -1e-30, 1e6, -1e6)
"""Values of floats that no datatype limits: the same at all places, each in a run of its own."""

WIDE = (1.0, 100.0)
"""How far random floats are spread, in turns."""


def feeds_of(model: ModelWrapper, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Return runs for each input of a model, (runs, *shape of the input).

    Args:
        model: All shapes are known.
        seed: Of the random values.
    """
    random = np.random.default_rng(seed)
    inputs = input_values(model.graph)
    if not inputs:
        return {}
    made, others = generated_for_all(model)
    generated = {inputs[0].name: made.stack, **others}
    return {value.name: _runs(model, value, generated[value.name], random) for value in inputs}


def _runs(model: ModelWrapper, value: Any, generated: Any, random: np.random.Generator) -> NDArray[Any]:
    from onnx.helper import tensor_dtype_to_np_dtype

    shape = tuple(model.get_tensor_shape(value.name))
    dtype = tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    allowed = range_of(model, value.name)
    if dtype.kind in "iu" and not allowed.whole:  # it may be an index: these two are in most ranges
        return random.integers(0, 2, (len(generated) + RANDOM + len(ENDS), *shape)).astype(dtype)
    if allowed.whole or dtype.kind != "f":
        more = [allowed.draw((RANDOM + len(ENDS), *shape), random)]
    else:
        spread = np.resize(WIDE, RANDOM).reshape(RANDOM, *(1 for _ in shape))
        ends = np.broadcast_to(np.reshape(ENDS, (len(ENDS), *(1 for _ in shape))), (len(ENDS), *shape))
        more = [ends, random.normal(size=(RANDOM, *shape)) * spread]
    return np.concatenate([generated, *more]).astype(dtype)
