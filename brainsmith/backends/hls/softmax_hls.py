"""SoftmaxHLS: the Softmax kernel in HLS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.backends.hls import float_operators as fp
from brainsmith.backends.hls.cpp_constants import table_function
from brainsmith.backends.hls.row_hls import RowHLS
from brainsmith.backends.rtl.softmax_rtl import softmax_resources
from brainsmith.kernels.softmax import SoftmaxKernel
from brainsmith.plugin.core import backend

if TYPE_CHECKING:
    from brainsmith.rtl.synthesis.cells import Resources


@backend(
    kernel="Softmax",
    backend_type="hls",
    description="Softmax of integers or floats in C++",
)
class SoftmaxHLS(RowHLS, SoftmaxKernel):
    """Integers bit for bit as the kernel computes them, or single precision."""

    sources = ("lanes.hpp", "softmax.hpp")
    template = "softmax"

    def table(self) -> str:
        """Return the table of powers."""
        return table_function("power", self.arithmetic().table)

    def integer_resources(self, family: str) -> Resources:
        """Return what SoftmaxRTL needs."""
        return softmax_resources(self, family)

    def float_resources(self) -> tuple[Resources, Resources]:
        """Return a comparison, 2 sums, an exponential and a division for each lane; once, two rows."""
        simd = self.get_nodeattr("SIMD")
        depth, bits = self.get_normal_input_shape()[-1] // simd, self.get_input_datatype().bitwidth()
        rows = fp.row_buffer(depth, bits * simd) + fp.row_buffer(depth, 32 * simd)
        return fp.COMPARE + fp.ADD.times(2) + fp.EXPONENTIAL + fp.DIVIDE, rows
