"""Primitives that work element by element, with numpy's broadcasting and its rules of dtypes.

What is known of one stands in one place: `functional` has those that are functions, here are the operators alone. The
functions themselves, numpy's ufuncs on Tensors (`tape/numpy_calls.py`), export, and what is compiled
(`compiling/functions.py`) are made from it.
"""

from __future__ import annotations

from functools import update_wrapper
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from brainsmith.autodiff.calls import run_op
from brainsmith.autodiff.primitives.onnx_form import OnnxCall, OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive, sum_to
from brainsmith.errors import GradientError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brainsmith.autodiff.op import Array, Arrays, Dtypes, Shapes

_Function = TypeVar("_Function", bound="Callable[..., Any]")

ELEMENTWISE: dict[str, Elementwise] = {}
"""Each of them, by name."""


class Elementwise(Primitive):
    """An elementwise function, with the derivative by each of its inputs.

    Args:
        name: What it is called.
        function: What it computes: a numpy ufunc, or a function that is made of them.
        onnx: The ONNX operator; empty for none.
        derivatives: For each input, a function (grad_output, *inputs, output) that gives the gradient; none at all
            for a function whose derivative is zero almost everywhere.
        since: The first opset in which the ONNX operator means the same.
        like: The ufunc whose rule of dtypes holds; the function itself if it is one.
        forms: The functions of arrays that compute it and are compiled under their own names; the function itself if
            it is a ufunc.
        ulps: How near the compiled forms are to these (`compiling/functions.py`).
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        onnx: str,
        *derivatives: Callable[..., Array],
        since: int = 1,
        like: np.ufunc | None = None,
        forms: tuple[Callable[..., Any], ...] = (),
        ulps: tuple[int, int] = (0, 0),
    ) -> None:
        self.name, self.function, self.derivatives, self.ulps = name, function, derivatives, ulps
        self.onnx = OnnxForm(onnx, since=since) if onnx else None
        self.forms = forms or ((function,) if isinstance(function, np.ufunc) else ())
        rule = like or function
        assert isinstance(rule, np.ufunc)
        self.num_inputs, self._rule = rule.nin, rule
        ELEMENTWISE[name] = self

    @property
    def has_gradient(self) -> bool:
        """Whether derivatives were given."""
        return bool(self.derivatives)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Apply the function."""
        return self.function(*inputs)

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Multiply by the derivative, and add up what broadcasting repeated."""
        gradient = np.asarray(self.derivatives[at](grad, *inputs, output))
        shape = inputs[at].shape
        return gradient if gradient.shape == shape else sum_to(gradient, shape)

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Follow numpy's broadcasting."""
        return np.broadcast_shapes(*shapes)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Follow numpy's promotion."""
        return self._rule.resolve_dtypes((*dtypes, None))[-1]


def elementwise_step(
    function: Callable[..., Any], onnx: str, *derivatives: Callable[..., Array], **more: Any
) -> Callable[[_Function], _Function]:
    """Make a function of the tape's of a definition that has its name, parameters and documentation, and no body.

    Args:
        function: As of `Elementwise`, like all others.
        onnx: Likewise.
        derivatives: Likewise.
        more: Likewise.
    """

    def made(definition: _Function) -> _Function:
        op = Elementwise(definition.__name__, function, onnx, *derivatives, **more)

        def of_one(x: Any) -> Any:
            return run_op(op, (x,))

        def of_two(left: Any, right: Any) -> Any:
            return run_op(op, (left, right))

        return cast("_Function", update_wrapper(of_one if op.num_inputs == 1 else of_two, definition))

    return made


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)), from exponentials that cannot overflow; integers have no -x, so they become floats."""
    if x.dtype.kind != "f":
        x = x.astype(np.exp.resolve_dtypes((x.dtype, None))[-1])
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def relu(x: Any) -> Any:
    """Return max(x, 0), in the dtype of x."""
    return np.maximum(x, np.zeros((), x.dtype))


def derivatives_of_choice(chosen: np.ufunc) -> tuple[Callable[..., Array], Callable[..., Array]]:
    """Return the derivatives of the greater or the lesser of two operands: where both are equal, each gets half."""

    def by_left(g: Array, a: Array, b: Array, out: Array) -> Any:
        return g * (chosen(a, b) + 0.5 * (a == b))

    return by_left, lambda g, a, b, out: by_left(g, b, a, out)


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


ADD = Elementwise("add", np.add, "Add", lambda g, a, b, out: g, lambda g, a, b, out: g)
SUB = Elementwise("sub", np.subtract, "Sub", lambda g, a, b, out: g, lambda g, a, b, out: -g)
MUL = Elementwise("mul", np.multiply, "Mul", lambda g, a, b, out: g * b, lambda g, a, b, out: g * a)
DIV = Elementwise("div", np.true_divide, "Div", lambda g, a, b, out: g / b, lambda g, a, b, out: -g * out / b)
POW = Elementwise("pow", _power, "Pow", _by_base, _by_exponent, like=np.power, forms=(np.power,), ulps=(5, 4))
NEG = Elementwise("neg", np.negative, "Neg", lambda g, x, out: -g)


class Where(Primitive):
    """The second input where the first one is true, the third one elsewhere."""

    name, num_inputs = "where", 3
    not_differentiable = (0,)
    onnx = OnnxForm("Where", since=9)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Choose element by element."""
        condition, chosen, other = inputs
        return np.where(condition.astype(np.bool_, copy=False), chosen, other)

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Let through what was chosen."""
        mine = (inputs[0] != 0) == (at == 1)
        return sum_to(np.where(mine, grad, np.zeros((), grad.dtype)), inputs[at].shape)

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Follow numpy's broadcasting."""
        return np.broadcast_shapes(*shapes)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Follow numpy's promotion."""
        return np.result_type(*dtypes[1:])


def _bounds(call: OnnxCall) -> tuple[Array | None, ...]:
    low, high = (call.attributes[name] for name in ("low", "high"))
    return tuple(None if bound is None else np.array(bound, call.dtype) for bound in (low, high))


class Clip(Primitive):
    """x, but no less than `low` and no more than `high`, which are numbers; None is no bound."""

    name = "clip"
    attributes: ClassVar[Mapping[str, Any]] = {"low": None, "high": None}
    onnx = OnnxForm("Clip", since=11, constants=_bounds)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Clip it."""
        return np.clip(inputs[0], attributes["low"], attributes["high"])

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Let through what is between the bounds, or on one."""
        return np.asarray(grad * (inputs[0] == output))

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Follow numpy's promotion."""
        return self.forward(np.ones(1, dtypes[0]), **attributes).dtype


def _element_type(call: OnnxCall) -> Mapping[str, Any]:
    from onnx import helper  # which only export needs

    return {"to": int(helper.np_dtype_to_tensor_dtype(np.dtype(call.attributes["dtype"])))}


class Cast(Primitive):
    """The elements as another `dtype`; there is a gradient only to floating-point numbers."""

    name = "cast"
    attributes: ClassVar[Mapping[str, Any]] = {"dtype": "float32"}
    onnx = OnnxForm("Cast", since=9, attributes=_element_type)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Convert them."""
        return inputs[0].astype(attributes["dtype"])

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Give the gradient the input's dtype."""
        if output.dtype.kind != "f":
            raise GradientError(f"a cast to {output.dtype} has no gradient; to leave it out, use x.detach()")
        return grad.astype(inputs[0].dtype)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Give the dtype."""
        return np.dtype(attributes["dtype"])


WHERE, CLIP, CAST = Where(), Clip(), Cast()
