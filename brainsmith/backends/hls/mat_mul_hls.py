"""MatMulHLS: the MatMul kernel in HLS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.backends.hls.cpp_constants import lane_kind
from brainsmith.backends.rtl.multiplier import multiplier
from brainsmith.backends.rtl.page_memory import page_memory_resources
from brainsmith.hls.node import HlsNode
from brainsmith.kernels.mat_mul import MatMulKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.node_support import Support
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from qonnx.core.datatype import BaseDataType

CONTROL = Resources(lut=150, ff=150)
"""Handshakes and counters of two processes."""


@backend(
    kernel="MatMul",
    backend_type="hls",
    description="Right-hand matrices collected in turns, PE x SIMD products per cycle",
)
class MatMulHLS(HlsNode, MatMulKernel):
    """Two processes with a double buffer between them; a call of the function multiplies one pair of matrices."""

    sources = ("lanes.hpp", "mat_mul.hpp")

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the C++ can be a node: integers, and an output that holds every sum."""
        return Support(node.flaw())

    def calls(self) -> int:
        """Return how often the function is called for one input: once for each right-hand matrix."""
        return self.matrices

    def constants(self) -> str:
        """Return the type of the product: sizes, lanes, and how values are read."""
        lanes = (self.get_nodeattr("PE"), self.get_nodeattr("SIMD"))
        kinds = (_reading(self.get_input_datatype(0)), _reading(self.get_input_datatype(1)))
        stated = (self.rows, self.depth, self.columns, *lanes, *kinds, self.get_output_datatype().bitwidth())
        return f"typedef brainsmith::Product<{', '.join(map(str, stated))}> {self._product()};"

    def call(self) -> str:
        """Return the multiplication of one pair of matrices."""
        return f"brainsmith::mat_mul<{self._product()}>(in0_V, in1_V, out0_V);"

    def _product(self) -> str:
        return f"{self.onnx_node.name}_product"

    def core_resources(self, family: str) -> Resources:
        """Return the estimate: memories, multipliers and adders as in RTL, and control."""
        one, other = (int(self.get_input_datatype(at).bitwidth()) for at in (0, 1))
        pe, simd = self.get_nodeattr("PE"), self.get_nodeattr("SIMD")
        output = self.get_output_datatype().bitwidth()
        words = 2 * self.depth * self.columns // (pe * simd)
        lanes = page_memory_resources(words, pe * other, family).times(simd)
        sums = Resources(lut=pe * simd * output, ff=pe * output)
        return lanes + multiplier(one, other, family).times(pe * simd) + sums + CONTROL


def _reading(datatype: BaseDataType) -> str:
    """Return the C++ type that reads values of a datatype."""
    return "brainsmith::Bipolar" if datatype.name == "BIPOLAR" else lane_kind(datatype)
