"""InferMatMul: products of two computed matrices into MatMul kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto

from brainsmith.kernels.datatypes import product_datatype
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, kernel_node
from brainsmith.transforms.node_rewrite import NodeRewrite

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


@transform(
    kernel="MatMul",
    description="Convert MatMul operators with two computed inputs into MatMul kernels",
)
class InferMatMul(NodeRewrite):
    """Convert MatMul of two integer tensors, neither of them constant, into the MatMul kernel.

    The right-hand side has two dimensions, or the same leading ones as the left-hand side. Left alone:
    constants (FINN's MVAU serves those), vectors, broadcasting of leading dimensions, floats, shapes that are not
    known. The output is annotated with the smallest datatype that holds every possible sum.
    """

    op_types = ("MatMul",)

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Convert a product of two integer tensors that are computed."""
        operands = _operands(view, node)
        if operands is None or not all(
            view.model.get_tensor_datatype(name).is_integer() for name in node.input
        ):
            return False
        view.replace(node, [_kernel_node(view.model, node, *operands)])
        return True


def _operands(view: GraphView, node: NodeProto) -> tuple[list[int], list[int]] | None:
    """Return the shapes of the inputs, or None where the kernel does not serve them."""
    lhs, rhs = (view.static_shape(name, TensorProto.FLOAT) for name in node.input)
    if lhs is None or rhs is None or any(view.constant(name) is not None for name in node.input):
        return None
    if len(lhs) < 2 or len(rhs) < 2 or rhs[:-2] not in ([], lhs[:-2]):
        return None
    return lhs, rhs


def _kernel_node(
    model: ModelWrapper, node: NodeProto, lhs_shape: list[int], rhs_shape: list[int]
) -> NodeProto:
    lhs, rhs = (model.get_tensor_datatype(name) for name in node.input)
    product = product_datatype(lhs, rhs, depth=lhs_shape[-1])
    model.set_tensor_datatype(node.output[0], product)
    return kernel_node(
        "MatMulKernel",
        node.input,
        node.output,
        name=node.name,
        lhs_shape=lhs_shape,
        rhs_shape=rhs_shape,
        lhsDataType=lhs.name,
        rhsDataType=rhs.name,
        outputDataType=product.name,
        SIMD=1,
        PE=1,
        inFIFODepths=[2, 2],
    )
