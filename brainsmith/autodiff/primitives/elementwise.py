"""Primitives that work element by element, with numpy's broadcasting and its rules of dtypes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive, sum_to
from brainsmith.autodiff.special import erf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.autodiff.op import Array, Shape


class Elementwise(Primitive):
    """An elementwise function, with the derivative by each of its inputs.

    Args:
        name: What it is called.
        function: What it computes: a numpy ufunc, or a function that is made of them.
        onnx: The ONNX operator, or None.
        derivatives: For each input, a function (grad_output, *inputs, output) that gives the gradient; none at all
            for a function whose derivative is zero almost everywhere.
        like: The ufunc whose rule of dtypes holds; the function itself if it is one.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        onnx: OnnxForm | None,
        *derivatives: Callable[..., Array],
        like: np.ufunc | None = None,
    ) -> None:
        self.name, self.function, self.onnx = name, function, onnx
        rule = like or function
        assert isinstance(rule, np.ufunc)
        self.num_inputs, self._rule, self.derivatives = rule.nin, rule, derivatives

    @property
    def has_gradient(self) -> bool:
        """Whether derivatives were given."""
        return bool(self.derivatives)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Apply the function."""
        return self.function(*inputs)

    def gradient(
        self, at: int, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any
    ) -> Array:
        """Multiply by the derivative, and add up what broadcasting repeated."""
        gradient = np.asarray(self.derivatives[at](grad_output, *inputs, output))
        shape = inputs[at].shape
        return gradient if gradient.shape == shape else sum_to(gradient, shape)

    def output_shape(self, shapes: Sequence[Shape], **attributes: Any) -> Any:
        """Follow numpy's broadcasting."""
        return np.broadcast_shapes(*shapes)

    def output_dtype(self, dtypes: Sequence[np.dtype[Any]], **attributes: Any) -> Any:
        """Follow numpy's promotion."""
        return self._rule.resolve_dtypes((*dtypes, None))[-1]


def _sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)), from exponentials that cannot overflow; integers have no -x, so they become floats."""
    if x.dtype.kind != "f":
        x = x.astype(np.exp.resolve_dtypes((x.dtype, None))[-1])
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def _relu(x: Any) -> Any:
    return np.maximum(x, np.zeros((), x.dtype))


def _share(won: Array, tied: Array) -> Array:
    """Return the part of a gradient that goes to an operand: half of it where both are equal."""
    return won + 0.5 * tied


def _power(x: Any, y: Any) -> Any:
    """Return x ** y; one exponent for all goes as a number, for which numpy knows squares and roots."""
    if _is_number(y) and x.dtype == y.dtype and x.dtype.kind == "f":
        return x ** y.item()
    return np.power(x, y)


def _is_number(y: Any) -> bool:
    """Tell whether it is an array without axes, and not a stand-in of the compiler's."""
    return isinstance(y, np.ndarray) and y.ndim == 0


def _by_base(grad: Array, x: Array, y: Array, output: Array) -> Array:
    """Return the gradient by the base; for an exponent of 0 it is 0, also where the base is 0."""
    if _is_number(y):
        return grad * (y * _power(x, y - 1)) if y else np.zeros_like(output)
    flat = y == 0
    return grad * np.where(flat, 0, y * np.power(x, np.where(flat, 1, y - 1)))


def _by_exponent(grad: Array, x: Array, y: Array, output: Array) -> Array:
    """Return the gradient by the exponent; for a base of 0 it is the limit from above, 0; below 0 it is NaN."""
    return grad * np.where((x == 0) & (y >= 0), 0, output * np.log(x))


ADD = Elementwise("add", np.add, OnnxForm("Add"), lambda g, a, b, out: g, lambda g, a, b, out: g)
SUB = Elementwise("sub", np.subtract, OnnxForm("Sub"), lambda g, a, b, out: g, lambda g, a, b, out: -g)
MUL = Elementwise("mul", np.multiply, OnnxForm("Mul"), lambda g, a, b, out: g * b, lambda g, a, b, out: g * a)
DIV = Elementwise(
    "div", np.true_divide, OnnxForm("Div"), lambda g, a, b, out: g / b, lambda g, a, b, out: -g * out / b
)
POW = Elementwise("pow", _power, OnnxForm("Pow"), _by_base, _by_exponent, like=np.power)
MAXIMUM = Elementwise(
    "maximum",
    np.maximum,
    OnnxForm("Max", since=8),
    lambda g, a, b, out: g * _share(a > b, a == b),
    lambda g, a, b, out: g * _share(b > a, a == b),
)
MINIMUM = Elementwise(
    "minimum",
    np.minimum,
    OnnxForm("Min", since=8),
    lambda g, a, b, out: g * _share(a < b, a == b),
    lambda g, a, b, out: g * _share(b < a, a == b),
)

NEG = Elementwise("neg", np.negative, OnnxForm("Neg"), lambda g, x, out: -g)
EXP = Elementwise("exp", np.exp, OnnxForm("Exp"), lambda g, x, out: g * out)
LOG = Elementwise("log", np.log, OnnxForm("Log"), lambda g, x, out: g / x)
SQRT = Elementwise("sqrt", np.sqrt, OnnxForm("Sqrt"), lambda g, x, out: g * 0.5 / out)
ABS = Elementwise("abs", np.absolute, OnnxForm("Abs"), lambda g, x, out: g * np.sign(x))
TANH = Elementwise("tanh", np.tanh, OnnxForm("Tanh"), lambda g, x, out: g * (1 - out * out))
SIGMOID = Elementwise(
    "sigmoid", _sigmoid, OnnxForm("Sigmoid"), lambda g, x, out: g * out * (1 - out), like=np.exp
)
ERF = Elementwise(
    "erf",
    erf,
    OnnxForm("Erf", since=9),
    lambda g, x, out: g * (np.exp(-x * x) * (2 / math.sqrt(math.pi))),
    like=np.exp,
)
RELU = Elementwise("relu", _relu, OnnxForm("Relu"), lambda g, x, out: g * (x > 0), like=np.positive)

SIN = Elementwise("sin", np.sin, OnnxForm("Sin", since=7), lambda g, x, out: g * np.cos(x))
COS = Elementwise("cos", np.cos, OnnxForm("Cos", since=7), lambda g, x, out: -g * np.sin(x))
LOG1P = Elementwise("log1p", np.log1p, None, lambda g, x, out: g / (1 + x))
EXPM1 = Elementwise("expm1", np.expm1, None, lambda g, x, out: g * (out + 1))

ROUND = Elementwise("round", np.rint, OnnxForm("Round", since=11))
FLOOR = Elementwise("floor", np.floor, OnnxForm("Floor"))
SIGN = Elementwise("sign", np.sign, OnnxForm("Sign", since=9))
