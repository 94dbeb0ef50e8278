"""Values rounded to integers of so many bits, times a scale: the arithmetic of int_quant and power_of_two_quant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxForm
from brainsmith.autodiff.primitives.primitive import sum_to
from brainsmith.errors import OpError
from brainsmith.execution.program.functions.rounding_modes import ROUNDINGS
from brainsmith.ops.integer_levels import MOST_BITS, IntegerLevels
from brainsmith.ops.quantiser import ALL, QuantiserOp, as_number, is_traced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Array, Arrays, Constants, Needed
    from brainsmith.autodiff.primitives.onnx_form import OnnxCall
    from brainsmith.execution.program.program_node import ProgramNode


def _node_attributes(call: OnnxCall) -> Mapping[str, Any]:
    given = call.attributes
    return {
        "signed": int(given["signed"]),
        "narrow": int(given["narrow"]),
        "rounding_mode": given["rounding_mode"].upper(),
    }


def _scalar_bits(bits: Array) -> Array:
    return bits.reshape(()).astype(np.float32)


def _in_units(x: Any, scale: Any, zero_point: Any) -> Any:
    """Return values in units of the scale, from the zero point on."""
    with np.errstate(over="ignore"):
        return x / scale + zero_point


class IntegerQuantiser(QuantiserOp):
    """(round(clip(x / scale + zero_point)) - zero_point) * scale; straight through where it is within the range."""

    num_inputs = 4
    not_differentiable = (3,)
    attributes: ClassVar[Mapping[str, Any]] = {"signed": True, "narrow": False, "rounding_mode": "ROUND"}
    onnx = OnnxForm(
        "Quant", domain="qonnx.custom_op.general", attributes=_node_attributes, converted={3: _scalar_bits}
    )

    def to_program(self, node: ProgramNode) -> None:
        """Emit what QONNX's Quant is, with the op's own defaults."""
        from brainsmith.execution.operators.quantisers import quant  # which training does not need

        quant(node, narrow=False).to_program(node)

    def forward(self, x: Array, scale: Array, zero_point: Array, bits: Array, **attributes: Any) -> Any:
        """Quantise."""
        levels = IntegerLevels(bits, **attributes)
        if is_traced(x):
            return (levels.traced(x / scale + zero_point) - zero_point) * scale
        scale, zero_point = as_number(scale), as_number(zero_point)
        level = levels.rounded(_in_units(x, scale, zero_point))
        return ((level - zero_point) * scale).reshape(x.shape)

    def backward(
        self, grad_output: Any, inputs: Arrays, output: Any, *, needed: Needed = ALL, **attributes: Any
    ) -> Constants:
        """Return the straight-through gradients of x, scale and zero_point; None for those that are not needed."""
        x, scale, zero_point, bits = inputs
        one_scale, zero = as_number(scale), as_number(zero_point)
        levels, value = IntegerLevels(bits, **attributes), _in_units(x, one_scale, zero)
        within = levels.contain(value)
        by_x = by_scale = by_zero = None
        if needed[0]:
            by_x = np.where(within, grad_output, 0)
        if needed[1]:
            factor = levels.rounded(value) - zero - np.where(within, value - zero, 0)
            by_scale = sum_to(np.asarray(grad_output * factor), scale.shape)
        if needed[2]:
            by_zero = sum_to(np.asarray(grad_output * np.where(within, 0, -one_scale)), zero_point.shape)
        return by_x, by_scale, by_zero, None

    def surrogate(
        self, x: Array, scale: Array, zero_point: Array, bits: Array, *, at: Arrays, **attributes: Any
    ) -> Any:
        """Clip, and add what rounding changed at the point."""
        levels, there = IntegerLevels(at[3], **attributes), _in_units(*at[:3])
        held = levels.rounded(there) - levels.clip(there)
        clipped = IntegerLevels(bits, **attributes).clip(x / scale + zero_point)
        return (clipped + held - zero_point) * scale

    def validate_inputs(  # type: ignore[override]
        self, inputs: Arrays, *, signed: Any, narrow: Any, rounding_mode: Any
    ) -> None:
        """Refuse a scale of 0, bits that are no whole number, and shapes that x would have to grow for."""
        x, scale, zero_point, bits = inputs
        for what, given in (("signed", signed), ("narrow", narrow)):
            if not isinstance(given, int | np.integer | np.bool_) or given not in (0, 1):
                raise OpError(f"{what} of {self.name} must be True or False, not {given!r}")
        if not isinstance(rounding_mode, str) or rounding_mode.upper() not in ROUNDINGS:
            known = ", ".join(ROUNDINGS)
            raise OpError(f"rounding_mode of {self.name} must be one of {known}, not {rounding_mode!r}")
        self.expect_scale(scale, x)
        self.expect_broadcast("zero_point", zero_point, x)
        if bits.size != 1 or not 1 <= bits.item() <= MOST_BITS or bits.item() != int(bits.item()):
            raise OpError(
                f"bits of {self.name} must be one whole number from 1 to {MOST_BITS}, not {bits.tolist()}"
            )

    def samples(self, random: np.random.Generator) -> Sequence[Any]:
        """Draw values within and beyond the range of two to four bits, with scales per channel or one for all."""
        scale = random.uniform(0.3, 1.2, (1, 3, 1) if random.integers(2) else ())
        zero_point = random.integers(-1, 2, ()).astype(np.float64)
        return [random.normal(0, 2.5, (2, 3, 4)), scale, zero_point, np.array(random.integers(2, 5))]

    def output_datatype_for(self, datatypes: Sequence[str], constants: Constants, **attributes: Any) -> str:
        """Return INTn, UINTn, BIPOLAR or BINARY for scale 1 and zero point 0, FLOAT32 for others.

        QONNX calls integers with a scale SCALEDINT<n>; its InferDataTypes makes FLOAT32 of that by default.
        """
        scale, zero_point, bits = constants[1:]
        if scale is None or zero_point is None or bits is None or zero_point.any() or not np.all(scale == 1):
            return "FLOAT32"
        count = int(bits.item())
        signed = bool({**self.attributes, **attributes}["signed"])
        if count == 1:
            return "BIPOLAR" if signed else "BINARY"
        return f"INT{count}" if signed else f"UINT{count}"
