"""InferSoftmax: Softmax operators into Softmax kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard, opset

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

LAST_AXIS_BY_DEFAULT = 13
"""From this opset on Softmax takes one axis, by default the last; before, it flattened all from axis 1."""


@transform(
    name="InferSoftmax",
    kernel="Softmax",
    description="Convert Softmax operators over the last axis into Softmax kernels",
    author="BrainSmith",
    version="0.1.0",
    requires=("qonnx",),
)
class InferSoftmax(Transformation):
    """Convert Softmax over the last axis into the Softmax kernel.

    Left alone: other axes, element types other than float32, shapes that are not known, and inputs whose
    datatype has no zero (BIPOLAR), which the hardware pads with.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Convert every such node; the flag is True exactly when there was one."""
        view = GraphView(model)
        found = [node for node in model.graph.node if is_standard(node, "Softmax") and _fits(view, node)]
        for node in found:
            view.replace(node, [_kernel_node(view, node)])
            model.set_tensor_datatype(node.output[0], DataType["FLOAT32"])
        return model, bool(found)


def _fits(view: GraphView, node: NodeProto) -> bool:
    shape = view.static_shape(node.input[0], TensorProto.FLOAT)
    if shape is None:
        return False
    axis = attribute(node, "axis", -1 if opset(view.model) >= LAST_AXIS_BY_DEFAULT else 1)
    return axis in (-1, len(shape) - 1) and view.model.get_tensor_datatype(node.input[0]).allowed(0)


def _kernel_node(view: GraphView, node: NodeProto) -> NodeProto:
    shape = view.static_shape(node.input[0], TensorProto.FLOAT) or []
    return helper.make_node(
        "SoftmaxKernel",
        node.input,
        node.output,
        name=node.name,
        domain="brainsmith.kernels",
        backend="fpgadataflow",
        ifm_dim=shape,
        NumChannels=shape[-1],
        SIMD=1,
        input_data_type=view.model.get_tensor_datatype(node.input[0]).name,
    )
