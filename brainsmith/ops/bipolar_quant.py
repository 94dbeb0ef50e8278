"""bipolar_quant: the sign of each value, times a scale, as QONNX's BipolarQuant defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxForm
from brainsmith.autodiff.primitives.primitive import sum_to
from brainsmith.ops.quantiser import ALL, QuantiserOp, as_number, is_traced, sign_of
from brainsmith.plugin.core import op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Array, Arrays, Constants, Needed
    from brainsmith.execution.program.program_node import ProgramNode


@op(
    name="bipolar_quant",
    num_inputs=2,
    version="1.0.0",
    description="The sign of a value, times a scale: QONNX's BipolarQuant",
    tags=("quantiser",),
)
class BipolarQuant(QuantiserOp):
    """scale where x >= 0, -scale elsewhere; in every bit what QONNX's BipolarQuant computes.

    Inputs are x and scale (one element, or broadcast to x). NaN gives -scale.

    The gradient is straight through: where |x| <= |scale| the sign of x / |scale| counts as x / |scale| itself, beyond
    as a constant (Hubara et al., NIPS 2016, arXiv:1602.02830). For the scale that is LSQ's gradient, as of int_quant. The
    surrogate holds the difference between the two constant. It is exported as BipolarQuant.
    """

    name = "bipolar_quant"
    num_inputs = 2
    onnx = OnnxForm("BipolarQuant", domain="qonnx.custom_op.general")

    def to_program(self, node: ProgramNode) -> None:
        """Emit what QONNX's BipolarQuant is."""
        from brainsmith.execution.operators.quantisers import bipolar_quant  # which training does not need

        bipolar_quant(node).to_program(node)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Quantise."""
        x, scale = inputs
        if is_traced(x):
            return sign_of(x) * scale
        return (sign_of(x) * as_number(scale)).reshape(x.shape)

    def backward(
        self, grad_output: Any, inputs: Arrays, output: Any, *, needed: Needed = ALL, **attributes: Any
    ) -> tuple[Array | None, ...]:
        """Return the straight-through gradients of x and scale; None for one that is not needed."""
        x, scale = inputs
        one = as_number(scale)
        value = _ratio(x, one)
        within = np.abs(value) <= 1
        by_x = np.where(within, grad_output * np.sign(one), 0) if needed[0] else None
        if not needed[1]:
            return by_x, None
        factor = sign_of(x) - np.where(within, value, 0)
        return by_x, sum_to(np.asarray(grad_output * factor), scale.shape)

    def surrogate(self, x: Array, scale: Array, *, at: Arrays) -> Any:
        """Clip, and add what taking the sign changed at the point."""
        held = sign_of(at[0]) - np.clip(_ratio(*at), -1, 1)
        return (np.clip(_ratio(x, scale), -1, 1) + held) * scale

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Refuse a scale of 0, and one that x would have to grow for."""
        self.expect_scale(inputs[1], inputs[0])

    def samples(self, random: np.random.Generator) -> Sequence[Any]:
        """Draw values within and beyond the scale, which is of either sign, per channel or one for all."""
        scale = random.uniform(0.5, 1.5, (1, 3, 1) if random.integers(2) else ())
        return [random.normal(0, 1.5, (2, 3, 4)), scale * random.choice([-1.0, 1.0])]

    def output_datatype_for(self, datatypes: Sequence[str], constants: Constants, **attributes: Any) -> str:
        """Return BIPOLAR for scale 1, FLOAT32 for another."""
        scale = constants[1]
        return "BIPOLAR" if scale is not None and np.all(scale == 1) else "FLOAT32"


def _ratio(x: Array, scale: Array) -> Any:
    with np.errstate(over="ignore"):
        return x / np.abs(scale)
