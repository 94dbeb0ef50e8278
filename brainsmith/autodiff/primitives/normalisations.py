"""Softmax, its logarithm, and layer normalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxCall, OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive, sum_to
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.autodiff.op import Array, Arrays, Dtypes, Shapes


def _axis(call: OnnxCall) -> Mapping[str, Any]:
    axis = call.attributes["axis"] % call.rank
    if call.opset < 13 and axis != call.rank - 1:
        raise OpError(
            f"the ONNX operators Softmax and LogSoftmax are over one axis since opset 13; for opset {call.opset} "
            f"it must be the last one, not {call.attributes['axis']} of {call.rank} axes"
        )
    return {"axis": axis}


class OverAxis(Primitive):
    """A function over one `axis` that keeps the shape, of floating-point numbers."""

    attributes: ClassVar[Mapping[str, Any]] = {"axis": -1}

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Follow numpy's exp."""
        return np.exp.resolve_dtypes((dtypes[0], None))[-1]


class Softmax(OverAxis):
    """exp(x) divided by its sum over the axis; the greatest element is subtracted first, so nothing overflows."""

    name = "softmax"
    onnx = OnnxForm("Softmax", attributes=_axis)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Compute it."""
        (x,), axis = inputs, attributes["axis"]
        powers = np.exp(x - x.max(axis=axis, keepdims=True))
        return powers / powers.sum(axis=axis, keepdims=True)

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Return y * (g - sum(g * y))."""
        shared = (grad * output).sum(axis=attributes["axis"], keepdims=True)
        return np.asarray(output * (grad - shared))


class LogSoftmax(OverAxis):
    """The logarithm of softmax, exact where softmax itself is 0 in floating point."""

    name = "log_softmax"
    onnx = OnnxForm("LogSoftmax", attributes=_axis)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Compute it."""
        (x,), axis = inputs, attributes["axis"]
        moved = x - x.max(axis=axis, keepdims=True)
        return moved - np.log(np.exp(moved).sum(axis=axis, keepdims=True))

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Return g - softmax(x) * sum(g)."""
        return np.asarray(grad - np.exp(output) * grad.sum(axis=attributes["axis"], keepdims=True))


class LayerNorm(Primitive):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, over the last axis (Ba, Kiros, Hinton 2016)."""

    name, num_inputs = "layer_norm", 3
    attributes: ClassVar[Mapping[str, Any]] = {"epsilon": 1e-5}
    onnx = OnnxForm(
        "LayerNormalization",
        since=17,
        attributes=lambda call: {"axis": -1, "epsilon": float(call.attributes["epsilon"])},
    )

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Compute it."""
        x, scale, bias = inputs
        return _normalised(x, attributes["epsilon"])[0] * scale + bias

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Take the parts of mean and variance out of the gradient of x."""
        x, scale, bias = inputs
        if at == 2:
            return sum_to(grad, bias.shape)
        unit, deviation = _normalised(x, attributes["epsilon"])
        if at == 1:
            return sum_to(grad * unit, scale.shape)
        inner = grad * scale
        along = (inner * unit).mean(axis=-1, keepdims=True)
        return np.asarray((inner - inner.mean(axis=-1, keepdims=True) - unit * along) / deviation)

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Refuse what has no last axis, and a scale or bias that would make the result larger."""
        x = inputs[0]
        if x.ndim == 0:
            raise OpError("layer_norm takes an array with at least one axis, not a number")
        for what, array in (("scale", inputs[1]), ("bias", inputs[2])):
            if np.broadcast_shapes(x.shape, array.shape) != x.shape:
                raise OpError(f"layer_norm: {what} of shape {array.shape} does not fit x of shape {x.shape}")

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Keep that of x."""
        return shapes[0]

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Follow numpy's promotion."""
        return np.result_type(np.sqrt.resolve_dtypes((dtypes[0], None))[-1], *dtypes[1:])


def _normalised(x: Array, epsilon: float) -> tuple[Array, Array]:
    """Return x with mean 0 and deviation 1 over the last axis, and the deviation it had."""
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + epsilon)
    return centred / deviation, deviation


SOFTMAX, LOG_SOFTMAX, LAYER_NORM = Softmax(), LogSoftmax(), LayerNorm()
