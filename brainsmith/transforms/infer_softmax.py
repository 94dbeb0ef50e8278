"""InferSoftmax: Softmax operators into Softmax kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import TensorProto
from qonnx.core.datatype import DataType

from brainsmith.kernels.integer_softmax import IntegerSoftmax
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, opset
from brainsmith.transforms.node_rewrite import NodeRewrite
from brainsmith.transforms.row_kernels import KernelIntegers, find_integer_source, put_row_kernel

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.row_kernels import IntegerSource

LAST_AXIS_BY_DEFAULT = 13
"""From this opset on Softmax takes one axis, by default the last; before, it flattened all from axis 1."""


FRACTION_BITS = 8
"""Bits of probabilities as integers, unless the transform's argument says otherwise."""


@transform(
    kernel="Softmax",
    description="Convert Softmax operators over the last axis into Softmax kernels",
)
class InferSoftmax(NodeRewrite):
    """Convert Softmax over the last axis into the Softmax kernel.

    Where the input is integers, or integers after a Mul, Div, Add or Sub by a constant of one element, the kernel
    takes the integers and their scale, gives integers (UINT of `fraction_bits` bits, so 1 is one less than
    2^fraction_bits), and a Mul by 2^-fraction_bits follows. That Mul, and Mul and Add by positive constants after it,
    are absorbed by the MultiThresholds that they end in. Where the kernel's table would be too large (an input of
    many bits with a small scale) it computes floats.

    Left alone: other axes, element types other than float32, shapes that are not known, and inputs whose
    datatype has no zero (BIPOLAR), which the hardware pads with.

    Args:
        fraction_bits: Of the output of a kernel of integers.
    """

    op_types = ("Softmax",)

    def __init__(self, fraction_bits: int = FRACTION_BITS) -> None:
        super().__init__()
        self.fraction_bits = fraction_bits

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Put a kernel, and a Mul after one of integers, in place of a Softmax over the last axis."""
        if not _fits(view, node):
            return False
        taken, found = str(node.input[0]), None
        integers = find_integer_source(view, taken)
        attributes: dict[str, Any] = {}
        if integers is not None and _is_computable(view, integers, self.fraction_bits):
            found = KernelIntegers(integers, DataType[f"UINT{self.fraction_bits}"], self.fraction_bits)
            taken, attributes = integers.name, {"scale": integers.scale}
        attributes["input_data_type"] = view.model.get_tensor_datatype(taken).name
        put_row_kernel(view, node, "SoftmaxKernel", (node.input[0], node.output[0]), found, attributes)
        return True


def _is_computable(view: GraphView, integers: IntegerSource, fraction_bits: int) -> bool:
    taken = view.model.get_tensor_datatype(integers.name)
    size = view.model.get_tensor_shape(integers.name)[-1]
    arithmetic = IntegerSoftmax(
        size, int(taken.min()), int(taken.max()), integers.scale, fraction_bits, fraction_bits
    )
    return not arithmetic.problem and taken.name != "TERNARY"


def _fits(view: GraphView, node: NodeProto) -> bool:
    shape = view.static_shape(node.input[0], TensorProto.FLOAT)
    if shape is None:
        return False
    axis = attribute(node, "axis", -1 if opset(view.model) >= LAST_AXIS_BY_DEFAULT else 1)
    return axis in (-1, len(shape) - 1) and view.model.get_tensor_datatype(node.input[0]).allowed(0)
