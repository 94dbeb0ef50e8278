"""Golden data: the inputs that a model is verified with, and what is known about their results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError, InputError
from brainsmith.execution.inputs import random_inputs
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.runtime.annotated_inputs import refuse_outside

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

Array = np.ndarray[Any, Any]

INPUTS = Path("checkpoints", "00_inputs.npy")
"""Where golden inputs that were given as an array lie in the output folder."""

RANDOM_SAMPLES = 8
RANDOM_SEED = 0
RANDOM_WARNING = (
    f"no golden inputs: verified with {RANDOM_SAMPLES} random inputs (seed {RANDOM_SEED}), which says little "
    "about real data. Add `verify: {inputs: x.npy, labels: y.npy}` to the blueprint, or "
    "--verify-inputs x.npy."
)


@dataclass(frozen=True)
class GoldenData:
    """What a build verifies with.

    Attributes:
        inputs: (samples, *input shape), float32; the input's own batch dimension included.
        labels: (samples,), the right class of each; None if unknown.
        expected: (samples, ...), the right output of each; None if unknown.
        floats: (samples, ...), what a float model of the same network gives; None if unknown.
        random: The inputs were made up.
    """

    inputs: Array
    labels: Array | None = None
    expected: Array | None = None
    floats: Array | None = None
    random: bool = False


def load_golden(
    model: ModelWrapper,
    inputs: Path | Array | None,
    labels: Path | Array | None,
    expected: Path | Array | None,
    floats: Path | Array | None = None,
) -> GoldenData:
    """Read golden data and check that they fit the model and each other.

    Args:
        model: The input model.
        inputs: A .npy file or an array: (samples, *input shape), with or without its batch dimension of 1;
            without inputs, eight seeded random ones are made.
        labels: One class number for each sample.
        expected: One output for each sample.
        floats: One output of a float model for each sample.

    Raises:
        BuildError: A file cannot be read, or does not fit.
    """
    spec = _input_of(model)
    if inputs is None:
        if labels is not None or expected is not None or floats is not None:
            given = {"labels": labels, "expected outputs": expected, "float outputs": floats}
            which = next(name for name, value in given.items() if value is not None)
            raise BuildError(f"there are {which} to verify with, but no inputs: give verify inputs too")
        return GoldenData(random_inputs(model, spec.name, RANDOM_SAMPLES, RANDOM_SEED), random=True)
    stack = _inputs(_read(inputs, "inputs"), spec, inputs)
    known_labels = None
    if labels is not None:
        known_labels = _labels(_read(labels, "labels"), len(stack), labels)
        _check_classes(known_labels, model, labels)
    known = None if expected is None else _read(expected, "expected outputs")
    if known is not None and (not known.ndim or len(known) != len(stack)):
        raise BuildError(
            f"{_name(expected)} holds outputs of shape {known.shape} for {len(stack)} inputs: "
            "one each is needed"
        )
    real = None if floats is None else _float_outputs(floats, model, len(stack))
    return GoldenData(stack, known_labels, known, real)


def inputs_file(inputs: str | Path | Array | None, folder: Path) -> Path | None:
    """Return the file of golden inputs, for steps that run them themselves.

    Args:
        inputs: A .npy file, or an array, which is written to one.
        folder: Where it is written; steps that name it name it below this folder.

    Raises:
        BuildError: They are neither.
    """
    if inputs is None or isinstance(inputs, (str, Path)):
        return None if inputs is None else Path(inputs).absolute()
    file = folder / INPUTS
    file.parent.mkdir(exist_ok=True)
    np.save(file, _read(inputs, "inputs"))
    return file


def _input_of(model: ModelWrapper) -> TensorSpec:
    constants = {tensor.name for tensor in model.graph.initializer}
    name = next(value.name for value in model.graph.input if value.name not in constants)
    datatype = model.get_tensor_datatype(name).name
    return TensorSpec(name, tuple(model.get_tensor_shape(name)), datatype=datatype)


def _read(source: Path | Array | None, what: str) -> Array:
    if isinstance(source, (str, Path)):
        source = _load(source, what)
    if not isinstance(source, np.ndarray) or source.dtype.kind not in "biuf":
        found = f"{source.dtype}" if isinstance(source, np.ndarray) else type(source).__name__
        raise BuildError(f"verify {what} must be real numbers, not {found}: a .npy file or an array")
    return source


def _load(file: str | Path, what: str) -> Array:
    try:
        array = np.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise BuildError(f"verify {what}: {file} does not exist") from None
    except (OSError, ValueError, EOFError) as error:
        reason = "" if "pickle" in str(error) else f": {getattr(error, 'strerror', None) or error}"
        raise BuildError(f"verify {what}: {file} is not a .npy file of plain numbers{reason}") from error
    if not isinstance(array, np.ndarray):
        array.close()
        raise BuildError(f"verify {what}: {file} is an archive; name a .npy file, which holds one array")
    if array.dtype.kind not in "biuf":
        raise BuildError(f"verify {what}: {file} holds {array.dtype}, not real numbers")
    return array


def _finite(data: Array, source: object) -> Array:
    """Return inputs; not a number, or infinite, they would make steps look wrong that are right."""
    bad = np.flatnonzero(~np.isfinite(data.reshape(len(data), -1)).all(axis=1))
    if len(bad):
        raise BuildError(
            f"{_name(source)} holds values that are not finite, in {len(bad)} of {len(data)} samples, "
            f"first in sample {bad[0]}"
        )
    return data


def _inputs(data: Array, spec: TensorSpec, source: object) -> Array:
    """Return inputs as (runs, *shape), float32; they are held to shape and datatype as those of `brainsmith run`.

    Raises:
        BuildError: They do not fit, are not finite, or hold what the input's datatype does not.
    """
    try:
        stack = _stacked(data, spec)
        refuse_outside(ModelSignature((spec,), ()), {spec.name: _finite(data, source)})
    except InputError as error:
        raise BuildError(f"{_name(source)}: {error}") from error
    return np.ascontiguousarray(stack.astype(np.float32))


def _stacked(data: Array, spec: TensorSpec) -> Array:
    """Bring samples into the input's shape: adding dimensions of one is safe, everything else is a guess."""
    squeezed = [dim for dim in data.shape[1:] if dim != 1]
    wanted = [dim for dim in spec.shape if dim != 1]
    same = squeezed == wanted or (len(wanted) == 1 and wanted[0] == np.prod(squeezed))
    if same and data.ndim and len(data) and data.shape[1:] != spec.shape[1:]:
        return data.reshape(len(data), *spec.shape)
    return spec.stacked(data, spec.runs_of(data))


