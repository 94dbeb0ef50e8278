"""What a multiplier of two integers needs of a part, as Yosys maps it."""

from __future__ import annotations

from brainsmith.rtl.synthesis.cells import Resources

DSP_PRODUCT, DSP_FACTOR = 9, 2
"""From these bits of the product and of each factor on, Yosys takes a DSP slice (its `mul2dsp`, as UG901 has it)."""

WIDE_BITS = {"xc7": 24, "xcu": 26, "xcup": 26, "versal": 26}
"""Bits of the wider factor of a slice, without a sign, by the family of the part (`DSP48E1`, `DSP48E2`)."""

SLICE_BITS = 17
"""Bits of the narrower factor of a slice, without a sign: a product of several slices is a sum of parts so far apart."""

LUT_INPUTS = 6

ROWS = 2
"""LUTs for each bit of one factor times each of the other, where a bit of the product needs more inputs than a LUT has."""


def multiplier(one: int, other: int, family: str, *, signed: tuple[bool, bool] = (False, False)) -> Resources:
    """Return what a product of two factors needs, without a register.

    Args:
        one: Bits of a factor.
        other: Bits of the other.
        family: Of the part.
        signed: Which of them is signed; a DSP slice has room for the sign.
    """
    if min(one, other) >= DSP_FACTOR and one + other >= DSP_PRODUCT:
        narrow, wide = sorted((one - signed[0], other - signed[1]))
        return Resources(dsp=-(-wide // WIDE_BITS[family]) * -(-narrow // SLICE_BITS))
    if min(one, other) == 1:
        return Resources(lut=max(one, other))
    if one + other <= LUT_INPUTS:
        return Resources(lut=one + other)
    return Resources(lut=ROWS * one * other - 4)


def bits_beside(slices: int) -> int:
    """Return the flip-flops beside a registered product's slices: the lowest bits of all its parts but the last."""
    return SLICE_BITS * max(slices - 1, 0)
