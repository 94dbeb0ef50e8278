"""The steps of the tape as functions: `from brainsmith.ops import functional as F`.

Each takes Tensors, arrays and numbers. With a Tensor among them the result is one, and the tape goes on; without one
the result is an array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.autodiff.calls import call_op
from brainsmith.autodiff.primitives import elementwise as e
from brainsmith.autodiff.primitives import images, products, reductions, selection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Op
    from brainsmith.autodiff.primitives.reductions import Axes
    from brainsmith.autodiff.primitives.windows import Pair

_NONE: dict[str, Any] = {}


def run(op: Op, inputs: Sequence[Any], attributes: Mapping[str, Any] = _NONE) -> Any:
    """Run any op: on the tape if a Tensor is among the inputs, else on arrays."""
    for value in inputs:
        if getattr(value, "is_tape_tensor", False):
            return value.apply(op, inputs, attributes)
    return call_op(op, inputs, attributes)


def sum(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the sum over axes."""
    return run(reductions.SUM, (x,), {"axis": axis, "keepdims": keepdims})


def mean(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the mean over axes."""
    return run(reductions.MEAN, (x,), {"axis": axis, "keepdims": keepdims})


def max(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the greatest element; where several are, the gradient is divided among them."""
    return run(reductions.MAX, (x,), {"axis": axis, "keepdims": keepdims})


def min(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the least element; where several are, the gradient is divided among them."""
    return run(reductions.MIN, (x,), {"axis": axis, "keepdims": keepdims})


def exp(x: Any) -> Any:
    """Return e to the power of x."""
    return run(e.EXP, (x,))


def log(x: Any) -> Any:
    """Return the natural logarithm."""
    return run(e.LOG, (x,))


def sqrt(x: Any) -> Any:
    """Return the square root."""
    return run(e.SQRT, (x,))


def abs(x: Any) -> Any:
    """Return the absolute value; its gradient at 0 is 0."""
    return run(e.ABS, (x,))


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    return run(e.TANH, (x,))


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x))."""
    return run(e.SIGMOID, (x,))


def erf(x: Any) -> Any:
    """Return the error function."""
    return run(e.ERF, (x,))


def relu(x: Any) -> Any:
    """Return max(x, 0); its gradient at 0 is 0."""
    return run(e.RELU, (x,))


def matmul(left: Any, right: Any) -> Any:
    """Return the matrix product."""
    return run(products.MATMUL, (left, right))


def conv2d(x: Any, weight: Any, stride: Pair = 1, padding: Pair = 0, groups: int = 1) -> Any:
    """Return the cross-correlation of images (N, C, H, W) with weights (O, C / groups, KH, KW)."""
    return run(images.CONV2D, (x, weight), {"stride": stride, "padding": padding, "groups": groups})


def max_pool2d(x: Any, kernel: Pair = 2, stride: Pair | None = None, padding: Pair = 0) -> Any:
    """Return the greatest value of each window of images; of equal ones the first has the gradient."""
    return run(images.MAX_POOL2D, (x,), {"kernel": kernel, "stride": stride, "padding": padding})


def global_average_pool(x: Any) -> Any:
    """Return the mean of each channel of images, (N, C, 1, 1)."""
    return run(images.GLOBAL_AVERAGE_POOL, (x,))


def flatten(x: Any) -> Any:
    """Return each sample as one row, (N, everything)."""
    return run(selection.FLATTEN, (x,))


def top_k(x: Any, k: int = 1) -> Any:
    """Return the k greatest values of each row, the greatest first, of equals the first; and their indices."""
    return run(selection.TOP_K, (x,), {"k": k})
