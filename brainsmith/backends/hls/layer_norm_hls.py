"""LayerNormHLS: the LayerNorm kernel in HLS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.hls.layernorm_hls import LayerNorm_hls

from brainsmith.backends.hls import float_operators as fp
from brainsmith.kernels.layer_norm import LayerNormKernel
from brainsmith.plugin.core import backend

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto


@backend(
    name="LayerNormHLS",
    kernel="LayerNorm",
    backend_type="hls",
    description="LayerNorm on finn-hlslib's layernorm",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    domain="brainsmith.backends.hls",
)
class LayerNormHLS(LayerNormKernel, LayerNorm_hls):
    """FINN's LayerNorm_hls with resource estimates; it executes in Python unless a simulation is chosen."""

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Simulate as `exec_mode` says (cppsim, rtlsim: these need Vitis HLS), else compute in Python."""
        executor = LayerNorm_hls if self.get_nodeattr("exec_mode") else LayerNormKernel
        executor.execute_node(self, context, graph)

    def cost(self) -> fp.Cost:
        """Return the estimate: per lane 3 sums and 2 products, per layer one square root and division."""
        simd = self.get_nodeattr("SIMD")
        lane = fp.total(fp.ADD.times(3), fp.MULTIPLY.times(2))
        if self.get_input_datatype().is_integer():
            lane = fp.total(lane, fp.FROM_INTEGER)
        shared = fp.total(fp.ADD, fp.MULTIPLY.times(2), fp.SQUARE_ROOT, fp.DIVIDE, fp.CONTROL)
        row = fp.row_buffer(self.get_normal_input_shape()[-1] // simd, 32 * simd)
        return fp.total(lane.times(simd), shared, row.times(2))

    def lut_estimation(self, fpgapart: str) -> int:
        """Return the estimated LUTs."""
        return self.cost().lut

    def dsp_estimation(self, fpgapart: str) -> int:
        """Return the estimated DSP slices."""
        return self.cost().dsp

    def bram_estimation(self, fpgapart: str) -> int:
        """Return the estimated 18 Kb block RAMs."""
        return self.cost().bram18
