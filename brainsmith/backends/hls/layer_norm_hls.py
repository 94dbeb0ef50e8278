"""LayerNormHLS: the LayerNorm kernel in HLS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.backends.hls import float_operators as fp
from brainsmith.backends.hls.cpp_constants import lane_kind, lane_problem, parameters
from brainsmith.backends.rtl.layer_norm_rtl import layer_norm_resources
from brainsmith.backends.rtl.row_parallelism import queue_depth, queue_resources
from brainsmith.hls.node import HlsNode
from brainsmith.kernels.layer_norm import LayerNormKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.support import SUPPORTED, Support, unsupported

if TYPE_CHECKING:
    from brainsmith.kernels.integer_layer_norm import IntegerLayerNorm
    from brainsmith.rtl.synthesis.cells import Resources


@backend(
    name="LayerNormHLS",
    kernel="LayerNorm",
    backend_type="hls",
    description="Layer normalisation of integers or floats in C++",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    domain="brainsmith.backends.hls",
)
class LayerNormHLS(HlsNode, LayerNormKernel):
    """Integers bit for bit as the kernel computes them, or single precision."""

    sources = ("lanes.hpp", "layer_norm.hpp")

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the integers fit, or can be read as floats."""
        problem = node.try_arithmetic()[1] if node.is_integer() else lane_problem(node.get_input_datatype())
        return unsupported(problem) if problem else SUPPORTED

    def constants(self) -> str:
        """Return the struct that layer_norm.hpp takes."""
        shape, simd = self.get_normal_input_shape(), self.get_nodeattr("SIMD")
        sizes = {"rows": int(np.prod(shape[:-1])), "size": int(shape[-1]), "simd": simd}
        if self.is_integer():
            arithmetic = self.arithmetic()
            exact = arithmetic.centred_limit.bit_length() + 2 + arithmetic.root_bits
            product = {"product_bits": max(exact, arithmetic.output_bits + 1)}  # an output fits, too
            kept = {"kept_beats": 2 * (int(shape[-1]) // simd) + arithmetic.serial_cycles}
            sizes |= arithmetic.widths() | product | kept | {"output_bits": arithmetic.output_bits}
        return parameters(f"{self.onnx_node.name}_parameters", lane_kind(self.get_input_datatype()), sizes)

    def call(self) -> str:
        """Return the call of the template."""
        name = f"{self.onnx_node.name}_parameters"
        if self.is_integer():
            return f"brainsmith::layer_norm<{name}>(in0_V, out0_V);"
        epsilon = f"{float(self.get_nodeattr('epsilon'))!r}f"
        return f"brainsmith::layer_norm_float<{name}>(in0_V, out0_V, {epsilon});"

    def hls_resources(self) -> Resources:
        """Return the estimate.

        Integers: what the same arithmetic takes as LayerNormRTL. Floats: per lane 3 sums and 2 products, per layer
        one square root and division.
        """
        simd = self.get_nodeattr("SIMD")
        if self.is_integer():
            return self._integer_cost(self.arithmetic(), simd)
        lane = fp.ADD.times(3) + fp.MULTIPLY.times(2)
        if self.get_input_datatype().is_integer():
            lane = lane + fp.FROM_INTEGER
        shared = fp.ADD + fp.MULTIPLY.times(2) + fp.SQUARE_ROOT + fp.DIVIDE + fp.CONTROL
        row = fp.row_buffer(self.get_normal_input_shape()[-1] // simd, 32 * simd)
        return lane.times(simd) + shared + row.times(2)

    def _integer_cost(self, arithmetic: IntegerLayerNorm, simd: int) -> Resources:
        used = layer_norm_resources(arithmetic, simd, self.get_input_datatype().bitwidth())
        depth = queue_depth(arithmetic.size // simd, arithmetic.serial_cycles)
        used += queue_resources(depth, self.get_instream_width())
        return used + fp.CONTROL
