"""What single-precision operators and row buffers cost in HLS: a model for estimates, not a measurement.

The figures are round numbers of the usual size for AMD's single-precision cores on UltraScale+ (an adder on two
DSP slices, a multiplier on three), not taken from a synthesis run: expect them to be off by half. FINN+ 1.6.1 has
no figures at all for these layers (its estimates are 0).
"""

from __future__ import annotations

from typing import NamedTuple


class Cost(NamedTuple):
    """LUTs, DSP slices and 18 Kb block RAMs."""

    lut: int = 0
    dsp: int = 0
    bram18: int = 0

    def times(self, count: int) -> Cost:
        """Return the cost of several."""
        return Cost(*(count * value for value in self))


ADD = Cost(lut=220, dsp=2)
MULTIPLY = Cost(lut=80, dsp=3)
DIVIDE = Cost(lut=780)
SQUARE_ROOT = Cost(lut=460)
EXPONENTIAL = Cost(lut=650, dsp=7)
COMPARE = Cost(lut=70)
FROM_INTEGER = Cost(lut=120)
CONTROL = Cost(lut=300)
"""Loop counters, stream handshakes and the dataflow regions' start logic of one layer."""

SHIFT_REGISTER_DEPTH = 64
"""Up to this depth a FIFO is made of shift registers, 32 bits in a LUT; else of block RAM, 512 x 36."""


def total(*costs: Cost) -> Cost:
    """Return the sum of costs."""
    return Cost(*(sum(values) for values in zip(*costs, strict=True)))


def row_buffer(depth: int, width: int) -> Cost:
    """Return the cost of a FIFO of `depth` words of `width` bits."""
    if depth <= SHIFT_REGISTER_DEPTH:
        return Cost(lut=width * -(-depth // 32))
    return Cost(lut=50, bram18=-(-width // 36) * -(-depth // 512))
