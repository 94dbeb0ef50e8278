"""power_of_two_quant: int_quant whose scale is a power of two, so that hardware shifts where it would multiply."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import OpError
from brainsmith.ops.integer_quantiser import IntegerQuantiser
from brainsmith.ops.quantiser import ALL, is_traced
from brainsmith.plugin.core import op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Array, Arrays, Constants, Needed
    from brainsmith.execution.program.program_node import ProgramNode


def power_of_two(scale: Array) -> Array:
    """Return the power of two that is nearest to each scale on a logarithmic axis, in its dtype."""
    exact: Array = np.exp2(np.round(np.log2(scale.astype(np.float64))))
    return np.asarray(exact, scale.dtype if scale.dtype.kind == "f" else np.float32)


@op(
    name="power_of_two_quant",
    num_inputs=4,
    version="1.0.0",
    description="int_quant with the power of two that is nearest to the scale",
    tags=("quantiser",),
)
class PowerOfTwoQuant(IntegerQuantiser):
    """int_quant with 2 ** round(log2(scale)) in place of scale; the scale must be positive.

    The gradient is int_quant's. For the scale, rounding log2(scale) counts as a function with derivative 1, as in TQT
    (Jain et al., MLSys 2020, arXiv:1903.08066; there it is the ceiling): the power of two moves as the scale does, in
    proportion. It is exported as Quant, with the power of two as its scale; that must be a constant of the graph.
    """

    name = "power_of_two_quant"
    onnx = replace(IntegerQuantiser.onnx, converted={**IntegerQuantiser.onnx.converted, 1: power_of_two})

    def to_program(self, node: ProgramNode) -> None:
        """Emit what QONNX's Quant is, with the power of two."""
        from brainsmith.execution.operators.quantisers import quant  # which training does not need

        read = quant(node, narrow=False)
        scale = None if read.scale is None else power_of_two(read.scale)
        replace(read, scale=scale).to_program(node)

    def forward(self, x: Array, scale: Array, zero_point: Array, bits: Array, **attributes: Any) -> Any:
        """Quantise with the power of two."""
        if is_traced(x):
            raise OpError(
                f"operation {self.name!r} cannot be compiled: it rounds the logarithm of its scale, which a loop computes "
                "to some ulps only; compile int_quant, and give it the power of two as scale"
            )
        return super().forward(x, power_of_two(scale), zero_point, bits, **attributes)

    def backward(
        self, grad_output: Any, inputs: Arrays, output: Any, *, needed: Needed = ALL, **attributes: Any
    ) -> Constants:
        """Return int_quant's gradients; the scale's in proportion."""
        x, scale, zero_point, bits = inputs
        power = power_of_two(scale)
        by_x, by_power, by_zero, _ = super().backward(
            grad_output, (x, power, zero_point, bits), output, needed=needed, **attributes
        )
        return by_x, None if by_power is None else by_power * (power / scale), by_zero, None

    def surrogate(
        self, x: Array, scale: Array, zero_point: Array, bits: Array, *, at: Arrays, **attributes: Any
    ) -> Any:
        """Take int_quant's, with the ratio of power and scale held."""
        power = power_of_two(at[1])
        there = (at[0], power, *at[2:])
        return super().surrogate(x, scale * (power / at[1]), zero_point, bits, at=there, **attributes)

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Refuse what int_quant refuses, and a scale below 0."""
        super().validate_inputs(inputs, **attributes)
        if not (inputs[1] > 0).all():
            raise OpError(f"scale of {self.name} must be greater than 0")

    def output_datatype_for(self, datatypes: Sequence[str], constants: Constants, **attributes: Any) -> str:
        """Return int_quant's for the power of two."""
        scale = constants[1]
        known = (constants[0], None if scale is None else power_of_two(scale), *constants[2:])
        return super().output_datatype_for(datatypes, known, **attributes)
