"""Golden data: the inputs that a model is verified with, and what is known about their results."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.array_files import is_npy
from brainsmith.build.golden_files import REAL, arrays_of, finite, name_of, read_array
from brainsmith.errors import BuildError, InputError
from brainsmith.execution.inputs import random_inputs
from brainsmith.execution.model_signature import signature_of
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.figures import plural
from brainsmith.graph.array_types import Array
from brainsmith.runtime.annotated_inputs import refuse_outside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.blueprint.schema import ChangesOutputs


INPUTS = Path("checkpoints", "00_inputs.npy")
"""Where golden inputs that were given as an array lie in the output folder."""

RANDOM_SAMPLES = 8
RANDOM_SEED = 0


@dataclass(frozen=True)
class GoldenData:
    """What a build verifies with.

    Attributes:
        inputs: Of the model's first input, (runs, *shape), float32; a run holds one sample, or as many as the model's
            batch.
        others: Likewise, of the model's other inputs by name.
        labels: (samples,), the right class of each; None if unknown.
        expected: (samples, ...), the right output of each; None if unknown.
        floats: (samples, ...), what a float model of the same network gives; None if unknown.
        random: The inputs were made up.
        new_outputs: What steps that change the outputs must give, by the step's name.
    """

    inputs: Array
    labels: Array | None = None
    expected: Array | None = None
    floats: Array | None = None
    random: bool = False
    new_outputs: Mapping[str, NewOutputs] = field(default_factory=dict)
    others: Mapping[str, Array] = field(default_factory=dict)

    def feed(self, names: Sequence[str]) -> dict[str, Array]:
        """Return the inputs by name, given the names of all of them."""
        return {name: self.others.get(name, self.inputs) for name in names}


@dataclass(frozen=True)
class NewOutputs:
    """What is known of the outputs that a step gives in place of those before.

    Attributes:
        labels: (samples,), the right class of each; None if unknown.
        expected: (samples, values), the right output of each; None if unknown.
    """

    labels: Array | None = None
    expected: Array | None = None


def load_golden(
    model: ModelWrapper,
    inputs: Path | Array | None,
    labels: Path | Array | None,
    expected: Path | Array | None,
    floats: Path | Array | None = None,
    changes_outputs: Mapping[str, ChangesOutputs] | None = None,
) -> GoldenData:
    """Read golden data and check that they fit the model and each other.

    Args:
        model: The input model.
        inputs: A file (.npy, or .npz with one array) or an array: (samples, *input shape), with or without its batch
            dimension of 1, where the number of samples is a multiple of a larger batch; without inputs, eight seeded
            random ones are made. Of a model with several inputs an .npz file with an array of each name, or a mapping.
        labels: One class number for each sample.
        expected: One output for each sample, or its class number.
        floats: One output of a float model for each sample.
        changes_outputs: Labels and expected outputs of the steps that change the model's outputs.

    Raises:
        BuildError: A file cannot be read, or does not fit.
    """
    specs = [replace(spec, dtype="float32") for spec in signature_of(model).inputs]
    if inputs is None:
        _refuse_without_inputs(labels, expected, floats, changes_outputs)
        drawn = {
            spec.name: random_inputs(model, spec.name, RANDOM_SAMPLES, RANDOM_SEED + at)
            for at, spec in enumerate(specs)
        }
        return GoldenData(drawn.pop(specs[0].name), random=True, others=drawn)
    arrays = arrays_of(inputs, [spec.name for spec in specs])
    others = {spec.name: _inputs(arrays[spec.name], spec, inputs) for spec in specs}
    _check_counts(others, inputs)
    stack = others.pop(specs[0].name)
    output_shapes = [_shape(model, out.name) for out in model.graph.output]
    samples = len(stack) * samples_in_a_run(specs[0].shape, output_shapes)
    known_labels = _labels(labels, samples)
    if known_labels is not None:
        _check_classes(known_labels, model, samples // len(stack), labels)
    known_floats = _outputs(floats, "float outputs", model, samples, len(stack))
    return GoldenData(
        stack,
        known_labels,
        _outputs(expected, "expected outputs", model, samples, len(stack), classes=True),
        None if known_floats is None else known_floats.astype(np.float64),
        new_outputs={
            step: NewOutputs(_labels(stated.labels, samples), _new_expected(stated.expected, samples))
            for step, stated in (changes_outputs or {}).items()
        },
        others=others,
    )


def _refuse_without_inputs(
    labels: object, expected: object, floats: object, changes_outputs: Mapping[str, ChangesOutputs] | None
) -> None:
    given = {"labels": labels, "expected outputs": expected, "float outputs": floats}
    given |= {f"data of new outputs (verify.changes_outputs.{step})": step for step in changes_outputs or ()}
    which = next((name for name, value in given.items() if value is not None), None)
    if which is not None:
        raise BuildError(f"there are {which} to verify with, but no inputs: give verify inputs too")


def samples_in_a_run(inputs: Sequence[int], outputs: Iterable[Sequence[int]]) -> int:
    """Return how many samples one execution of a model takes: its batch, if all outputs have it too, else 1."""
    batch = inputs[0] if len(inputs) > 1 else 1
    return batch if all(shape and shape[0] == batch for shape in map(tuple, outputs)) else 1


def inputs_file(inputs: str | Path | Array | None, golden: GoldenData, folder: Path) -> Path | None:
    """Return the file of golden inputs, for steps that run them themselves: (runs, ...).

    Args:
        inputs: A file, an array, or arrays by input, as they were given.
        golden: Made of them.
        folder: Where an array is written, or what the file holds where the model's batch is more than 1 or it is no
            .npy file, which FINN's steps read; steps that name the file name it below this folder.
    """
    if inputs is None:
        return None
    if golden.others:
        file = (folder / INPUTS).with_suffix(".npz")
        file.parent.mkdir(exist_ok=True)
        # By position, since steps rename inputs: the first one, the next.
        np.savez(file, *[golden.inputs, *golden.others.values()])
        return file
    data = read_array(inputs, "inputs")
    whole = len(data) == len(golden.inputs)
    if whole and isinstance(inputs, (str, Path)) and is_npy(inputs):
        return Path(inputs).absolute()
    file = folder / INPUTS
    file.parent.mkdir(exist_ok=True)
    np.save(file, data if whole else golden.inputs)
    return file


def _check_counts(stacks: Mapping[str, Array], source: object) -> None:
    """Raise if inputs have different numbers of samples."""
    counts = {name: len(stack) for name, stack in stacks.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{count} of '{name}'" for name, count in counts.items())
        raise BuildError(f"{name_of(source)} must hold as many samples of each input, not {listed}")


def _inputs(data: Array, spec: TensorSpec, source: object) -> Array:
    """Return inputs as (runs, *shape), float32; their shape and datatype are checked, like those of `brainsmith run`.

    Raises:
        BuildError: They do not fit, are not finite, or hold what the input's datatype does not.
    """
    name = name_of(source)
    try:
        if data.dtype.kind not in REAL:
            raise spec.other_type(data.dtype)
        data = spec.of_type(data, "it")
        stack = _stacked(data, spec)
        refuse_outside(ModelSignature((spec,), ()), {spec.name: data})
    except InputError as error:
        raise BuildError(f"{name}: {error}") from error
    finite(data, source, spec.name)  # of floats, of which `brainsmith run` takes any
    return np.ascontiguousarray(stack)


def _stacked(data: Array, spec: TensorSpec) -> Array:
    """Bring samples into the input's shape: adding dimensions of one is safe, everything else is a guess."""
    squeezed = [dim for dim in data.shape[1:] if dim != 1]
    wanted = [dim for dim in spec.shape if dim != 1]
    same = squeezed == wanted or (len(wanted) == 1 and wanted[0] == np.prod(squeezed))
    if same and data.ndim and len(data) and data.shape[1:] != spec.shape[1:]:
        return data.reshape(len(data), *spec.shape)
    return spec.stacked(data, spec.runs_of(data))


