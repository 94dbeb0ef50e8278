"""InferLayerNorm: layer normalisations into LayerNorm kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.transformation.base import Transformation

from brainsmith.kernels.integer_layer_norm import IntegerLayerNorm, output_bits_for
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, value_of_one
from brainsmith.transforms.norm_pattern import find_normalisation
from brainsmith.transforms.row_kernels import KernelIntegers, find_integer_source, put_row_kernel

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.transforms.row_kernels import IntegerSource


FRACTION_BITS = 8
"""Bits after the point of normalised integers, unless the transform's argument says otherwise."""


KERNEL = "LayerNormKernel"
"""The type of the kernel's nodes."""


@transform(
    kernel="LayerNorm",
    description="Convert layer normalisations over the last axis into LayerNorm kernels",
)
class InferLayerNorm(Transformation):
    """Convert layer normalisations over the last axis into the LayerNorm kernel.

    Both forms: ONNX's LayerNormalization, and the chain of primitive operators that ExpandNorms writes or an
    exporter has written. Scale and bias of the operator become a Mul and an Add after the kernel, unless
    they are constants of ones and of zeros; those of a chain are such nodes already.

    Where the input is integers, or integers after a Mul, Div, Add or Sub by a constant of one element, the kernel
    takes the integers (a normalisation does not depend on scale and offset, but for epsilon, which is divided by the
    scale's square), gives integers, and a Mul by 2^-fraction_bits follows. That Mul, and Mul and Add by positive
    constants after it, are absorbed by the MultiThresholds that they end in. Integers of more than 64 bits inside
    the kernel stay floats. A kernel that was inferred with floats, before the integers could be seen, is inferred anew.

    Left alone: other axes, element types other than float32, shapes that are not known, and an operator whose
    output Mean or InvStdDev is read (run ExpandNorms first; then the kernel takes the place of the normalised
    result only).

    Args:
        fraction_bits: Of the output of a kernel of integers; None for floats in any case, which round as ONNX's do.

    Attributes:
        op_types: The operator, for lists of what is supported.
    """

    op_types = ("LayerNormalization",)

    def __init__(self, fraction_bits: int | None = FRACTION_BITS) -> None:
        super().__init__()
        self.fraction_bits = fraction_bits

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Convert every such normalisation; the flag is True exactly when there was one."""
        view = GraphView(model)
        modified = False
        for name in [node.output[0] for node in model.graph.node if node.output]:
            modified |= self._infer_operator(view, name) or self._infer_chain(view, name)
        for node in [node for node in model.graph.node if node.op_type == KERNEL]:
            modified |= self._infer_anew(view, node)
        return model, modified

    def _infer_operator(self, view: GraphView, output: str) -> bool:
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
        tail = [
            helper.make_node(op_type, [source, operand], [target], name=f"{stem}_{op_type}")
            for (op_type, operand), source, target in zip(affine, tensors[:-1], tensors[1:], strict=True)
        ]
        epsilon = attribute(node, "epsilon", 1e-5)
        self._put(view, node, node.input[0], tensors[0], epsilon, tail)
        return True

    def _infer_chain(self, view: GraphView, output: str) -> bool:
        node = view.producer(output, "Mul", "Div")
        norm = find_normalisation(view, node) if node is not None else None
        if node is None or norm is None or norm.axes != (-1,) or not norm.source:
            return False
        if view.static_shape(norm.source, TensorProto.FLOAT) is None:
            return False
        epsilon = value_of_one(view.constant(norm.epsilon)) or 0.0
        self._put(view, node, norm.source, output, epsilon, [])
        return True

    def _infer_anew(self, view: GraphView, node: NodeProto) -> bool:
        """Let a kernel of floats be one of integers, if its input is made of integers by now."""
        epsilon = attribute(node, "epsilon", 1e-5)
        if (
            attribute(node, "outputDataType") != b"FLOAT32"
            or self._integers(view, node.input[0], epsilon) is None
        ):
            return False
        self._put(view, node, node.input[0], node.output[0], epsilon, [])
        return True

    def _integers(self, view: GraphView, source: str, epsilon: float) -> KernelIntegers | None:
        """Return the integers with which a kernel computes; None for floats."""
        shape = view.static_shape(source, TensorProto.FLOAT) or []
        integers = find_integer_source(view, source)
        if integers is None or self.fraction_bits is None:
            return None
        given = _integer_output(view, integers, shape[-1], self.fraction_bits, epsilon)
        return None if given is None else KernelIntegers(integers, given, self.fraction_bits)

    def _put(
        self,
        view: GraphView,
        node: NodeProto,
        source: str,
        output: str,
        epsilon: float,
        behind: list[NodeProto],
    ) -> None:
        """Put a kernel, and the nodes after it, in place of a node."""
        found = self._integers(view, source, epsilon)
        taken, scale = (source, 1.0) if found is None else found.source
        attributes = {
            "inputDataType": view.model.get_tensor_datatype(taken).name,
            "outputDataType": "FLOAT32",
            "epsilon": epsilon / scale**2,
        }
        put_row_kernel(view, node, KERNEL, (source, output), found, attributes, behind)


def _integer_output(
    view: GraphView, integers: IntegerSource, size: int, fraction_bits: int, epsilon: float
) -> BaseDataType | None:
    """Return the datatype of normalised integers; None where they cannot be computed."""
    taken = view.model.get_tensor_datatype(integers.name)
    bits = output_bits_for(size, fraction_bits)
    arithmetic = IntegerLayerNorm(
        size, int(taken.min()), int(taken.max()), fraction_bits, bits, epsilon / integers.scale**2
    )
    if arithmetic.problem or taken.name in ("BIPOLAR", "TERNARY"):
        return None
    return DataType[f"INT{bits}"]


def _serves(view: GraphView, node: NodeProto) -> bool:
    """Tell whether the kernel can take the place of a LayerNormalization."""
    shape = view.static_shape(node.input[0], TensorProto.FLOAT)
    if shape is None or any(view.readers(name) for name in node.output[1:]):
        return False
    single = attribute(node, "stash_type", TensorProto.FLOAT) == TensorProto.FLOAT
    return single and attribute(node, "axis", -1) in (-1, len(shape) - 1)


def _is_all(view: GraphView, name: str, number: float) -> bool:
    value = view.constant(name)
    return value is not None and bool((value == number).all())
