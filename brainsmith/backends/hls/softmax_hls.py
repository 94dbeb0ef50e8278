"""SoftmaxHLS: the Softmax kernel in HLS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.hls.hwsoftmax_hls import HWSoftmax_hls

from brainsmith.backends.hls import float_operators as fp
from brainsmith.kernels.softmax import SoftmaxKernel
from brainsmith.plugin.core import backend

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto


@backend(
    name="SoftmaxHLS",
    kernel="Softmax",
    backend_type="hls",
    description="Softmax on finn-hlslib's SoftMax",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    domain="brainsmith.backends.hls",
)
class SoftmaxHLS(SoftmaxKernel, HWSoftmax_hls):
    """FINN's HWSoftmax_hls with resource estimates; it executes in Python unless a simulation is chosen."""

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Simulate as `exec_mode` says (cppsim, rtlsim: these need Vitis HLS), else compute in Python."""
        executor = HWSoftmax_hls if self.get_nodeattr("exec_mode") else SoftmaxKernel
        executor.execute_node(self, context, graph)

    def cost(self) -> fp.Cost:
        """Return the estimated resources: per lane a comparison, 2 sums, an exponential and a division."""
        simd = self.get_nodeattr("SIMD")
        bits = self.get_input_datatype().bitwidth()
        lane = fp.total(fp.COMPARE, fp.ADD.times(2), fp.EXPONENTIAL, fp.DIVIDE)
        if self.get_input_datatype().is_integer():
            lane = fp.total(lane, fp.FROM_INTEGER)
        depth = self.get_normal_input_shape()[-1] // simd
        rows = fp.total(fp.row_buffer(depth, bits * simd), fp.row_buffer(depth, 32 * simd))
        return fp.total(lane.times(simd), rows, fp.CONTROL)

    def lut_estimation(self, fpgapart: str) -> int:
        """Return the estimated LUTs."""
        return self.cost().lut

    def dsp_estimation(self, fpgapart: str) -> int:
        """Return the estimated DSP slices."""
        return self.cost().dsp

    def bram_estimation(self, fpgapart: str) -> int:
        """Return the estimated 18 Kb block RAMs."""
        return self.cost().bram18