def _labels(source: Path | Array | str | None, samples: int) -> Array | None:
    if source is None:
        return None
    flat = read_array(source, "labels").reshape(-1)
    if len(flat) != samples:
        raise BuildError(
            f"{name_of(source)} holds {plural(len(flat), 'label')} for {plural(samples, 'input')}: one each is needed"
        )
    if not np.array_equal(flat, np.round(flat)):
        raise BuildError(f"{name_of(source)} holds labels that are not whole numbers")
    return flat.astype(np.int64)


def _outputs(
    source: Path | Array | None,
    what: str,
    model: ModelWrapper,
    samples: int,
    runs: int,
    classes: bool = False,
) -> Array | None:
    """Read known outputs: for each sample as many values as the model's first output has, or perhaps its class number."""
    if source is None:
        return None
    data = finite(read_array(source, what), source)
    output, size = _first_output(model, samples // runs)
    if len(data) not in (samples, runs) or data.size not in (samples * size, samples if classes else -1):
        or_class = ", or its class number alone" if classes and size > 1 else ""
        raise BuildError(
            f"{name_of(source)} holds outputs of shape {data.shape}; output '{output}' has {plural(size, 'value')} "
            f"for each of {plural(samples, 'input')}{or_class}"
        )
    return data.reshape(samples, -1)


def _new_expected(source: Path | str | None, samples: int) -> Array | None:
    """Read the expected outputs of a step; how many values it gives is known when it ran."""
    if source is None:
        return None
    data = finite(read_array(source, "expected outputs"), source)
    if len(data) == 0 or data.size % samples:
        raise BuildError(
            f"{name_of(source)} holds outputs of shape {data.shape} for {plural(samples, 'input')}: one each is needed"
        )
    return data.reshape(samples, -1)


def _first_output(model: ModelWrapper, batch: int) -> tuple[str, int]:
    """Return the name of a model's first output, and how many values it has for a sample."""
    name = model.graph.output[0].name
    return name, int(np.prod(_shape(model, name) or (1,))) // batch


def _shape(model: ModelWrapper, tensor: str) -> tuple[int, ...]:
    return tuple(model.get_tensor_shape(tensor) or ())


def _check_classes(labels: Array, model: ModelWrapper, batch: int, source: object) -> None:
    """Raise if labels are not among the model's classes; a single output is the class itself, and may have any value."""
    output, classes = _first_output(model, batch)
    low, high = int(labels.min()), int(labels.max())
    if classes > 1 and (low < 0 or high >= classes):
        raise BuildError(
            f"{name_of(source)} holds labels from {low} to {high}, and output '{output}' has {plural(classes, 'value')}: "
            f"labels must be from 0 to {classes - 1}"
        )
