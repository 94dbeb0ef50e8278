"""Primitives that move elements and compute nothing: reshape, flatten, transpose, slice, concatenate, repeat, pad."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxCall, OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive, sum_to
from brainsmith.autodiff.primitives.reductions import axes_of
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Array, Arrays, Dtypes, Shape, Shapes

ONNX_FIRST = -(2**63) + 1
"""The end of an ONNX slice that runs backwards and takes the first element too."""


class MovementPrimitive(Primitive):
    """A primitive whose output has the very elements of its input: of its dtype, of its QONNX datatype."""

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Give the gradient the input's shape."""
        return grad.reshape(inputs[0].shape)

    def output_datatype(self, datatypes: Sequence[str], **attributes: Any) -> Any:
        """Keep the input's."""
        return datatypes[0]

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Move an array that takes no memory, and look."""
        arrays = [np.broadcast_to(np.zeros((), np.bool_), shape) for shape in shapes]
        return np.shape(self.forward(*arrays, **attributes))


class Reshape(MovementPrimitive):
    """The same elements in another shape; one axis may be -1."""

    name = "reshape"
    attributes: ClassVar[Mapping[str, Any]] = {"shape": (-1,)}
    onnx = OnnxForm("Reshape", since=5, constants=lambda call: (_int64(call.attributes["shape"]),))

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Give the elements the shape."""
        return inputs[0].reshape(attributes["shape"])


class Flatten(MovementPrimitive):
    """Each sample as one row: (N, ...) to (N, everything)."""

    name, num_inputs = "flatten", 1
    onnx = OnnxForm("Flatten", attributes=lambda call: {"axis": 1})

    def forward(self, x: Array, **attributes: Any) -> Array:
        """Lay the axes after the first one in a row."""
        return x.reshape(self.output_shape([x.shape]))

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Refuse what has no samples."""
        if inputs[0].ndim == 0:
            raise OpError("flatten takes an array of samples (N, ...), not a number")

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Shape:
        """Multiply the axes after the first one."""
        return (shapes[0][0], prod(shapes[0][1:]))


class Transpose(MovementPrimitive):
    """The axes in another order; reversed where `axes` is None."""

    name = "transpose"
    attributes: ClassVar[Mapping[str, Any]] = {"axes": None}
    onnx = OnnxForm("Transpose", attributes=lambda call: {"perm": _order(call.attributes["axes"], call.rank)})

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Order the axes."""
        return inputs[0].transpose(_order(attributes["axes"], inputs[0].ndim))

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Order them back."""
        return grad.transpose(np.argsort(_order(attributes["axes"], inputs[0].ndim)))


class Slice(MovementPrimitive):
    """The elements from `starts` to before `stops` by `steps` along `axes`; a stop of None is the end."""

    name = "slice"
    attributes: ClassVar[Mapping[str, Any]] = {"starts": (), "stops": (), "axes": (), "steps": ()}
    onnx = OnnxForm(
        "Slice",
        since=10,
        constants=lambda call: (
            _int64(call.attributes["starts"]),
            _int64([ONNX_FIRST if stop is None else stop for stop in call.attributes["stops"]]),
            _int64(call.attributes["axes"]),
            _int64(call.attributes["steps"]),
        ),
    )

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Take the elements."""
        return inputs[0][_key(inputs[0].ndim, **attributes)]

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Put the gradient where the elements were taken from, among zeros."""
        found = np.zeros_like(inputs[0])
        found[_key(found.ndim, **attributes)] = grad
        return found


class Concat(MovementPrimitive):
    """Several arrays one after the other along `axis`."""

    name = "concat"
    attributes: ClassVar[Mapping[str, Any]] = {"axis": 0}
    onnx = OnnxForm("Concat", since=4, attributes=lambda call: {"axis": call.attributes["axis"] % call.rank})

    def __init__(self, num_inputs: int) -> None:
        self.num_inputs = num_inputs

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Put them together."""
        return np.concatenate(inputs, axis=attributes["axis"])

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Cut out the input's part."""
        axis = attributes["axis"] % grad.ndim
        before = sum(array.shape[axis] for array in inputs[:at])
        part = slice(before, before + inputs[at].shape[axis])
        return np.asarray(grad[(slice(None),) * axis + (part,)])

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Follow numpy's promotion."""
        return np.result_type(*dtypes)

    def output_datatype(self, datatypes: Sequence[str], **attributes: Any) -> Any:
        """Keep the inputs' where it is one."""
        return datatypes[0] if len(set(datatypes)) == 1 else "FLOAT32"


