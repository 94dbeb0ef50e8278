"""EmbeddedVVAURTL: FINN's VVAU kernel, a depthwise convolution, in RTL for every part."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.vectorvectoractivation import VVAU

from brainsmith.backends.rtl.embedded_products import EmbeddedProducts
from brainsmith.backends.rtl.embedded_resources import vvau_resources, weight_table
from brainsmith.plugin.core import backend
from brainsmith.plugin.info import Priority
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, gathered

if TYPE_CHECKING:
    import numpy.typing as npt

    from brainsmith.rtl.synthesis.cells import Resources


@backend(
    kernel="finn:VVAU",
    backend_type="rtl",
    description="Depthwise convolution of windows, its weights inside, on every part",
    op_type="EmbeddedVVAU_rtl",
    priority=Priority.LOW,  # after FINN's, which takes three products into a DSP slice of Versal
)
class EmbeddedVVAURTL(EmbeddedProducts, VVAU):
    """`PE` channels at once and `SIMD` positions of their windows, after a depthwise sliding window."""

    core = "embedded_vvau_core"
    parts = ("binary_mvau_sum.sv", "constant_rom.sv", "integer_product.sv", "table_in_step.sv")

    @property
    def products(self) -> int:
        """The positions of a window."""
        return prod(int(size) for size in self.get_nodeattr("Kernel"))

    @property
    def rows(self) -> int:
        """The channels."""
        return int(self.get_nodeattr("Channels"))

    def weight_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the constants of the node, (channels, 1, height, width), as (channels, positions)."""
        return values.reshape(self.rows, self.products)

    def beat_schedule(self) -> BeatSchedule:
        """Return that the beats of a window are one result, after the products and the tree of their sums."""
        (taken,), (given,) = self.frame_beats()
        schedule = gathered(taken, given, 3 + (int(self.get_nodeattr("SIMD")) - 1).bit_length())
        return replace(schedule, begin=weight_table(self).begin)

    def core_resources(self, family: str) -> Resources:
        """Return the memory of the weights, multipliers, adders, and registers."""
        return vvau_resources(self, family)

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return PE, which the window in front follows, then SIMD, for which it gives all its positions at once."""
        channels, window = divisors(self.rows), self.products
        if window == 1:
            return (Parallelism("PE", channels),)
        return (
            Parallelism("PE", channels, "SIMD"),
            Parallelism("SIMD", divisors(window), "parallel_window"),
        )
