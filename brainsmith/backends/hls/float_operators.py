"""What single-precision operators and row buffers cost in HLS: a model for estimates, not a measurement.

The figures are round numbers of the usual size for AMD's single-precision cores on UltraScale+ (an adder on two
DSP slices, a multiplier on three), not taken from a synthesis run: expect them to be off by half. FINN+ 1.6.1 has
no figures at all for these layers (its estimates are 0).
"""

from __future__ import annotations

from brainsmith.rtl.synthesis.cells import Resources

ADD = Resources(lut=220, dsp=2)
MULTIPLY = Resources(lut=80, dsp=3)
DIVIDE = Resources(lut=780)
SQUARE_ROOT = Resources(lut=460)
EXPONENTIAL = Resources(lut=650, dsp=7)
COMPARE = Resources(lut=70)
FROM_INTEGER = Resources(lut=120)
CONTROL = Resources(lut=300)
"""Loop counters, stream handshakes and the dataflow regions' start logic of one layer."""

SHIFT_REGISTER_DEPTH = 64
"""Up to this depth a FIFO is made of shift registers, 32 bits in a LUT; else of block RAM, 512 x 36."""


def row_buffer(depth: int, width: int) -> Resources:
    """Return the cost of a FIFO of `depth` words of `width` bits."""
    if depth <= SHIFT_REGISTER_DEPTH:
        return Resources(lut=width * -(-depth // 32))
    return Resources(lut=50, bram18=-(-width // 36) * -(-depth // 512))
