"""What goes into a model and comes out of it, and whether given arrays are that; needs NumPy only.

A model states its shapes for one *run*: an image of (1, 1, 28, 28), say. Arrays that users give hold many runs: their
first axis is any multiple of the model's own. Inside, the same runs are a *stack*: (runs, *shape).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import is_
from typing import Any

import numpy as np

from brainsmith.errors import InputError
from brainsmith.graph.array_types import Array, Shape


@dataclass(frozen=True)
class TensorSpec:
    """One input or output.

    Attributes:
        name: In the graph.
        shape: Of one run, the model's own batch included; () for a scalar.
        dtype: Name of the NumPy type in which it is passed.
        datatype: Name of the QONNX datatype with which the graph annotates it (INT4, BIPOLAR, FLOAT32).
    """

    name: str
    shape: Shape
    dtype: str = "float32"
    datatype: str = "FLOAT32"

    def __str__(self) -> str:
        return f"'{self.name}' {self.dtype} {self.shape}"

    def runs_of(self, array: Array) -> int:
        """Return how many runs an array holds.

        Raises:
            InputError: Its shape is not this one with a multiple of the first axis.
        """
        given = array.shape
        if not self.shape:
            if array.ndim < 2:
                return array.size
        elif given[1:] == self.shape[1:] and len(given) == len(self.shape):
            if given[0] and self.shape[0] and given[0] % self.shape[0] == 0:
                return int(given[0] // self.shape[0])
            if given == self.shape:
                return 1
            if given[0] == 0:
                raise InputError(f"input '{self.name}' has no samples: its shape is {given}")
        raise InputError(f"input '{self.name}' must have shape {_any_multiple(self.shape)}, not {given}")

    def of_type(self, array: Array, source: str) -> Array:
        """Return numbers that were saved, perhaps in a wider type, in the type that the input takes.

        Args:
            array: Floats are rounded, integers must keep their values; what holds no real numbers stays as it is.
            source: What it was read from, for the message.

        Raises:
            InputError: The type cannot hold the values.
        """
        wanted = np.dtype(self.dtype)
        if array.dtype == wanted or array.dtype.kind not in "biuf":
            return array
        with np.errstate(all="ignore"):
            converted = array.astype(wanted)
            kept = np.array_equal(converted.astype(array.dtype), array)
        if kept or array.dtype.kind == wanted.kind == "f":
            return converted
        raise InputError(
            f"{source} holds {array.dtype}, and input '{self.name}' takes {self.dtype}, which cannot hold its values"
        )

    def other_type(self, found: np.dtype[Any]) -> InputError:
        """Return the error for an array of a type that does not convert to this one."""
        return InputError(
            f"input '{self.name}' must be of {self.dtype}, not {found}; convert it with .astype('{self.dtype}')"
        )

    def stacked(self, array: Array, runs: int) -> Array:
        """Return an array whose first axis holds all runs as (runs, *shape)."""
        return array.reshape(runs, *self.shape)

    def joined(self, stack: Array) -> Array:
        """Return a stack (runs, *shape) with the runs in the first axis; scalars become (runs,)."""
        return stack.reshape(-1, *self.shape[1:]) if stack.size else stack.reshape(0, *self.shape[1:])


class CheckedInputs(dict[str, Array]):
    """A model's inputs by name, as `ModelSignature.checked` returns them; it takes them back without checking again.

    Attributes:
        runs: How many runs they hold.
    """

    __slots__ = ("_held", "_signature", "runs")

    def __init__(self, signature: ModelSignature, arrays: Mapping[str, Array], runs: int) -> None:
        super().__init__(arrays)
        self.runs = runs
        self._signature = signature
        self._held = tuple(arrays), tuple(arrays.values())

    def are_of(self, signature: ModelSignature) -> bool:
        """Tell whether they are what was checked, against this signature."""
        names, arrays = self._held
        same = tuple(self) == names and all(map(is_, self.values(), arrays))
        return same and self._signature == signature


@dataclass(frozen=True)
class ModelSignature:
    """The inputs and outputs of a model, each in the order of the graph; the inputs without its constants."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]

    @property
    def batch(self) -> int:
        """The first axis of the first input: how many samples one run takes; 1 if it has none."""
        return next((spec.shape[0] for spec in self.inputs if spec.shape), 1)

    @property
    def names(self) -> frozenset[str]:
        """The names of all inputs and outputs."""
        return frozenset(spec.name for spec in (*self.inputs, *self.outputs))

    def inside(self, tensors: Iterable[str]) -> tuple[str, ...]:
        """Return those of a model's tensors that are neither inputs nor outputs."""
        ends = self.names
        return tuple(name for name in tensors if name not in ends)

    def checked(self, inputs: object) -> tuple[CheckedInputs, int]:
        """Return arrays that are this model's inputs, and the number of runs that they hold.

        Args:
            inputs: A mapping by name, or one array if the model has one input. A first axis may be any multiple
                of the input's own; all inputs hold the same number of runs. Types that convert without loss are
                converted, as are plain lists. What this returned before is returned as it is.

        Returns:
            Arrays by name, in the order of `inputs`, C-contiguous and of the stated dtypes; the number of runs.

        Raises:
            InputError: A name, shape or dtype is not the one stated; the message says which was expected.
        """
        if isinstance(inputs, CheckedInputs) and inputs.are_of(self):
            return inputs, inputs.runs
        given = self._named(inputs)
        arrays = {spec.name: _typed(spec, given[spec.name]) for spec in self.inputs}
        counts = {spec.name: spec.runs_of(arrays[spec.name]) for spec in self.inputs}
        if len(set(counts.values())) > 1:
            found = ", ".join(f"'{name}' has {count}" for name, count in counts.items())
            raise InputError(f"all inputs must hold the same number of runs of the model, and {found}")
        runs = next(iter(counts.values()), 1)
        return CheckedInputs(self, arrays, runs), runs

    def stacked(self, arrays: Mapping[str, Array], runs: int) -> dict[str, Array]:
        """Return what `checked` returns as stacks (runs, *shape)."""
        return {spec.name: spec.stacked(arrays[spec.name], runs) for spec in self.inputs}

    def joined(self, stacks: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs among some stacks with the runs in their first axes, in the order of `outputs`."""
        return {spec.name: spec.joined(stacks[spec.name]) for spec in self.outputs if spec.name in stacks}

    def to_plain(self) -> dict[str, list[list[Any]]]:
        """Return it as lists and strings, as JSON can hold them."""
        return {
            "inputs": [[s.name, list(s.shape), s.dtype, s.datatype] for s in self.inputs],
            "outputs": [[s.name, list(s.shape), s.dtype, s.datatype] for s in self.outputs],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> ModelSignature:
        """Return what `to_plain` stands for."""

        def specs(rows: Any) -> tuple[TensorSpec, ...]:
            return tuple(TensorSpec(name, tuple(shape), *rest) for name, shape, *rest in rows)

        return cls(specs(plain["inputs"]), specs(plain["outputs"]))

    def _named(self, inputs: object) -> dict[str, object]:
        names = [spec.name for spec in self.inputs]
        if not isinstance(inputs, Mapping):
            if len(names) != 1:
                raise InputError(
                    f"the model has {len(names)} inputs, so they must be given by name: {self._expected()}"
                )
            return {names[0]: inputs}
        if unknown := [name for name in inputs if name not in names]:
            raise InputError(f"the model has no input {unknown[0]!r}; it has {self._expected()}")
        if missing := [name for name in names if name not in inputs]:
            raise InputError(f"input '{missing[0]}' is missing; the model has {self._expected()}")
        return dict(inputs)

    def _expected(self) -> str:
        return ", ".join(str(spec) for spec in self.inputs) or "none"


def _typed(spec: TensorSpec, value: object) -> Array:
    wanted = np.dtype(spec.dtype)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InputError(f"input '{spec.name}' must be an array of {spec.dtype}: {error}") from error
    plain = not hasattr(value, "dtype") and array.dtype.kind in "biuf"
    if not plain and not np.can_cast(array.dtype, wanted, "safe"):
        raise spec.other_type(array.dtype)
    with np.errstate(invalid="ignore"):  # NaN is no integer; it is reported below
        converted = np.ascontiguousarray(array, wanted).reshape(array.shape)
    if plain and wanted.kind in "iu" and array.dtype != wanted:
        lost = array[converted != array]
        if lost.size:
            raise InputError(
                f"input '{spec.name}' must be of {spec.dtype}, which cannot hold {lost[0].item()!r}"
            )
    return converted


def _any_multiple(shape: Shape) -> str:
    if not shape:
        return "() or (runs,)"
    first = "n" if shape[0] == 1 else f"n * {shape[0]}"
    return "(" + ", ".join([first, *map(str, shape[1:])]) + ("," if len(shape) == 1 else "") + ")"
