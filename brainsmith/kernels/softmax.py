"""Softmax over the last axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.hwsoftmax import HWSoftmax

from brainsmith.plugin.core import kernel

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto

PIPELINE_FILL = 30
"""Cycles through exponential and division (FINN+ 1.6.1, HWSoftmax_hls)."""


@kernel(
    name="Softmax",
    description="Softmax over the last axis",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    tags=("activation", "transformer"),
    domain="brainsmith.kernels",
)
class SoftmaxKernel(HWSoftmax):
    """`exp(x) / sum(exp(x))` over the last axis, with the row's maximum subtracted first.

    FINN's HWSoftmax with cycles of its own. Input: any shape (`ifm_dim`), channels last, any QONNX datatype
    that has a zero; output: the same shape, FLOAT32. `SIMD` elements of a row are taken per cycle; it divides
    the last dimension.
    """

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Compute the rows in double precision and round the result once to float32."""
        node = self.onnx_node
        rows = context[node.input[0]].astype(np.float64)
        powers = np.exp(rows - rows.max(axis=-1, keepdims=True))
        context[node.output[0]] = (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)

    def get_exp_cycles(self) -> int:
        """Return the cycles of one input: its beats, two stalls per row, and the fill of two rows."""
        simd = self.get_nodeattr("SIMD")
        shape = self.get_normal_input_shape()
        size = int(np.prod(shape))
        return int(size // simd + 2 * (size // shape[-1]) + 2 * (shape[-1] // simd) + PIPELINE_FILL)
