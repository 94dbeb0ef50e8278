"""Primitives that find the indices of elements, and those that take elements by index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Array, Arrays, Dtypes, Shape, Shapes


class ArgMax(Primitive):
    """The index of the greatest element along `axis`, of equals the first, int64."""

    name = "argmax"
    attributes: ClassVar[Mapping[str, Any]] = {"axis": -1, "keepdims": False}
    onnx = OnnxForm(
        "ArgMax",
        attributes=lambda call: {
            "axis": call.attributes["axis"] % call.rank,
            "keepdims": int(call.attributes["keepdims"]),
        },
    )

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Find it."""
        return np.argmax(inputs[0], axis=attributes["axis"], keepdims=attributes["keepdims"])

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Drop the axis, or keep it with length 1."""
        shape = list(shapes[0])
        shape[attributes["axis"]] = 1
        if not attributes["keepdims"]:
            del shape[attributes["axis"]]
        return tuple(shape)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Give int64, as ONNX does."""
        return np.dtype(np.int64)

    def output_datatype(self, datatypes: Sequence[str], **attributes: Any) -> Any:
        """Give INT64."""
        return "INT64"


class TopK(Primitive):
    """The `k` greatest values of each row, the greatest first, of equals the first; and their indices, int64."""

    name, num_inputs, num_outputs = "top_k", 1, 2
    attributes: ClassVar[Mapping[str, Any]] = {"k": 1}
    onnx = OnnxForm(
        "TopK",
        since=10,
        attributes=lambda call: {"axis": -1},
        constants=lambda call: (np.array([call.attributes["k"]], np.int64),),
    )

    def forward(self, x: Array, **attributes: Any) -> tuple[Array, Array]:
        """Sort each row; the sort is stable, so that of equals the first comes first."""
        last = x.shape[-1] - 1
        # Ascending over the mirrored row, because negating would overflow the least integer.
        order = last - np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
        best = order[..., : attributes["k"]]
        return np.take_along_axis(x, best, axis=-1), best

    def gradient(self, at: int, grad: Any, inputs: Arrays, output: Any, **attributes: Any) -> Array:
        """Give each gradient to the value that was chosen."""
        found = np.zeros_like(inputs[0])
        np.put_along_axis(found, output[1], grad[0], axis=-1)
        return found

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Refuse rows of fewer values than are asked for."""
        width = inputs[0].shape[-1] if inputs[0].ndim else 0
        if not 1 <= attributes["k"] <= width:
            raise OpError(f"top_k of rows of {width} values needs k from 1 to {width}, not {attributes['k']}")

    def output_shape(self, shapes: Shapes, **attributes: Any) -> tuple[Shape, Shape]:
        """Shorten the rows."""
        shape = (*shapes[0][:-1], attributes["k"])
        return shape, shape

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Keep the values' dtype; indices are int64, as in ONNX."""
        return dtypes[0], np.dtype(np.int64)


class Gather(Primitive):
    """Elements along `axis` by an array of indices; negative ones count from the end."""

    name, num_inputs = "gather", 2
    not_differentiable = (1,)
    attributes: ClassVar[Mapping[str, Any]] = {"axis": 0}
    onnx = OnnxForm("Gather", since=11, attributes=lambda call: {"axis": call.attributes["axis"] % call.rank})

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Take them."""
        return np.take(inputs[0], inputs[1], axis=attributes["axis"])

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Add the gradient where the elements were taken from."""
        found = np.zeros_like(inputs[0])
        np.add.at(found, (slice(None),) * (attributes["axis"] % found.ndim) + (inputs[1],), grad)
        return found

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Put the shape of the indices in place of the axis."""
        (shape, indices), axis = shapes, attributes["axis"] % len(shapes[0])
        return (*shape[:axis], *indices, *shape[axis + 1 :])


class GatherND(Primitive):
    """Elements by several indices at once: the last axis of the indices numbers the leading axes of x."""

    name, num_inputs = "gather_nd", 2
    not_differentiable = (1,)
    onnx = OnnxForm("GatherND", since=11)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Take them."""
        return inputs[0][_leading(inputs[1])]

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Add the gradient where the elements were taken from."""
        found = np.zeros_like(inputs[0])
        np.add.at(found, _leading(inputs[1]), grad)
        return found

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Put the shape of the indices in place of the axes that they number."""
        shape, indices = shapes
        return (*indices[:-1], *shape[indices[-1] :])


def _leading(indices: Array) -> tuple[Array, ...]:
    return tuple(indices[..., at] for at in range(indices.shape[-1]))


ARGMAX, TOP_K, GATHER, GATHER_ND = ArgMax(), TopK(), Gather(), GatherND()
