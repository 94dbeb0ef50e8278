"""The inputs that a model is run with: read from a file and brought into its shape, or made up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.array_files import load_arrays, load_one_array
from brainsmith.errors import ArrayFileError, BuildError
from brainsmith.execution.align import change_of
from brainsmith.figures import plural

if TYPE_CHECKING:
    from pathlib import Path

    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.graph.array_types import Shape

Stack = np.ndarray[Any, Any]


def read_inputs(file: Path, shape: Shape, name: str, at: int | None = None) -> Stack:
    """Read golden inputs for a model that steps have changed since.

    Args:
        file: (samples, ...), as they fitted the model before the build; (runs, batch, ...) where that had a larger batch.
        shape: Of the model's input now: without ones, flat, or transposed from NCHW to NHWC; of one sample of a batch.
        name: Of the input.
        at: Which of several arrays in the file, those of the model's inputs in their order; None for the only one.

    Returns:
        (samples, *shape), float32.

    Raises:
        BuildError: The file cannot be read, or does not fit.
    """
    try:
        data = load_one_array(file) if at is None else _array_at(file, at)
    except ArrayFileError as error:
        raise BuildError(
            f"golden inputs: {error}; verify_input_npy names a file, or is None for random inputs"
        ) from error
    if data.dtype.kind not in "biuf" or data.ndim < 1 or not len(data):
        raise BuildError(f"golden inputs: {file} must hold one array (samples, ...) of real numbers")
    return fit_inputs(
        data, shape, f"golden inputs: {file} has shape {data.shape}, which does not fit input {name!r}"
    )


def _array_at(file: Path, at: int) -> Stack:
    arrays = list(load_arrays(file).values())
    if at >= len(arrays):
        raise ArrayFileError(f"{file} holds {plural(len(arrays), 'array')}, and the model has more inputs")
    return arrays[at]


def fit_inputs(data: Stack, shape: Shape, problem: str) -> Stack:
    """Bring samples into an input's shape; those of a batch, of which the input takes one, become samples of their own.

    Raises:
        BuildError: There is not exactly one way; it begins with `problem`.
    """
    if data.ndim > 2 and data.shape[1] > 1 and tuple(shape[:1]) == (1,) and data[0, 0].size == np.prod(shape):
        data = data.reshape(-1, 1, *data.shape[2:])
    have = tuple(int(size) for size in data.shape[1:])
    padded = (1,) * (len(shape) - len(have)) + have  # the input's own batch dimension, which samples may lack
    flat = [size for size in shape if size != 1]
    if len(flat) < 2 and np.prod(have) == np.prod(shape):
        return _ready(data.reshape(len(data), *shape))
    change, _ = change_of(padded, shape)
    if change is None:
        raise BuildError(f"{problem} of shape {shape}")
    return _ready(change(data.reshape(len(data), *padded)))


def random_inputs(model: ModelWrapper, name: str, samples: int, seed: int = 0) -> Stack:
    """Draw inputs that a tensor's datatype annotation allows: whole numbers of its range, else a normal.

    Returns:
        (samples, *shape of the tensor), float32.
    """
    size = (samples, *model.get_tensor_shape(name))
    drawn = draw(np.random.default_rng(seed), model.get_tensor_datatype(name), size)
    return drawn.astype(np.float32)


def draw(generator: np.random.Generator, datatype: BaseDataType, size: tuple[int, ...]) -> Stack:
    """Draw values that a datatype allows: whole numbers of its range, at most 16 bits of it, else a normal."""
    if datatype.name == "BIPOLAR":
        return generator.choice(np.asarray([-1.0, 1.0]), size)
    if datatype.is_integer():
        low, high = max(datatype.min(), -(2**15)), min(datatype.max(), 2**15)
        return generator.integers(int(low), int(high), size, endpoint=True)
    return generator.normal(size=size)


def _ready(stack: Stack) -> Stack:
    return np.ascontiguousarray(stack.astype(np.float32))
