"""What each cell of a synthesised design costs."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from operator import add, attrgetter
from typing import TYPE_CHECKING

from brainsmith.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Resources:
    """What a circuit needs of a part.

    Attributes:
        lut: Look-up tables, those that serve as memory among them.
        lutram: Those of them that are memory or shift registers.
        ff: Flip-flops.
        bram18: Block RAMs of 18 Kbit; one of 36 Kbit counts as two.
        dsp: DSP slices.
        uram: UltraRAMs of 288 Kbit.
        carry: Carry chains, in steps of 4 bits.
    """

    lut: int = 0
    lutram: int = 0
    ff: int = 0
    bram18: int = 0
    dsp: int = 0
    uram: int = 0
    carry: int = 0

    def __add__(self, other: Resources) -> Resources:
        return Resources(*map(add, _figures(self), _figures(other)))

    def times(self, count: int) -> Resources:
        """Return what several of the same need."""
        return Resources(*(count * value for value in _figures(self)))


_figures = attrgetter(*(each.name for each in fields(Resources)))
"""The figures in their order; `dataclasses.astuple` copies each, which costs ten times as much."""

_MEMORY_LUTS = {
    "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8,
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8,
    "RAM16X1S": 1, "RAM16X1D": 2, "RAM32X2S": 2, "RAM32X4S": 4, "RAM32X8S": 8,
    "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8, "RAM64X8SW": 8, "RAM32X16DR8": 8,
    "SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1,
}  # fmt: skip
"""LUTs that a memory or a shift register made of LUTs takes (AMD UG474, UG574)."""

_KINDS = (
    (r"LUT[1-6]|LUT6_2|INV", Resources(lut=1)),
    (r"FD[RSCP]E(?:_1)?|LD[CP]E", Resources(ff=1)),
    (r"RAMB18E[12]", Resources(bram18=1)),
    (r"RAMB36E[12]", Resources(bram18=2)),
    (r"URAM288(?:_BASE)?", Resources(uram=1)),
    (r"DSP48E[12]|DSP58|DSPFP32", Resources(dsp=1)),
    (r"CARRY4", Resources(carry=1)),
    (r"CARRY8", Resources(carry=2)),
    (r"MUXF[789]|GND|VCC|BUFG|\$scopeinfo", Resources()),
)


def cost(cells: Mapping[str, int], what: str) -> Resources:
    """Add up what cells need.

    Args:
        cells: How many there are of each type.
        what: What was synthesised; for the message.

    Raises:
        BuildError: A type is not known: nothing is left out silently.
    """
    total = Resources()
    unknown = []
    for kind, count in cells.items():
        one = _one(kind)
        if one is None:
            unknown.append(f"{count} {kind}")
        else:
            total += one.times(count)
    if unknown:
        raise BuildError(
            f"{what}: Yosys left cells of unknown cost: {', '.join(sorted(unknown))}\n"
            "  the figures would be too low without them; please report this with the layer's sources"
        )
    return total


def _one(kind: str) -> Resources | None:
    luts = _MEMORY_LUTS.get(kind)
    if luts is not None:
        return Resources(lut=luts, lutram=luts)
    return next((value for pattern, value in _KINDS if re.fullmatch(pattern, kind)), None)
