"""SoftmaxRTL: the Softmax kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.backends.rtl.multiplier import multiplier
from brainsmith.backends.rtl.page_memory import in_blocks
from brainsmith.backends.rtl.row_backend import RowBackend
from brainsmith.backends.rtl.row_parallelism import SPARE, queue_depth, queue_resources
from brainsmith.kernels.softmax import SoftmaxKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.tables import Table, make_table
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.kernels.integer_softmax import IntegerSoftmax


@backend(
    name="SoftmaxRTL",
    kernel="Softmax",
    backend_type="rtl",
    description="Softmax of rows of integers: a table of powers, one bit of the reciprocal per cycle",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    domain="brainsmith.backends.rtl",
)
class SoftmaxRTL(RowBackend, SoftmaxKernel):
    """`SIMD` elements a beat; a row takes its beats or its reciprocal's bits and 2 cycles, whichever is more."""

    core = "softmax_core"
    parts = ("constant_rom.sv", "page_memory.sv", "row_queue.sv", "softmax_reciprocal.sv")

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the sizes of a row, the widths of the integers, and the table's file."""
        arithmetic, simd = self.arithmetic(), self.get_nodeattr("SIMD")
        beats, bits = arithmetic.size // simd, self.get_input_datatype().bitwidth()
        depth = queue_depth(beats, arithmetic.serial_cycles)
        return {
            "SIZE": arithmetic.size,
            "SIMD": simd,
            "IN_BITS": bits,
            "IN_SIGNED": int(self.get_input_datatype().signed()),
            "OUT_BITS": arithmetic.output_bits,
            **{name.upper(): value for name, value in arithmetic.widths().items()},
            "TABLE": f"./{self._table_file()}",
            "TABLE_STYLE": self.table().style,
            "IN_DEPTH": beats + SPARE,
            "IN_BLOCK": int(in_blocks(beats + SPARE, bits * simd)),
            "POWER_DEPTH": depth,
            "POWER_BLOCK": int(in_blocks(depth, (arithmetic.power_fraction + 1) * simd)),
        }

    def table(self) -> Table:
        """Return the table of powers of a lane: in LUTs if it is small, else in block RAM."""
        arithmetic = self.arithmetic()
        return make_table(arithmetic.power_fraction + 1, 1 << arithmetic.address_bits, "auto")

    def core_memories(self, model: ModelWrapper) -> Mapping[str, str]:
        """Return the table of powers."""
        digits = -(-(self.arithmetic().power_fraction + 1) // 4)
        return {self._table_file(): "".join(f"{power:0{digits}x}\n" for power in self.arithmetic().table)}

    def _table_file(self) -> str:
        return f"{self.onnx_node.name}_powers.dat"

    def core_resources(self) -> Resources:
        """Return the comparators, adders, tables and multipliers of the lanes, the divider, and two queues."""
        arithmetic, simd = self.arithmetic(), self.get_nodeattr("SIMD")
        beats = arithmetic.size // simd
        powers = queue_depth(beats, arithmetic.serial_cycles)
        queues = queue_resources(beats + SPARE, self.get_instream_width()) + queue_resources(
            powers, (arithmetic.power_fraction + 1) * simd
        )
        bits = self.get_input_datatype().bitwidth()
        return softmax_resources(arithmetic, simd, bits) + self.table().resources().times(simd) + queues


def softmax_resources(arithmetic: IntegerSoftmax, simd: int, bits: int) -> Resources:
    """Return what a layer needs besides its tables and queues.

    Args:
        arithmetic: The integers.
        simd: Lanes.
        bits: Of an input.
    """
    width = arithmetic.widths()
    total, power, reciprocal = width["sum_bits"], width["power_bits"], width["reciprocal_bits"]
    count = 3 * (arithmetic.size // simd - 1).bit_length()
    given = arithmetic.output_bits
    division = Resources(lut=3 * total + 7, ff=2 * total + 1 + reciprocal + (reciprocal - 1).bit_length() + 2)
    shared = Resources(lut=20 + count, ff=3 * bits + total + reciprocal + count + 14)
    chosen = 3 * bits // 2 + 1  # the greater of two
    lane = Resources(
        lut=chosen + bits + width["address_bits"] + total + given + 2,
        ff=width["address_bits"] + power + reciprocal + given,
    )
    return division + shared + (lane + multiplier(power, reciprocal)).times(simd)
