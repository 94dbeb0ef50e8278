"""PlainGemm: write the factors and the transposition of a Gemm as operators of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import helper

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.node_rewrite import NodeRewrite

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView


@transform(
    stage="cleanup",
    description="Write alpha, beta and transA of a Gemm as Mul, Add and Transpose around it",
    tags=("clean-up",),
)
class PlainGemm(NodeRewrite):
    """Turn `alpha * A' B + beta * C` into a Gemm of two matrices, between a Transpose, a Mul and an Add.

    A Gemm without factors, whose first matrix is not transposed, stays as it is; so does `transB`. A C of a Gemm whose
    beta is 0 goes. Where a factor is no power of two, the last bit of a result may be another one.
    """

    op_types = ("Gemm",)

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Write out a node, if it has something to write out."""
        alpha, beta = (float(attribute(node, name, 1.0)) for name in ("alpha", "beta"))
        transposed = bool(attribute(node, "transA", 0))
        if alpha == 1 and beta == 1 and not transposed:
            return False
        stem, result, given = node.name or node.output[0], node.output[0], list(node.input)
        added = given[2] if len(given) > 2 and beta else ""
        nodes, rows = [], given[0]
        if transposed:
            rows = view.new_tensor(f"{stem}_rows", _turned(_shape(view, given[0])))
            nodes.append(helper.make_node("Transpose", [given[0]], [rows], name=f"{stem}_rows", perm=[1, 0]))
        total = view.new_tensor(f"{stem}_product", _shape(view, result)) if alpha != 1 or added else result
        product = helper.make_node("Gemm", [rows, given[1]], [total], name=stem)
        if attribute(node, "transB", 0):
            product.attribute.append(helper.make_attribute("transB", 1))
        nodes.append(product)
        if alpha != 1:
            scaled = view.new_tensor(f"{stem}_scaled", _shape(view, result)) if added else result
            nodes.append(
                helper.make_node("Mul", [total, _number(view, stem, alpha)], [scaled], name=f"{stem}_alpha")
            )
            total = scaled
        if added and beta != 1:
            weighted = view.new_tensor(f"{stem}_weighted", _shape(view, added))
            nodes.append(
                helper.make_node("Mul", [added, _number(view, stem, beta)], [weighted], name=f"{stem}_beta")
            )
            added = weighted
        if added:
            nodes.append(helper.make_node("Add", [total, added], [result], name=f"{stem}_bias"))
        view.replace(node, nodes, given)
        return True


def _number(view: GraphView, stem: str, value: float) -> str:
    return view.add_constant(f"{stem}_factor", np.asarray(value, np.float32))


def _shape(view: GraphView, name: str) -> list[int] | None:
    return view.static_shape(name, view.elem_type(name))


def _turned(shape: list[int] | None) -> list[int] | None:
    return None if shape is None else shape[::-1]
