"""Where a gradient is checked: inputs that are given, an op's own samples, or drawn ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from brainsmith.autodiff.calls import as_arrays, check_inputs, run_forward
from brainsmith.autodiff.op import Array, Arrays, Op, Shapes
from brainsmith.errors import BrainsmithError, GradientError, OpError
from brainsmith.shown import typed_text

SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 4), (2, 3, 4), (1, 2, 3, 3))
"""The shapes of drawn inputs; those that an op refuses are left out."""

_DRAWS = 2
"""How often each shape is drawn."""

_SAMPLES = 4
"""How often an op is asked for samples."""


@dataclass(frozen=True)
class Point:
    """Inputs at which a gradient is checked, and what forward gives for them.

    Attributes:
        inputs: The arrays; the differentiable ones are of floats.
        outputs: One or several.
        epsilon: The relative precision of the coarsest of them.
    """

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    epsilon: float

    def along(self, op: Op, at: int, attributes: Mapping[str, Any]) -> Callable[[Array], Arrays]:
        """Return what backward must be the derivative of, as a function of one input, the others held."""
        function = _differentiated(op, self.inputs, attributes)
        shapes = [output.shape for output in self.outputs]

        def moved(x: Array) -> Arrays:
            try:
                given = function(*self.inputs[:at], x, *self.inputs[at + 1 :])
            except Exception as error:  # the user's code: whatever it raises names the op
                raise OpError(f"{_what(op)} failed: {typed_text(error)}") from error
            values = [np.asarray(value) for value in (given if op.num_outputs > 1 else (given,))]
            found = [value.shape for value in values]
            if found != shapes:
                raise OpError(f"{_what(op)} gives shapes {found} where forward gives {shapes}")
            return values

        return moved


def _what(op: Op) -> str:
    return f"{'forward' if op.surrogate is None else 'the surrogate'} of operation {op.name!r}"


def _differentiated(op: Op, inputs: Arrays, attributes: Mapping[str, Any]) -> Callable[..., Any]:
    if op.surrogate is None:
        return partial(op.forward, **attributes)
    if not callable(op.surrogate):
        raise OpError(f"the surrogate of operation {op.name!r} must be a function, not {op.surrogate!r}")
    if "at" in inspect.signature(op.surrogate).parameters:
        return partial(op.surrogate, at=tuple(inputs), **attributes)
    return partial(op.surrogate, **attributes)


def points_of(
    op: Op, inputs: Sequence[Any] | None, attributes: dict[str, Any], random: np.random.Generator
) -> list[Point]:
    """Return where to check an op: at the inputs that are given, at its samples, or at drawn ones.

    Raises:
        OpError: It refuses the inputs, or all of the drawn ones.
        GradientError: It gives NaN or infinity there.
    """
    if inputs is not None:
        return [_point(op, inputs, attributes)]
    if _samples(op, random) is not None:
        return [_point(op, _samples(op, random) or (), attributes) for _ in range(_SAMPLES)]
    found, refusal = [], None
    for shape in SHAPES * _DRAWS:
        drawn = [random.normal(0, 1.5, shape) for _ in range(op.num_inputs)]
        try:
            found.append(_point(op, drawn, attributes))
        except OpError as error:
            refusal = refusal or error
    if not found:
        raise type(refusal or OpError())(
            f"operation {op.name!r} accepts none of the inputs that gradcheck drew; give inputs=, or define "
            f"samples(random). The first refusal: {refusal}"
        ) from refusal
    return found


def _samples(op: Op, random: np.random.Generator) -> Sequence[Any] | None:
    try:
        return op.samples(random)
    except BrainsmithError:
        raise
    except Exception as error:  # the user's code: whatever it raises names the op
        raise OpError(f"samples of operation {op.name!r} failed: {typed_text(error)}") from error


def _point(op: Op, inputs: Sequence[Any], attributes: dict[str, Any]) -> Point:
    """Call an op in float64, and in float32 if it refuses that."""
    arrays = as_arrays(op, [value.data if _is_tensor(value) else value for value in inputs])
    for at in differentiable(op):
        if not np.all(np.isfinite(arrays[at])):
            raise OpError(f"a gradient check needs finite inputs; input {at} of operation {op.name!r} is not")
        if not arrays[at].size:
            raise OpError(f"a gradient check needs elements; input {at} of operation {op.name!r} is empty")
    try:
        return _called(op, _as_floats(op, arrays, np.float64), attributes)
    except GradientError:
        raise
    except OpError as refusal:
        try:
            return _called(op, _as_floats(op, arrays, np.float32), attributes)
        except OpError:
            raise refusal from None


def _called(op: Op, arrays: tuple[Array, ...], attributes: dict[str, Any]) -> Point:
    check_inputs(op, arrays, attributes)
    with np.errstate(all="ignore"):
        given = run_forward(op, arrays, attributes)
    outputs = given if op.num_outputs > 1 else (given,)
    if not all(np.all(np.isfinite(output)) for output in outputs):
        raise GradientError(
            f"operation {op.name!r} gives NaN or infinity at the inputs of the gradient check; give inputs= where it "
            "does not, or define samples(random)"
        )
    if not any(output.dtype.kind == "f" for output in outputs):
        raise GradientError(f"operation {op.name!r} gives no floats, so it has no gradient to check")
    floats = [x for x in (*outputs, *(arrays[at] for at in differentiable(op))) if x.dtype.kind == "f"]
    epsilon = max((float(np.finfo(array.dtype).eps) for array in floats), default=2.0**-52)
    return Point(arrays, tuple(outputs), epsilon)


def _as_floats(op: Op, arrays: Arrays, dtype: type) -> tuple[Array, ...]:
    """Take the inputs that are moved as floats, with those of floats that are not; integers stay."""
    moved = differentiable(op)
    return tuple(
        array.astype(dtype) if at in moved or array.dtype.kind == "f" else array
        for at, array in enumerate(arrays)
    )


def differentiable(op: Op) -> list[int]:
    """Return the inputs that have a gradient, by index."""
    return [at for at in range(op.num_inputs) if at not in op.not_differentiable]


def _is_tensor(value: Any) -> bool:
    return bool(getattr(value, "is_tape_tensor", False))


class TensorFunctionOp(Op):
    """A function of Tensors as an op, whose backward is the tape's."""

    def __init__(self, function: Callable[..., Any], num_inputs: int) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "function")
        self.num_inputs = num_inputs

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Run the function."""
        return self._run(inputs)[1].data

    def _run(self, inputs: Arrays) -> tuple[list[Any], Any]:
        from brainsmith.autodiff.tape.tensor import Tensor

        tensors = [Tensor(array, requires_grad=True) for array in inputs]
        output = self.function(*tensors)
        if not _is_tensor(output):
            raise OpError(f"function {self.name!r} must return a Tensor, not {type(output).__name__}")
        return tensors, output

    def backward(self, grad_output: Any, inputs: Arrays, output: Any, **attributes: Any) -> Any:
        """Run the tape backwards; an input that the function does not use has the gradient 0."""
        tensors, result = self._run(inputs)
        result.backward(grad_output)
        return tuple(np.zeros_like(t.data) if t.grad is None else t.grad for t in tensors)

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Run the function on zeros to see."""
        return self._run([np.ones(shape) for shape in shapes])[1].shape
