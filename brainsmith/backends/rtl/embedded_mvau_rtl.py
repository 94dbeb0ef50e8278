"""EmbeddedMVAURTL: FINN's MVAU kernel in RTL for every part, for all weights and inputs that are integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.matrixvectoractivation import MVAU

from brainsmith.backends.rtl.binary_mvau_rtl import narrow_beats_first
from brainsmith.backends.rtl.embedded_products import EmbeddedProducts
from brainsmith.backends.rtl.embedded_resources import mvau_resources
from brainsmith.plugin.core import backend
from brainsmith.plugin.info import Priority

if TYPE_CHECKING:
    import numpy.typing as npt

    from brainsmith.rtl.cores.parallelism import Parallelism
    from brainsmith.rtl.synthesis.cells import Resources


@backend(
    kernel="finn:MVAU",
    backend_type="rtl",
    description="Products with a matrix of any integers, its weights inside, on every part",
    requires=("finn-plus",),
    domain="finn.custom_op.fpgadataflow.rtl",
    op_type="EmbeddedMVAU_rtl",
    priority=Priority.LOW,  # behind FINN's, which takes several products into a DSP slice
)
class EmbeddedMVAURTL(EmbeddedProducts, MVAU):
    """`PE` rows of the matrix at once, and `SIMD` values of a vector."""

    core = "embedded_mvau_core"
    parts = (
        "binary_mvau_sum.sv",
        "constant_rom.sv",
        "integer_product.sv",
        "binary_mvau_replay.sv",
        "embedded_vvau_core.sv",
    )

    @property
    def products(self) -> int:
        """The values of a vector."""
        return int(self.get_nodeattr("MW"))

    @property
    def rows(self) -> int:
        """The rows of the matrix, as hardware has them: one for each result."""
        return int(self.get_nodeattr("MH"))

    def weight_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the constants of the node, (MW, MH), as (MH, MW)."""
        return values.T

    def core_resources(self) -> Resources:
        """Return the memories of vectors and weights, multipliers, adders, and registers."""
        return mvau_resources(self)

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD up to 64 values, then PE, then the rest of SIMD."""
        return narrow_beats_first(self)
