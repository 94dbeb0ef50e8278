"""LayerNormRTL: the LayerNorm kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.backends.rtl.row_parallelism import queue_depth, queue_is_block, row_parallelism
from brainsmith.kernels.layer_norm import LayerNormKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.support import SUPPORTED, Support, unsupported
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.cores.parallelism import Parallelism


@backend(
    name="LayerNormRTL",
    kernel="LayerNorm",
    backend_type="rtl",
    description="Rows of integers normalised, one root bit per cycle",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    domain="brainsmith.backends.rtl",
)
class LayerNormRTL(CoreBackend, LayerNormKernel):
    """`SIMD` elements a beat; a row takes its beats or its root's bits and 4 cycles, whichever is more."""

    core = "layer_norm_core"
    parts = ("page_memory.sv", "row_queue.sv", "layer_norm_root.sv")

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the node computes integers, and these fit."""
        if not node.is_integer():
            return unsupported("its output is FLOAT32, and its core computes with integers")
        problem = node.try_arithmetic()[1]
        return unsupported(problem) if problem else SUPPORTED

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the sizes of a row, and the widths of the integers."""
        arithmetic, simd = self.arithmetic(), self.get_nodeattr("SIMD")
        bits = self.get_input_datatype().bitwidth()
        depth = queue_depth(arithmetic.size // simd, arithmetic.serial_cycles)
        return {
            "SIZE": arithmetic.size,
            "SIMD": simd,
            "IN_BITS": bits,
            "IN_SIGNED": int(self.get_input_datatype().signed()),
            "OUT_BITS": arithmetic.output_bits,
            **{name.upper(): value for name, value in arithmetic.widths().items()},
            "DEPTH": depth,
            "BLOCK": int(queue_is_block(depth)),
        }

    def core_resources(self) -> Resources:
        """Return the adders of the root, and per lane those of sums, centring and rounding."""
        return Resources()

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, up to where the root takes longer than a row's beats."""
        return row_parallelism(self.arithmetic().size, self.arithmetic().serial_cycles)
