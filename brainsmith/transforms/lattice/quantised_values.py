"""The numbers that a quantiser makes of a constant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView


def value_of_quantised(view: GraphView, node: NodeProto) -> Any:
    """Return the numbers that QONNX computes for a quantiser of a constant, in float32."""
    from qonnx.core.onnx_exec import execute_node

    context = {name: view.constant(name) for name in node.input}
    version = view.model.get_opset_imports().get(node.domain, 1)
    execute_node(node, context, view.graph, version)
    return np.asarray(context[node.output[0]], np.float32)
