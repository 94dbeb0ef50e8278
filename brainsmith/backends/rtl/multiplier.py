"""What a multiplier of two integers needs of a part, as Yosys maps it."""

from __future__ import annotations

from brainsmith.rtl.synthesis.cells import Resources

DSP_PRODUCT, DSP_FACTOR = 9, 2
"""From these bits of the product and of each factor on, Yosys takes a DSP slice (its `mul2dsp`, as UG901 has it)."""

LUT_INPUTS = 6

ROWS = 2
"""LUTs for each bit of one factor times each of the other, where a bit of the product needs more inputs than a LUT has."""


def multiplier(one: int, other: int, *, signed: bool = False) -> Resources:
    """Return what a product of two factors needs, without a register.

    Args:
        one: Bits of a factor.
        other: Bits of the other.
        signed: Whether both are signed; a DSP slice has room for the sign.
    """
    if min(one, other) >= DSP_FACTOR and one + other >= DSP_PRODUCT:
        return Resources(dsp=-(-(one - signed) // 26) * -(-(other - signed) // 17))
    if min(one, other) == 1:
        return Resources(lut=max(one, other))
    if one + other <= LUT_INPUTS:
        return Resources(lut=one + other)
    return Resources(lut=ROWS * one * other - 4)
