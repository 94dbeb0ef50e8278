"""NodeRewrite: what transforms share that look at the nodes of a graph one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qonnx.transformation.base import Transformation

from brainsmith.transforms.graph_view import GraphView, is_standard

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


class NodeRewrite(Transformation):
    """A transform that rewrites standard ONNX nodes of some types, each for itself, in the order of the graph.

    Attributes:
        op_types: The types.
    """

    op_types: ClassVar[tuple[str, ...]]

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Rewrite every node that can be; the flag is True exactly when there was one."""
        view = GraphView(model)
        modified = False
        for name in [node.output[0] for node in model.graph.node if is_standard(node, *self.op_types)]:
            node = view.producer(name, *self.op_types)  # none where an earlier rewrite took it
            if node is not None and self.rewrite(view, node):
                modified = True
        return model, modified

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Rewrite a node if it can be; tell whether it was."""
        raise NotImplementedError
