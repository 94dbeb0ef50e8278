"""InferLayerNorm: layer normalisations into LayerNorm kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, value_of_one
from brainsmith.transforms.norm_pattern import find_normalisation

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


@transform(
    name="InferLayerNorm",
    kernel="LayerNorm",
    description="Convert layer normalisations over the last axis into LayerNorm kernels",
    author="BrainSmith",
    version="0.1.0",
    requires=("qonnx",),
)
class InferLayerNorm(Transformation):
    """Convert layer normalisations over the last axis into the LayerNorm kernel.

    Both forms: ONNX's LayerNormalization, and the chain of primitive operators that ExpandNorms writes or an
    exporter has written. Scale and bias of the operator become a Mul and an Add behind the kernel, unless
    they are constants of ones and of zeros; those of a chain are such nodes already.

    Left alone: other axes, element types other than float32, shapes that are not known, and an operator whose
    output Mean or InvStdDev is read (run ExpandNorms first; then the kernel takes the place of the normalised
    result only).
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Convert every such normalisation; the flag is True exactly when there was one."""
        view = GraphView(model)
        modified = False
        for name in [node.output[0] for node in model.graph.node if node.output]:
            modified |= _infer_operator(view, name) or _infer_chain(view, name)
        return model, modified


def _infer_operator(view: GraphView, output: str) -> bool:
    node = view.producer(output, "LayerNormalization")
    if node is None or not _serves(view, node):
        return False
    stem = node.name or output
    neutral = {"Mul": 1.0, "Add": 0.0}
    affine = [
        (op_type, operand)
        for op_type, operand in zip(neutral, node.input[1:], strict=False)
        if operand and not _is_all(view, operand, neutral[op_type])
    ]
    tensors = [view.new_name(f"{stem}_{part}") for part in ("normal", "scaled")[: len(affine)]]
    for name in tensors:
        view.declare_like(name, output, TensorProto.FLOAT)
    tensors.append(output)
    nodes = [_kernel_node(view, node.input[0], tensors[0], attribute(node, "epsilon", 1e-5), node.name)]
    for (op_type, operand), source, target in zip(affine, tensors[:-1], tensors[1:], strict=True):
        nodes.append(helper.make_node(op_type, [source, operand], [target], name=f"{stem}_{op_type}"))
    unread = [*node.input[1:], *node.output[1:]]
    view.replace(node, nodes)
    view.drop_unread(unread)
    return True


def _serves(view: GraphView, node: NodeProto) -> bool:
    """Tell whether the kernel can take the place of a LayerNormalization."""
    shape = view.static_shape(node.input[0], TensorProto.FLOAT)
    if shape is None or any(view.readers(name) for name in node.output[1:]):
        return False
    single = attribute(node, "stash_type", TensorProto.FLOAT) == TensorProto.FLOAT
    return single and attribute(node, "axis", -1) in (-1, len(shape) - 1)


def _infer_chain(view: GraphView, output: str) -> bool:
    node = view.producer(output, "Mul", "Div")
    norm = find_normalisation(view, node) if node is not None else None
    if node is None or norm is None or norm.axes != (-1,) or not norm.source:
        return False
    if view.static_shape(norm.source, TensorProto.FLOAT) is None:
        return False
    epsilon = value_of_one(view.constant(norm.epsilon)) or 0.0
    unread = list(node.input)
    view.replace(node, [_kernel_node(view, norm.source, output, epsilon, node.name)])
    view.drop_unread(unread)
    return True


def _is_all(view: GraphView, name: str, number: float) -> bool:
    value = view.constant(name)
    return value is not None and bool((value == number).all())


def _kernel_node(view: GraphView, source: str, output: str, epsilon: float, name: str) -> NodeProto:
    view.model.set_tensor_datatype(output, DataType["FLOAT32"])
    shape = view.static_shape(source, TensorProto.FLOAT) or []
    return helper.make_node(
        "LayerNormKernel",
        [source],
        [output],
        name=name,
        domain="brainsmith.kernels",
        backend="fpgadataflow",
        ifm_dim=shape,
        NumChannels=shape[-1],
        SIMD=1,
        epsilon=epsilon,
        inputDataType=view.model.get_tensor_datatype(source).name,
        outputDataType="FLOAT32",
    )
