"""SoftmaxHLS: the Softmax kernel in HLS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.backends.hls import float_operators as fp
from brainsmith.backends.hls.cpp_constants import lane_kind, lane_problem, parameters, table_function
from brainsmith.backends.rtl.row_parallelism import SPARE, queue_depth, queue_resources
from brainsmith.backends.rtl.softmax_rtl import softmax_resources
from brainsmith.hls.node import HlsNode
from brainsmith.kernels.softmax import SoftmaxKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.tables import make_table

if TYPE_CHECKING:
    from brainsmith.kernels.integer_softmax import IntegerSoftmax
    from brainsmith.rtl.synthesis.cells import Resources


@backend(
    name="SoftmaxHLS",
    kernel="Softmax",
    backend_type="hls",
    description="Softmax of integers or floats in C++",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    domain="brainsmith.backends.hls",
)
class SoftmaxHLS(HlsNode, SoftmaxKernel):
    """Integers bit for bit as the kernel computes them, or single precision."""

    sources = ("lanes.hpp", "softmax.hpp")

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the integers fit, or can be read as floats."""
        problem = node.try_arithmetic()[1] if node.is_integer() else lane_problem(node.get_input_datatype())
        return unsupported(problem) if problem else SUPPORTED

    def constants(self) -> str:
        """Return the struct that softmax.hpp takes, with the table of powers."""
        shape, simd = self.get_normal_input_shape(), self.get_nodeattr("SIMD")
        sizes = {"rows": int(np.prod(shape[:-1])), "size": int(shape[-1]), "simd": simd}
        table = ""
        if self.is_integer():
            arithmetic = self.arithmetic()
            kept = {"kept_beats": 2 * (int(shape[-1]) // simd) + arithmetic.serial_cycles}
            sizes |= arithmetic.widths() | kept | {"output_bits": arithmetic.output_bits}
            table = table_function("power", arithmetic.table)
        kind = lane_kind(self.get_input_datatype())
        return parameters(f"{self.onnx_node.name}_parameters", kind, sizes, table)

    def call(self) -> str:
        """Return the call of the template."""
        function = "softmax" if self.is_integer() else "softmax_float"
        return f"brainsmith::{function}<{self.onnx_node.name}_parameters>(in0_V, out0_V);"

    def hls_resources(self) -> Resources:
        """Return the estimate.

        Integers: what the same arithmetic takes as SoftmaxRTL, with a block RAM or LUTs for each lane's table.
        Floats: per lane a comparison, 2 sums, an exponential and a division.
        """
        simd = self.get_nodeattr("SIMD")
        if self.is_integer():
            return self._integer_cost(self.arithmetic(), simd)
        bits = self.get_input_datatype().bitwidth()
        lane = fp.COMPARE + fp.ADD.times(2) + fp.EXPONENTIAL + fp.DIVIDE
        if self.get_input_datatype().is_integer():
            lane = lane + fp.FROM_INTEGER
        depth = self.get_normal_input_shape()[-1] // simd
        rows = fp.row_buffer(depth, bits * simd) + fp.row_buffer(depth, 32 * simd)
        return lane.times(simd) + rows + fp.CONTROL

    def _integer_cost(self, arithmetic: IntegerSoftmax, simd: int) -> Resources:
        power, beats = arithmetic.power_fraction + 1, arithmetic.size // simd
        used = softmax_resources(arithmetic, simd, self.get_input_datatype().bitwidth())
        used += make_table(power, len(arithmetic.table), "auto").resources().times(simd)
        used += queue_resources(beats + SPARE, self.get_instream_width())
        used += queue_resources(queue_depth(beats, arithmetic.serial_cycles), power * simd)
        return used + fp.CONTROL
