"""The steps of the tape as functions: `from brainsmith.ops import functional as F`.

Each takes Tensors, arrays and numbers. With a Tensor among them the result is one, and the tape goes on; without one
the result is an array. Those that move elements come from `functional_shapes`, those on images from
`functional_images`.

A definition without a body is one entry of all that is known of a function: above its name, parameters and documentation
stand its numpy form, its ONNX operator and its derivatives. From it are made the function here, numpy's own on Tensors,
export, and what the compiler knows. A method of Tensors is one more line (`tape/methods.py`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from brainsmith.autodiff import special
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
from brainsmith.autodiff.primitives import elementwise, gathers, normalisations, products
from brainsmith.autodiff.primitives.elementwise import derivatives_of_choice, elementwise_step
from brainsmith.autodiff.primitives.elementwise import relu as _relu
from brainsmith.autodiff.primitives.elementwise import sigmoid as _sigmoid
from brainsmith.autodiff.primitives.reductions import (
    Axes,
    reduction_form,
    reduction_step,
    share_of_mean,
    share_of_ones,
    share_of_reached,
)
from brainsmith.errors import OpError


@elementwise_step(np.exp, "Exp", lambda g, x, out: g * out, ulps=(4, 3))
def exp(x: Any) -> Any:
    """Return e to the power of x."""


@elementwise_step(np.log, "Log", lambda g, x, out: g / x, ulps=(5, 3))
def log(x: Any) -> Any:
    """Return the natural logarithm."""


@elementwise_step(np.log1p, "", lambda g, x, out: g / (1 + x), ulps=(5, 3))
def log1p(x: Any) -> Any:
    """Return log(1 + x), exact for small x; ONNX has no node for it."""


@elementwise_step(np.expm1, "", lambda g, x, out: g * (out + 1), ulps=(5, 3))
def expm1(x: Any) -> Any:
    """Return exp(x) - 1, exact for small x; ONNX has no node for it."""


@elementwise_step(np.sqrt, "Sqrt", lambda g, x, out: g * 0.5 / out)
def sqrt(x: Any) -> Any:
    """Return the square root."""


@elementwise_step(np.absolute, "Abs", lambda g, x, out: g * np.sign(x), forms=(np.absolute, np.fabs))
def abs(x: Any) -> Any:
    """Return the absolute value; its gradient at 0 is 0."""


@elementwise_step(np.sin, "Sin", lambda g, x, out: g * np.cos(x), since=7, ulps=(4, 3))
def sin(x: Any) -> Any:
    """Return the sine."""


@elementwise_step(np.cos, "Cos", lambda g, x, out: -g * np.sin(x), since=7, ulps=(4, 3))
def cos(x: Any) -> Any:
    """Return the cosine."""


@elementwise_step(np.tanh, "Tanh", lambda g, x, out: g * (1 - out * out), ulps=(6, 4))
def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""


@elementwise_step(_sigmoid, "Sigmoid", lambda g, x, out: g * out * (1 - out), like=np.exp)
def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x))."""


@elementwise_step(
    special.erf,
    "Erf",
    lambda g, x, out: g * (np.exp(-x * x) * (2 / math.sqrt(math.pi))),
    since=9,
    like=np.exp,
    forms=(special.erf,),
)
def erf(x: Any) -> Any:
    """Return the error function."""


@elementwise_step(_relu, "Relu", lambda g, x, out: g * (x > 0), like=np.positive)
def relu(x: Any) -> Any:
    """Return max(x, 0); its gradient at 0 is 0."""


@elementwise_step(np.rint, "Round", since=11)
def round(x: Any) -> Any:
    """Return the nearest integer, of two the even one; it has no gradient."""


@elementwise_step(np.floor, "Floor")
def floor(x: Any) -> Any:
    """Return the greatest integer that is not above x; it has no gradient."""


@elementwise_step(np.sign, "Sign", since=9)
def sign(x: Any) -> Any:
    """Return -1, 0 or 1; it has no gradient."""


