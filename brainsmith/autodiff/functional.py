"""The steps of the tape as functions: `from brainsmith.ops import functional as F`.

Each takes Tensors, arrays and numbers. With a Tensor among them the result is one, and the tape goes on; without one
the result is an array. Those that move elements come from `functional_shapes`, those on images from
`functional_images`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.calls import run_op
from brainsmith.autodiff.functional_images import conv2d as conv2d
from brainsmith.autodiff.functional_images import flatten as flatten
from brainsmith.autodiff.functional_images import global_average_pool as global_average_pool
from brainsmith.autodiff.functional_images import max_pool2d as max_pool2d
from brainsmith.autodiff.functional_images import top_k as top_k
from brainsmith.autodiff.functional_shapes import concat as concat
from brainsmith.autodiff.functional_shapes import expand as expand
from brainsmith.autodiff.functional_shapes import expand_dims as expand_dims
from brainsmith.autodiff.functional_shapes import gather as gather
from brainsmith.autodiff.functional_shapes import gather_nd as gather_nd
from brainsmith.autodiff.functional_shapes import index as index
from brainsmith.autodiff.functional_shapes import pad as pad
from brainsmith.autodiff.functional_shapes import reshape as reshape
from brainsmith.autodiff.functional_shapes import squeeze as squeeze
from brainsmith.autodiff.functional_shapes import stack as stack
from brainsmith.autodiff.functional_shapes import transpose as transpose
from brainsmith.autodiff.primitives import choices, elementwise, normalisations, products, reductions
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from brainsmith.autodiff.primitives.reductions import Axes


def exp(x: Any) -> Any:
    """Return e to the power of x."""
    return run_op(elementwise.EXP, (x,))


def log(x: Any) -> Any:
    """Return the natural logarithm."""
    return run_op(elementwise.LOG, (x,))


def log1p(x: Any) -> Any:
    """Return log(1 + x), exact for small x; ONNX has no node for it."""
    return run_op(elementwise.LOG1P, (x,))


def expm1(x: Any) -> Any:
    """Return exp(x) - 1, exact for small x; ONNX has no node for it."""
    return run_op(elementwise.EXPM1, (x,))


def sqrt(x: Any) -> Any:
    """Return the square root."""
    return run_op(elementwise.SQRT, (x,))


def abs(x: Any) -> Any:
    """Return the absolute value; its gradient at 0 is 0."""
    return run_op(elementwise.ABS, (x,))


def sin(x: Any) -> Any:
    """Return the sine."""
    return run_op(elementwise.SIN, (x,))


def cos(x: Any) -> Any:
    """Return the cosine."""
    return run_op(elementwise.COS, (x,))


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    return run_op(elementwise.TANH, (x,))


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x))."""
    return run_op(elementwise.SIGMOID, (x,))


def erf(x: Any) -> Any:
    """Return the error function."""
    return run_op(elementwise.ERF, (x,))


def relu(x: Any) -> Any:
    """Return max(x, 0); its gradient at 0 is 0."""
    return run_op(elementwise.RELU, (x,))


def round(x: Any) -> Any:
    """Return the nearest integer, of two the even one; it has no gradient."""
    return run_op(elementwise.ROUND, (x,))


def floor(x: Any) -> Any:
    """Return the greatest integer that is not above x; it has no gradient."""
    return run_op(elementwise.FLOOR, (x,))


def sign(x: Any) -> Any:
    """Return -1, 0 or 1; it has no gradient."""
    return run_op(elementwise.SIGN, (x,))


def maximum(left: Any, right: Any) -> Any:
    """Return the greater of two elements; where they are equal, each gets half of the gradient."""
    return run_op(elementwise.MAXIMUM, (left, right))


def minimum(left: Any, right: Any) -> Any:
    """Return the lesser of two elements; where they are equal, each gets half of the gradient."""
    return run_op(elementwise.MINIMUM, (left, right))


def greater(left: Any, right: Any) -> Any:
    """Return whether left > right, on the tape; it has no gradient."""
    return run_op(choices.GREATER, (left, right))


def greater_equal(left: Any, right: Any) -> Any:
    """Return whether left >= right, on the tape; it has no gradient."""
    return run_op(choices.GREATER_EQUAL, (left, right))


def less(left: Any, right: Any) -> Any:
    """Return whether left < right, on the tape; it has no gradient."""
    return run_op(choices.LESS, (left, right))


def less_equal(left: Any, right: Any) -> Any:
    """Return whether left <= right, on the tape; it has no gradient."""
    return run_op(choices.LESS_EQUAL, (left, right))


def equal(left: Any, right: Any) -> Any:
    """Return whether left == right, on the tape; it has no gradient."""
    return run_op(choices.EQUAL, (left, right))


def logical_and(left: Any, right: Any) -> Any:
    """Return whether both are true, on the tape."""
    return run_op(choices.LOGICAL_AND, (left, right))


