"""ElementwiseMulRTL: FINN's ElementwiseMul kernel for integers in RTL."""

from __future__ import annotations

from finn.custom_op.fpgadataflow.elementwise_binary import ElementwiseMul

from brainsmith.backends.rtl.elementwise_backend import ElementwiseBackend
from brainsmith.backends.rtl.embedded_resources import product_of
from brainsmith.backends.rtl.multiplier import LUT_INPUTS
from brainsmith.plugin.core import backend


@backend(
    kernel="finn:ElementwiseMul",
    backend_type="rtl",
    description="Integers multiplied value by value: two streams, or a stream and a constant",
    op_type="ElementwiseMulInt_rtl",
)
class ElementwiseMulRTL(ElementwiseBackend, ElementwiseMul):
    """The product of two branches (a gate), or of a stream and a constant: one number, or one for each channel."""

    operations = ("MUL", "MUL")
    results = "products"

    def lane(self, family: str) -> tuple[float, int]:
        """Return a multiplier; where a LUT has inputs for a value and the place of its constant, one for each bit."""
        one, other = self.get_input_datatype(0), self.get_input_datatype(1)
        found = product_of(one, other, family)
        fed, depth = self.fed_inputs(), self.table().depth
        address = (depth - 1).bit_length()
        if len(fed) == 1 and not found.resources.dsp and self._bits(fed[0]) + address <= LUT_INPUTS:
            return found.bits / (2 if depth == 1 else 1), 0  # of one word, half of the bits are 0 or copies
        return found.resources.lut, found.resources.dsp

    def _bits(self, ind: int) -> int:
        return int(self.get_input_datatype(ind).bitwidth())
