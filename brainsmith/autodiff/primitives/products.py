"""Matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive, sum_to

if TYPE_CHECKING:
    from brainsmith.autodiff.op import Array, Arrays, Dtypes, Shapes


class MatMul(Primitive):
    """The product of two stacks of matrices, (..., n, k) by (..., k, m); a vector counts as one row or one column."""

    name, num_inputs = "matmul", 2
    onnx = OnnxForm("MatMul")

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Multiply them."""
        return np.matmul(*inputs)

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Multiply by the other operand, transposed; the stacks that were repeated are added up."""
        left, right = inputs
        if right.ndim == 1:
            grad, right = grad[..., None], right[:, None]
        if left.ndim == 1:
            grad = grad[..., None, :] if inputs[1].ndim > 1 else grad[None]
            left = left[None]
        if at == 0:
            full = np.matmul(grad, right.swapaxes(-1, -2))
            return sum_to(full, left.shape).reshape(inputs[0].shape)
        if right.ndim == 2 and left.ndim > 2:
            # One product of two tall matrices instead of a stack of small ones that is added up.
            full = left.reshape(-1, left.shape[-1]).T @ grad.reshape(-1, grad.shape[-1])
        else:
            full = np.matmul(left.swapaxes(-1, -2), grad)
        return sum_to(full, right.shape).reshape(inputs[1].shape)

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Drop the axis that is summed; the axes before matrices broadcast."""
        left, right = shapes
        front = np.broadcast_shapes(left[:-2], right[:-2])
        rows = left[-2:-1] if len(left) > 1 else ()
        columns = right[-1:] if len(right) > 1 else ()
        return (*front, *rows, *columns)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Follow numpy's promotion."""
        return np.matmul.resolve_dtypes((*dtypes, None))[-1]


MATMUL = MatMul()