def _labels(data: Array, samples: int, source: object) -> Array:
    flat = data.reshape(-1)
    if len(flat) != samples:
        raise BuildError(f"{_name(source)} holds {len(flat)} labels for {samples} inputs: one each is needed")
    if not np.array_equal(flat, np.round(flat)):
        raise BuildError(f"{_name(source)} holds labels that are not whole numbers")
    return flat.astype(np.int64)


def _float_outputs(source: Path | Array, model: ModelWrapper, samples: int) -> Array:
    """Read a float model's outputs, as many values for each sample as the model's first output has."""
    data = _finite(_read(source, "float outputs"), source)
    output = model.graph.output[0].name
    size = int(np.prod(model.get_tensor_shape(output) or (1,)))
    if not data.ndim or len(data) != samples or data.size != samples * size:
        raise BuildError(
            f"{_name(source)} holds outputs of shape {data.shape}; output '{output}' has {size} values for each "
            f"of {samples} inputs"
        )
    return data.reshape(samples, size).astype(np.float64)


def _check_classes(labels: Array, model: ModelWrapper, source: object) -> None:
    """Raise if labels are no classes of the model's; a single output is the class itself, and may be any."""
    output = model.graph.output[0].name
    classes = int(np.prod(model.get_tensor_shape(output) or (1,)))
    low, high = int(labels.min()), int(labels.max())
    if classes > 1 and (low < 0 or high >= classes):
        raise BuildError(
            f"{_name(source)} holds labels from {low} to {high}, and output '{output}' has {classes} values: "
            f"labels must be from 0 to {classes - 1}"
        )


def _name(source: object) -> str:
    return str(source) if isinstance(source, (str, Path)) else "the given array"
