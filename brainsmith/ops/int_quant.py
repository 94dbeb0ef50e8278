"""int_quant: values rounded to integers of so many bits, times a scale, as QONNX's Quant defines it."""

from __future__ import annotations

from brainsmith.ops.integer_quantiser import IntegerQuantiser
from brainsmith.plugin.core import op


@op(
    name="int_quant",
    num_inputs=4,
    version="1.0.0",
    description="Integers of a number of bits, times a scale: QONNX's Quant",
    tags=("quantiser",),
)
class IntQuant(IntegerQuantiser):
    """(round(clip(x / scale + zero_point)) - zero_point) * scale, in every bit what QONNX's Quant computes.

    Inputs are x, scale and zero_point (one element, or broadcast to x: per channel), and bits (one whole number, 1 to
    32). One signed bit gives -1 and 1. NaN stays NaN.

    The gradient is straight through: rounding counts as a function with derivative 1 (Bengio et al., arXiv:1308.3432),
    clipping with its own. For the scale that is the gradient of LSQ (Esser et al., ICLR 2020, arXiv:1902.08153), without
    that paper's normalisation by the number of elements. The surrogate says the same as a function: the difference that
    rounding makes at the point is held constant. It is exported as Quant.
    """

    name = "int_quant"
