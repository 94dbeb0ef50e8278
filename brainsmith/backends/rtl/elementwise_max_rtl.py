"""ElementwiseMaxRTL: FINN's ElementwiseMax kernel for integers in RTL."""

from __future__ import annotations

from math import ceil

from finn.custom_op.fpgadataflow.elementwise_binary import ElementwiseMax

from brainsmith.backends.rtl.elementwise_backend import ElementwiseBackend
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.costs import comparator_luts

NIBBLE, SHARED = 4, 2
"""Of more bits, a comparator shares so many LUTs with the choices behind it."""

FEW = 3
"""Up to so many bits of both operands a bit of the result is a LUT."""


@backend(
    kernel="finn:ElementwiseMax",
    backend_type="rtl",
    description="The greater of two integers, value by value: of two streams, or of a stream and a constant",
    op_type="ElementwiseMaxInt_rtl",
)
class ElementwiseMaxRTL(ElementwiseBackend, ElementwiseMax):
    """The greater of two branches, as a maxout has it, or of a stream and a constant."""

    operations = ("MAX", "MAX")
    results = "maxima"

    def lane(self, family: str) -> tuple[float, int]:
        """Return a comparator, and a choice for each bit.

        Bits that an unsigned operand does not have are held at 0 by their registers where it is chosen. By one constant
        half of the bits need a choice, and a LUT compares five.
        """
        narrow, wide = sorted(
            (self.get_input_datatype(at) for at in (0, 1)), key=lambda kind: int(kind.bitwidth())
        )
        few, bits = int(narrow.bitwidth()), int(wide.bitwidth())
        if len(self.fed_inputs()) == 1 and self.table().depth == 1:
            return bits / 2 + ceil(bits / 5), 0
        if bits <= FEW:
            return float(bits), 0
        if narrow.signed():
            return float(comparator_luts(bits) + bits - (SHARED if bits > NIBBLE else 0)), 0
        return float(comparator_luts(few) + few + ceil((bits - few) / 5)), 0
