"""SoftmaxRTL: the Softmax kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.backends.rtl.row_parallelism import SPARE, queue_depth, queue_is_block, row_parallelism
from brainsmith.kernels.softmax import SoftmaxKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.support import SUPPORTED, Support, unsupported
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.cores.parallelism import Parallelism

BLOCK_TABLE_FROM = 7
"""From so many bits of address on a table is block RAM."""


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
class SoftmaxRTL(CoreBackend, SoftmaxKernel):
    """`SIMD` elements a beat; a row takes its beats or its reciprocal's bits and 2 cycles, whichever is more."""

    core = "softmax_core"
    parts = ("constant_rom.sv", "page_memory.sv", "row_queue.sv", "softmax_reciprocal.sv")

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the node computes integers, and these fit."""
        if not node.is_integer():
            return unsupported("its output is FLOAT32, and its core computes with integers")
        problem = node.try_arithmetic()[1]
        return unsupported(problem) if problem else SUPPORTED

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the sizes of a row, the widths of the integers, and the table's file."""
        arithmetic, simd = self.arithmetic(), self.get_nodeattr("SIMD")
        beats = arithmetic.size // simd
        depth = queue_depth(beats, arithmetic.serial_cycles)
        return {
            "SIZE": arithmetic.size,
            "SIMD": simd,
            "IN_BITS": self.get_input_datatype().bitwidth(),
            "IN_SIGNED": int(self.get_input_datatype().signed()),
            "OUT_BITS": arithmetic.output_bits,
            **{name.upper(): value for name, value in arithmetic.widths().items()},
            "TABLE": f"./{self._table_file()}",
            "TABLE_STYLE": "block" if arithmetic.address_bits >= BLOCK_TABLE_FROM else "distributed",
            "IN_DEPTH": beats + SPARE,
            "IN_BLOCK": int(queue_is_block(beats + SPARE)),
            "POWER_DEPTH": depth,
            "POWER_BLOCK": int(queue_is_block(depth)),
        }

    def core_memories(self, model: ModelWrapper) -> Mapping[str, str]:
        """Return the table of powers."""
        digits = -(-(self.arithmetic().power_fraction + 1) // 4)
        return {self._table_file(): "".join(f"{power:0{digits}x}\n" for power in self.arithmetic().table)}

    def _table_file(self) -> str:
        return f"{self.onnx_node.name}_powers.dat"

    def core_resources(self) -> Resources:
        """Return what."""
        return Resources()

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, up to where the division takes longer than a row's beats."""
        return row_parallelism(self.arithmetic().size, self.arithmetic().serial_cycles)
