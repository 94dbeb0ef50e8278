"""InferMatMul: products of two computed matrices into MatMul kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx import TensorProto
from qonnx.transformation.base import Transformation

from brainsmith.kernels.datatypes import product_datatype
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, is_standard, kernel_node

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


class _Operands(NamedTuple):
    lhs: list[int]
    rhs: list[int]


@transform(
    kernel="MatMul",
    description="Convert MatMul operators with two computed inputs into MatMul kernels",
    requires=("qonnx",),
)
class InferMatMul(Transformation):
    """Convert MatMul of two integer tensors, neither of them constant, into the MatMul kernel.

    The right-hand side has two dimensions, or the same leading ones as the left-hand side. Left alone:
    constants (FINN's MVAU serves those), vectors, broadcasting of leading dimensions, floats, shapes that are not
    known. The output is annotated with the smallest
    datatype that holds every possible sum.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Convert every such node; the flag is True exactly when there was one."""
        view = GraphView(model)
        modified = False
        for node in [node for node in model.graph.node if is_standard(node, "MatMul")]:
            operands = _operands(view, node)
            if operands is not None and all(
                model.get_tensor_datatype(name).is_integer() for name in node.input
            ):
                view.replace(node, [_kernel_node(model, node, operands)])
                modified = True
        return model, modified


def _operands(view: GraphView, node: NodeProto) -> _Operands | None:
    """Return the shapes of the inputs, or None where the kernel does not serve them."""
    lhs, rhs = (view.static_shape(name, TensorProto.FLOAT) for name in node.input)
    if lhs is None or rhs is None or any(view.constant(name) is not None for name in node.input):
        return None
    if len(lhs) < 2 or len(rhs) < 2 or rhs[:-2] not in ([], lhs[:-2]):
        return None
    return _Operands(lhs, rhs)


def _kernel_node(model: ModelWrapper, node: NodeProto, operands: _Operands) -> NodeProto:
    lhs, rhs = (model.get_tensor_datatype(name) for name in node.input)
    product = product_datatype(lhs, rhs, depth=operands.lhs[-1])
    model.set_tensor_datatype(node.output[0], product)
    return kernel_node(
        "MatMulKernel",
        node.input,
        node.output,
        name=node.name,
        lhs_shape=operands.lhs,
        rhs_shape=operands.rhs,
        lhsDataType=lhs.name,
        rhsDataType=rhs.name,
        outputDataType=product.name,
        SIMD=1,
        PE=1,
        inFIFODepths=[2, 2],
    )