def logical_or(left: Any, right: Any) -> Any:
    """Return whether one is true, on the tape."""
    return run_op(choices.LOGICAL_OR, (left, right))


def matmul(left: Any, right: Any) -> Any:
    """Return the matrix product."""
    return run_op(products.MATMUL, (left, right))


def logical_not(x: Any) -> Any:
    """Return whether it is not true, on the tape."""
    return run_op(choices.LOGICAL_NOT, (x,))


def sum(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the sum over axes."""
    return run_op(reductions.SUM, (x,), {"axis": axis, "keepdims": keepdims})


def mean(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the mean over axes."""
    return run_op(reductions.MEAN, (x,), {"axis": axis, "keepdims": keepdims})


def max(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the greatest element over axes; where several are, the gradient is divided among them."""
    return run_op(reductions.MAX, (x,), {"axis": axis, "keepdims": keepdims})


def min(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the least element over axes; where several are, the gradient is divided among them."""
    return run_op(reductions.MIN, (x,), {"axis": axis, "keepdims": keepdims})


def var(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the variance over axes, of the whole population: the mean of the squared distances from the mean."""
    centred = x - mean(x, axis, keepdims=True)
    return mean(centred * centred, axis, keepdims)


def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the index of the greatest element along an axis, or in the flattened array; it has no gradient."""
    if axis is not None:
        return run_op(choices.ARGMAX, (x,), {"axis": axis, "keepdims": keepdims})
    found = run_op(choices.ARGMAX, (reshape(x, (-1,)),), {"axis": 0, "keepdims": keepdims})
    return reshape(found, (1,) * np.ndim(x)) if keepdims else found


def where(condition: Any, chosen: Any, other: Any) -> Any:
    """Return `chosen` where the condition holds, `other` elsewhere."""
    values = [value for value in (chosen, other) if hasattr(value, "dtype")]
    if values and not hasattr(condition, "dtype"):
        condition = np.asarray(condition, np.bool_)
    if len(values) == 1:
        # A number takes the dtype of the other value, not that of the condition.
        chosen, other = (
            v if hasattr(v, "dtype") else np.asarray(v, values[0].dtype) for v in (chosen, other)
        )
    elif not values:
        chosen, other = (np.asarray(value, np.float32) for value in (chosen, other))
    return run_op(choices.WHERE, (condition, chosen, other))


def clip(x: Any, low: float | None = None, high: float | None = None) -> Any:
    """Return x, but no less than `low` and no more than `high`; bounds that are arrays work too."""
    if all(bound is None or isinstance(bound, int | float | np.generic) for bound in (low, high)):
        bounds = {"low": low, "high": high}
        plain = {key: b.item() if isinstance(b, np.generic) else b for key, b in bounds.items()}
        return run_op(choices.CLIP, (x,), plain)
    raised = x if low is None else maximum(x, low)
    return raised if high is None else minimum(raised, high)


def cast(x: Any, dtype: Any) -> Any:
    """Return the elements as another dtype."""
    return run_op(choices.CAST, (x,), {"dtype": np.dtype(dtype).name})


def softmax(x: Any, axis: int = -1) -> Any:
    """Return exp(x) divided by its sum over an axis."""
    return run_op(normalisations.SOFTMAX, (x,), {"axis": axis})


def log_softmax(x: Any, axis: int = -1) -> Any:
    """Return the logarithm of softmax."""
    return run_op(normalisations.LOG_SOFTMAX, (x,), {"axis": axis})


def layer_norm(x: Any, scale: Any = 1.0, bias: Any = 0.0, epsilon: float = 1e-5) -> Any:
    """Return (x - mean) / sqrt(variance + epsilon) * scale + bias, over the last axis."""
    return run_op(normalisations.LAYER_NORM, (x, scale, bias), {"epsilon": epsilon})


def cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean of -log softmax(logits)[label] over samples.

    Args:
        logits: (N, classes).
        labels: N integers, the numbers of the classes.

    Raises:
        OpError: Shapes do not fit, or a label is no class.
    """
    whole = labels.numpy() if hasattr(labels, "numpy") else np.asarray(labels)
    samples, classes = np.shape(logits) if np.ndim(logits) == 2 else (-1, 0)
    if whole.shape != (samples,) or whole.dtype.kind not in "iu":
        raise OpError(
            "cross_entropy takes logits (N, classes) and N integers, not shapes "
            f"{np.shape(logits)} and {whole.shape} of {whole.dtype}"
        )
    if samples and not 0 <= whole.min() <= whole.max() < classes:
        raise OpError(f"labels must be from 0 to {classes - 1}, not from {whole.min()} to {whole.max()}")
    return -mean(gather_nd(log_softmax(logits), np.stack([np.arange(samples), whole], axis=-1)))