@elementwise_step(np.maximum, "Max", *derivatives_of_choice(np.greater), since=8)
def maximum(left: Any, right: Any) -> Any:
    """Return the greater of two elements; where they are equal, each gets half of the gradient."""


@elementwise_step(np.minimum, "Min", *derivatives_of_choice(np.less), since=8)
def minimum(left: Any, right: Any) -> Any:
    """Return the lesser of two elements; where they are equal, each gets half of the gradient."""


@elementwise_step(np.greater, "Greater", since=9)
def greater(left: Any, right: Any) -> Any:
    """Return whether left > right, on the tape; it has no gradient."""


@elementwise_step(np.greater_equal, "GreaterOrEqual", since=12)
def greater_equal(left: Any, right: Any) -> Any:
    """Return whether left >= right, on the tape; it has no gradient."""


@elementwise_step(np.less, "Less", since=9)
def less(left: Any, right: Any) -> Any:
    """Return whether left < right, on the tape; it has no gradient."""


@elementwise_step(np.less_equal, "LessOrEqual", since=12)
def less_equal(left: Any, right: Any) -> Any:
    """Return whether left <= right, on the tape; it has no gradient."""


@elementwise_step(np.equal, "Equal", since=11)
def equal(left: Any, right: Any) -> Any:
    """Return whether left == right, on the tape; it has no gradient."""


@elementwise_step(np.logical_and, "And", since=7)
def logical_and(left: Any, right: Any) -> Any:
    """Return whether both are true, on the tape."""


@elementwise_step(np.logical_or, "Or", since=7)
def logical_or(left: Any, right: Any) -> Any:
    """Return whether one is true, on the tape."""


def matmul(left: Any, right: Any) -> Any:
    """Return the matrix product."""
    return run_op(products.MATMUL, (left, right))


@elementwise_step(np.logical_not, "Not")
def logical_not(x: Any) -> Any:
    """Return whether it is not true, on the tape."""


@reduction_step(np.sum, np.add, "Sum", reduction_form("ReduceSum", 13), share_of_ones)
def sum(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the sum over axes."""


@reduction_step(np.mean, None, "Sum", reduction_form("ReduceMean", 18), share_of_mean)
def mean(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the mean over axes."""


@reduction_step(np.max, np.maximum, "Greatest", reduction_form("ReduceMax", 18), share_of_reached)
def max(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the greatest element over axes; where several are, the gradient is divided among them."""


@reduction_step(np.min, np.minimum, "Least", reduction_form("ReduceMin", 18), share_of_reached)
def min(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the least element over axes; where several are, the gradient is divided among them."""


def var(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return the variance over axes, of the whole population: the mean of the squared distances from the mean."""
    centred = x - mean(x, axis, keepdims=True)
    return mean(centred * centred, axis, keepdims)


def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the index of the greatest element along an axis, or in the flattened array; it has no gradient."""
    if axis is not None:
        return run_op(gathers.ARGMAX, (x,), {"axis": axis, "keepdims": keepdims})
    found = run_op(gathers.ARGMAX, (reshape(x, (-1,)),), {"axis": 0, "keepdims": keepdims})
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
    return run_op(elementwise.WHERE, (condition, chosen, other))


def clip(x: Any, low: float | None = None, high: float | None = None) -> Any:
    """Return x, but no less than `low` and no more than `high`; bounds that are arrays work too."""
    if all(bound is None or isinstance(bound, int | float | np.generic) for bound in (low, high)):
        bounds = {"low": low, "high": high}
        plain = {key: b.item() if isinstance(b, np.generic) else b for key, b in bounds.items()}
        return run_op(elementwise.CLIP, (x,), plain)
    raised = x if low is None else maximum(x, low)
    return raised if high is None else minimum(raised, high)


def cast(x: Any, dtype: Any) -> Any:
    """Return the elements as another dtype."""
    return run_op(elementwise.CAST, (x,), {"dtype": np.dtype(dtype).name})


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
