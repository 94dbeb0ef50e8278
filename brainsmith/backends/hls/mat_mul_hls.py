"""MatMulHLS: the MatMul kernel in HLS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.hls.matrixvectoractivation_hls import MVAU_hls

from brainsmith.errors import ModelError
from brainsmith.kernels.mat_mul import MatMulKernel
from brainsmith.plugin.core import backend

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto

LUT_RAM_DEPTH = 64
"""Bits of memory in one LUT (UG574: distributed RAM)."""


@backend(
    name="MatMulHLS",
    kernel="MatMul",
    backend_type="hls",
    description="MatMul on finn-hlslib's matrix-vector unit with streamed weights",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    domain="brainsmith.backends.hls",
)
class MatMulHLS(MatMulKernel, MVAU_hls):
    """FINN's MVAU_hls behind its dynamic weight loader; executed in Python unless a simulation is chosen."""

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Simulate as `exec_mode` says (cppsim, rtlsim: these need Vitis HLS), else compute in Python.

        Raises:
            ModelError: A simulation is chosen, and there are several right-hand matrices: FINN's test bench
            feeds one.
        """
        mode = self.get_nodeattr("exec_mode")
        if not mode:
            MatMulKernel.execute_node(self, context, graph)
        elif self.matrices() == 1:
            MVAU_hls.execute_node(self, context, graph)
        else:
            raise ModelError(
                f"node {self.onnx_node.name!r} (MatMulHLS) has {self.matrices()} right-hand matrices, "
                f"and {mode} feeds one: leave its exec_mode empty to execute it in Python"
            )

    def lut_estimation(self, fpgapart: str) -> int:
        """Return the estimated LUTs, those of the loader's two buffers (LUT RAM) included."""
        return int(MVAU_hls.lut_estimation(self, fpgapart)) + self.buffer_luts()

    def buffer_luts(self) -> int:
        """Return the LUTs of two right-hand matrices (FINN+ 1.6.1, finn-rtllib/dynload: distributed RAM)."""
        lanes = self.get_nodeattr("PE") * self.get_nodeattr("SIMD")
        words = self.get_nodeattr("MW") * self.get_nodeattr("MH") // lanes
        return int(2 * lanes * self.get_input_datatype(1).bitwidth() * -(-words // LUT_RAM_DEPTH))

    def bram_estimation(self, fpgapart: str) -> int:
        """Return 0: no weights are stored but those in the loader."""
        return 0

    def uram_estimation(self, fpgapart: str) -> int:
        """Return 0: no weights are stored but those in the loader."""
        return 0
