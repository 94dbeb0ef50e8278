"""PairOperands: write sums, means and extremes of several tensors as operators of two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import helper

from brainsmith.plugin.core import transform
from brainsmith.transforms.node_rewrite import NodeRewrite

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView

_OF_TWO = {"Max": "Max", "Mean": "Add", "Min": "Min", "Sum": "Add"}


@transform(
    stage="cleanup",
    description="Write Sum, Mean, Max and Min of several tensors as Add, Max and Min of two, one after the other",
    tags=("clean-up",),
)
class PairOperands(NodeRewrite):
    """Turn `Sum(a, b, c)` into `Add(Add(a, b), c)`, and the same for Max and Min.

    A Mean is such a sum times one over how many there are. ONNX Runtime adds from the first operand on, and multiplies, so
    every bit stays. A Sum or Mean of one tensor stays as it is, and so do Max and Min of two.
    """

    op_types = tuple(_OF_TWO)

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Write a node of several operands as nodes of two."""
        count, of_two = len(node.input), _OF_TWO[node.op_type]
        if count < 2 or (count == 2 and node.op_type == of_two):
            return False
        stem, result = node.name or node.output[0], node.output[0]
        nodes, found = [], node.input[0]
        for at, name in enumerate(node.input[1:], 1):
            last = at == count - 1 and node.op_type != "Mean"
            total = result if last else view.new_name(f"{stem}_{at}")
            own = stem if last else f"{stem}_{at}"
            nodes.append(helper.make_node(of_two, [found, name], [total], name=own))
            found = total
        if node.op_type == "Mean":
            share = view.add_constant(f"{stem}_share", np.asarray(1 / count, np.float32))
            nodes.append(helper.make_node("Mul", [found, share], [result], name=stem))
        view.replace(node, nodes, [])
        return True
