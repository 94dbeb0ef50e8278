"""What all primitives share: a gradient for one input at a time, an ONNX form, rules that need no second look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.op import Gradient, Op
from brainsmith.errors import GradientError

if TYPE_CHECKING:
    from brainsmith.autodiff.op import Array, Arrays, Needed, Shape
    from brainsmith.autodiff.primitives.onnx_form import OnnxForm


class Primitive(Op):
    """An op of the tape itself. It is in no registry, so a user's op may have the same name.

    Attributes:
        onnx: The ONNX node that it is; None if there is none.
    """

    trusted = True
    onnx: OnnxForm | None = None

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Return the gradient of one input, of its shape.

        Raises:
            GradientError: There is none.
        """
        raise GradientError(self.no_gradient_message)

    @property
    def no_gradient_message(self) -> str:
        """The message for a gradient that does not exist."""
        return f"operation {self.name!r} has no gradient: its derivative is zero almost everywhere"

    @property
    def has_gradient(self) -> bool:
        """Whether `gradient` is defined."""
        return type(self).gradient is not Primitive.gradient

    def backward(self, grad_output: Any, inputs: Arrays, output: Any, **attributes: Any) -> Any:
        """Return the gradient of each input; None for those that are not differentiable."""
        return PrimitiveGradient(self, tuple(inputs), output, attributes).gradients(grad_output)

    def create_gradient_function(self, inputs: Arrays, output: Any, **attributes: Any) -> Gradient:
        """Return the gradient at a point."""
        if not self.has_gradient:
            raise GradientError(self.no_gradient_message)
        return PrimitiveGradient(self, tuple(inputs), output, attributes)


class PrimitiveGradient(Gradient):
    """The gradient of one call of a primitive: only what is asked for is computed."""

    __slots__ = ()

    def gradients(self, grad_output: Any, needed: Needed | None = None) -> tuple[Array | None, ...]:
        """Return the gradients of the inputs that are needed, each in its dtype; None for the others."""
        op, inputs = self._op, self._inputs
        assert isinstance(op, Primitive)
        attributes, output, excluded = self._attributes, self._output, op.not_differentiable
        found: list[Array | None] = []
        for at, given in enumerate(inputs):
            if (needed is not None and not needed[at]) or at in excluded:
                found.append(None)
                continue
            gradient = op.gradient(at, grad_output, inputs, output, **attributes)
            if gradient.dtype != given.dtype and given.dtype.kind == "f":
                gradient = gradient.astype(given.dtype)
            found.append(gradient)
        return tuple(found)


def sum_to(gradient: Array, shape: Shape) -> Array:
    """Sum a gradient over the axes along which numpy repeated an operand of a shape."""
    if gradient.shape == shape:
        return gradient
    extra = gradient.ndim - len(shape)
    repeated = tuple(range(extra)) + tuple(
        extra + axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[extra + axis] != 1
    )
    return np.asarray(gradient.sum(axis=repeated, keepdims=True)).reshape(shape)
