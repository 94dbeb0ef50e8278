"""EmbeddedMVAURTL: FINN's MVAU kernel in RTL for every part, for all weights and inputs that are integers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from brainsmith.backends.rtl.embedded_matrix import EmbeddedMatrix
from brainsmith.backends.rtl.embedded_resources import mvau_resources, weight_table
from brainsmith.plugin.core import backend
from brainsmith.plugin.info import Priority

if TYPE_CHECKING:
    from brainsmith.rtl.synthesis.cells import Resources
    from brainsmith.rtl.timing.beat_schedule import BeatSchedule


@backend(
    kernel="finn:MVAU",
    backend_type="rtl",
    description="Products with a matrix of any integers, its weights inside, on every part",
    op_type="EmbeddedMVAU_rtl",
    priority=Priority.LOW,  # after FINN's, which takes several products into a DSP slice
)
class EmbeddedMVAURTL(EmbeddedMatrix):
    """`PE` rows of the matrix at once, and `SIMD` values of a vector."""

    core = "embedded_mvau_core"
    parts = (
        "binary_mvau_sum.sv",
        "constant_rom.sv",
        "integer_product.sv",
        "table_in_step.sv",
        "binary_mvau_replay.sv",
        "embedded_vvau_core.sv",
    )

    def beat_schedule(self) -> BeatSchedule:
        """Return that of a matrix; the first turn waits for the first weights."""
        return replace(super().beat_schedule(), begin=weight_table(self).begin)

    def pipeline(self) -> int:
        """Return a cycle for values and weights, one for their products, the tree of sums, and the sum so far."""
        return 3 + (int(self.get_nodeattr("SIMD")) - 1).bit_length()

    def core_resources(self, family: str) -> Resources:
        """Return the memories of vectors and weights, multipliers, adders, and registers."""
        return mvau_resources(self, family)