class Expand(MovementPrimitive):
    """The array repeated to a `shape`, as broadcasting does."""

    name = "expand"
    attributes: ClassVar[Mapping[str, Any]] = {"shape": ()}
    onnx = OnnxForm("Expand", since=8, constants=lambda call: (_int64(call.attributes["shape"]),))

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Repeat it, without a copy."""
        return np.broadcast_to(inputs[0], attributes["shape"])

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Add up the repetitions."""
        return sum_to(grad, inputs[0].shape)


class ChangeOfRank(MovementPrimitive):
    """Axes of length 1 put in or taken out.

    Args:
        name: What it is called.
        function: What it computes: a numpy function of an array and `axis`.
        op_type: The ONNX operator; its axes are an input since opset 13.
        added: How many axes come for each of `axis`.
    """

    attributes: ClassVar[Mapping[str, Any]] = {"axis": ()}

    def __init__(self, name: str, function: Any, op_type: str, added: int) -> None:
        self.name, self.function, self._added = name, function, added
        self.onnx = OnnxForm(op_type, attributes=self._onnx_attributes, constants=self._onnx_constants)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Put them in, or take them out."""
        return self.function(inputs[0], attributes["axis"])

    def _axes(self, call: OnnxCall) -> tuple[int, ...]:
        axis = call.attributes["axis"]
        count = len(axis) if isinstance(axis, tuple) else 1
        return axes_of(axis, call.rank + max(self._added, 0) * count)

    def _onnx_attributes(self, call: OnnxCall) -> Mapping[str, Any]:
        return {"axes": list(self._axes(call))} if call.opset < 13 else {}

    def _onnx_constants(self, call: OnnxCall) -> tuple[Array | None, ...]:
        return () if call.opset < 13 else (_int64(self._axes(call)),)


class Pad(MovementPrimitive):
    """Zeros around an array: `widths` has (before, after) for each axis."""

    name = "pad"
    attributes: ClassVar[Mapping[str, Any]] = {"widths": ()}
    onnx = OnnxForm(
        "Pad",
        since=11,
        attributes=lambda call: {"mode": "constant"},
        constants=lambda call: (_int64(np.array(call.attributes["widths"]).T.ravel()),),
    )

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Put zeros around it."""
        return np.pad(inputs[0], attributes["widths"])

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Cut the border off."""
        sizes = zip(attributes["widths"], inputs[0].shape, strict=True)
        return np.asarray(grad[tuple(slice(before, before + size) for (before, _), size in sizes)])


def _int64(numbers: Any) -> Array:
    return np.atleast_1d(np.array(numbers, np.int64))


def _order(axes: Any, rank: int) -> list[int]:
    return list(range(rank))[::-1] if axes is None else [int(axis) % rank for axis in axes]


def _key(rank: int, starts: Any, stops: Any, axes: Any, steps: Any) -> tuple[slice, ...]:
    key = [slice(None)] * rank
    for start, stop, axis, step in zip(starts, stops, axes, steps, strict=True):
        key[axis] = slice(start, stop, step)
    return tuple(key)


@cache
def concat_of(count: int) -> Concat:
    """Return the op that concatenates so many arrays."""
    return Concat(count)


RESHAPE, FLATTEN, TRANSPOSE = Reshape(), Flatten(), Transpose()
SLICE, EXPAND, PAD = Slice(), Expand(), Pad()
SQUEEZE = ChangeOfRank("squeeze", np.squeeze, "Squeeze", 0)
EXPAND_DIMS = ChangeOfRank("expand_dims", np.expand_dims, "Unsqueeze", 1)
