"""InferSoftmax: Softmax operators into Softmax kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import TensorProto
from qonnx.core.datatype import DataType
from qonnx.transformation.base import Transformation

from brainsmith.kernels.integer_softmax import IntegerSoftmax
from brainsmith.plugin.core import transform
from brainsmith.transforms.absorb_affine import absorb_affine
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard, kernel_node, opset
from brainsmith.transforms.integer_source import declare_integers, find_integer_source, scale_node

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.transforms.integer_source import IntegerSource

LAST_AXIS_BY_DEFAULT = 13
"""From this opset on Softmax takes one axis, by default the last; before, it flattened all from axis 1."""


FRACTION_BITS = 8
"""Bits of probabilities as integers, unless the transform's argument says otherwise."""


@transform(
    kernel="Softmax",
    description="Convert Softmax operators over the last axis into Softmax kernels",
    requires=("qonnx",),
)
class InferSoftmax(Transformation):
    """Convert Softmax over the last axis into the Softmax kernel.

    Where the input is integers, or integers behind a Mul, Div, Add or Sub by a constant of one element, the kernel
    takes the integers and their scale, gives integers (UINT of `fraction_bits` bits, so 1 is one less than
    2^fraction_bits), and a Mul by 2^-fraction_bits follows. That Mul, and Mul and Add by positive constants behind it,
    are absorbed by the MultiThresholds that they end in. Where the kernel's table would be too large (an input of
    many bits with a small scale) it computes floats.

    Left alone: other axes, element types other than float32, shapes that are not known, and inputs whose
    datatype has no zero (BIPOLAR), which the hardware pads with.

    Args:
        fraction_bits: Of the output of a kernel of integers.
    """

    def __init__(self, fraction_bits: int = FRACTION_BITS) -> None:
        super().__init__()
        self.fraction_bits = fraction_bits

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Convert every such node; the flag is True exactly when there was one."""
        view = GraphView(model)
        found = [node for node in model.graph.node if is_standard(node, "Softmax") and _fits(view, node)]
        for name in [node.output[0] for node in found]:
            node = view.producer(name, "Softmax")
            if node is not None:
                self._put(view, node)
        return model, bool(found)

    def _put(self, view: GraphView, node: NodeProto) -> None:
        """Put a kernel, and a Mul behind one of integers, in place of a Softmax."""
        source, output = str(node.input[0]), str(node.output[0])
        integers = find_integer_source(view, source)
        if integers is None or not _is_computable(view, integers, self.fraction_bits):
            view.model.set_tensor_datatype(output, DataType["FLOAT32"])
            view.replace(node, [_kernel_node(view, source, output, node.name)])
            return
        given = DataType[f"UINT{self.fraction_bits}"]
        powers = declare_integers(view, output, f"{node.name or output}_integers", given)
        kernel = _kernel_node(
            view, integers.name, powers, node.name, scale=integers.scale,
            outputDataType=given.name, fraction_bits=self.fraction_bits,
        )  # fmt: skip
        view.replace(node, [kernel, scale_node(view, powers, output, self.fraction_bits)], [source])
        absorb_affine(view, powers)


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


def _kernel_node(view: GraphView, source: str, output: str, name: str, **attributes: Any) -> NodeProto:
    shape = view.static_shape(source, TensorProto.FLOAT) or []
    return kernel_node(
        "SoftmaxKernel",
        [source],
        [output],
        name=name,
        ifm_dim=shape,
        NumChannels=shape[-1],
        SIMD=1,
        input_data_type=view.model.get_tensor_datatype(source).name,
        **attributes,
    )
