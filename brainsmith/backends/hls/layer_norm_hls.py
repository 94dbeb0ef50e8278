"""LayerNormHLS: the LayerNorm kernel in HLS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.backends.hls import float_operators as fp
from brainsmith.backends.hls.row_hls import RowHLS
from brainsmith.backends.rtl.layer_norm_rtl import layer_norm_resources
from brainsmith.kernels.layer_norm import LayerNormKernel
from brainsmith.plugin.core import backend

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.synthesis.cells import Resources


@backend(
    kernel="LayerNorm",
    backend_type="hls",
    description="Layer normalisation of integers or floats in C++",
)
class LayerNormHLS(RowHLS, LayerNormKernel):
    """Integers bit for bit as the kernel computes them, or single precision."""

    sources = ("lanes.hpp", "layer_norm.hpp")
    template = "layer_norm"

    def further_sizes(self) -> Mapping[str, int]:
        """Return the bits of the product with the root; an output fits, too."""
        arithmetic = self.arithmetic()
        exact = arithmetic.centred_limit.bit_length() + 2 + arithmetic.root_bits
        return {"product_bits": max(exact, arithmetic.output_bits + 1)}

    def float_arguments(self) -> tuple[str, ...]:
        """Return epsilon."""
        return (f"{float(self.get_nodeattr('epsilon'))!r}f",)

    def integer_resources(self, family: str) -> Resources:
        """Return what LayerNormRTL needs."""
        return layer_norm_resources(self, family)

    def float_resources(self) -> tuple[Resources, Resources]:
        """Return 3 sums and 2 products for each lane; once, square root, division and two rows."""
        simd = self.get_nodeattr("SIMD")
        row = fp.row_buffer(self.get_normal_input_shape()[-1] // simd, 32 * simd)
        shared = fp.ADD + fp.MULTIPLY.times(2) + fp.SQUARE_ROOT + fp.DIVIDE + row.times(2)
        return fp.ADD.times(3) + fp.MULTIPLY.times(2), shared
