"""What ends a classifier: an image as one row, and the greatest values of a row."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Array, Shape


class Flatten(Primitive):
    """Each sample as one row: (N, ...) to (N, everything)."""

    name, num_inputs = "flatten", 1
    onnx = OnnxForm("Flatten", attributes=lambda call: {"axis": 1})

    def forward(self, x: Array, **attributes: Any) -> Array:
        """Lay the axes behind the first one in a row."""
        return x.reshape(self.output_shape([x.shape]))

    def gradient(
        self, at: int, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any
    ) -> Array:
        """Give the gradient the input's shape."""
        return grad_output.reshape(inputs[0].shape)

    def validate_inputs(self, inputs: Sequence[Array], **attributes: Any) -> None:
        """Refuse what has no samples."""
        if inputs[0].ndim == 0:
            raise OpError("flatten takes an array of samples (N, ...), not a number")

    def output_shape(self, shapes: Sequence[Shape], **attributes: Any) -> Shape:
        """Multiply the axes behind the first one."""
        return (shapes[0][0], prod(shapes[0][1:]))

    def output_datatype(self, datatypes: Sequence[str], **attributes: Any) -> str:
        """Keep the input's."""
        return datatypes[0]


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

    def gradient(
        self, at: int, grad_output: Any, inputs: Sequence[Array], output: Any, **attributes: Any
    ) -> Array:
        """Give each gradient to the value that was chosen."""
        found = np.zeros_like(inputs[0])
        np.put_along_axis(found, output[1], grad_output[0], axis=-1)
        return found

    def validate_inputs(self, inputs: Sequence[Array], **attributes: Any) -> None:
        """Refuse rows of fewer values than are asked for."""
        width = inputs[0].shape[-1] if inputs[0].ndim else 0
        if not 1 <= attributes["k"] <= width:
            raise OpError(f"top_k of rows of {width} values needs k from 1 to {width}, not {attributes['k']}")

    def output_shape(self, shapes: Sequence[Shape], **attributes: Any) -> tuple[Shape, Shape]:
        """Shorten the rows."""
        shape = (*shapes[0][:-1], attributes["k"])
        return shape, shape

    def output_dtype(self, dtypes: Sequence[np.dtype[Any]], **attributes: Any) -> Any:
        """Keep the values' dtype; indices are int64, as in ONNX."""
        return dtypes[0], np.dtype(np.int64)


FLATTEN, TOP_K = Flatten(), TopK()
