"""FoldConstants: what is computed of constants alone is computed now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import numpy_helper
from qonnx.transformation.base import Transformation
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import ModelError
from brainsmith.execution.fallback.node_session import open_node
from brainsmith.execution.foreign_failures import first_line_of, foreign_call
from brainsmith.graph.well_formed import node_text
from brainsmith.plugin.adapters.graph_edits import nested_graphs
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, opset

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

STANDARD = ("", "ai.onnx")

RANDOM = (
    "Bernoulli",
    "Dropout",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
)
"""What gives another result each time, or may."""


@transform(
    stage="graph_tidying",
    description="Compute nodes whose inputs are all constant",
    tags=("clean-up",),
)
class FoldConstants(Transformation):
    """Replace nodes whose inputs are all constant by initializers; a Shape of a known shape is constant too.

    All outputs of a node are computed. Left alone: nodes with nested graphs, random ones, those whose result is no
    array, and those that give an output of the graph, which stays a node's. QONNX's own computes the first output
    alone, and fails at nested graphs.

    Args:
        exclude_op_types: Operators that are never computed; by default quantisers, which carry datatypes.

    Raises:
        ModelError: A node cannot be computed.
    """

    def __init__(self, exclude_op_types: Sequence[str] = ("Quant", "BipolarQuant")) -> None:
        super().__init__()
        self.exclude_op_types = list(exclude_op_types)

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Compute all of them; the flag is True exactly when there was one."""
        view = GraphView(model)
        ends = {value.name for value in model.graph.output}
        values = {tensor.name: tensor for tensor in model.graph.initializer}
        folded: list[NodeProto] = []
        for node in model.graph.node:
            if node.op_type in self.exclude_op_types or not _is_foldable(node, ends):
                continue
            results = _known_shape(view, node)
            if results is None and all(name in values for name in node.input if name):
                results = _computed(
                    model, node, {name: numpy_helper.to_array(values[name]) for name in node.input if name}
                )
            if results is None:
                continue
            for name, value in results.items():
                model.set_initializer(name, value)
                values[name] = model.graph.initializer[-1]
            folded.append(node)
        for node in folded:
            model.graph.node.remove(node)
        return (model.transform(InferShapes()) if folded else model), bool(folded)


def _is_foldable(node: NodeProto, ends: set[str]) -> bool:
    return (
        node.op_type not in RANDOM
        and ends.isdisjoint(node.output)
        and next(nested_graphs(node), None) is None
    )


def _known_shape(view: GraphView, node: NodeProto) -> dict[str, npt.NDArray[Any]] | None:
    """Return what a Shape gives, if all of it is known."""
    if node.op_type != "Shape" or node.domain not in STANDARD or node.attribute:
        return None
    dims = view.dimensions(node.input[0])
    if dims is None or not all(dims):
        return None
    return {node.output[0]: np.asarray(dims, np.int64)}


def _computed(
    model: ModelWrapper, node: NodeProto, inputs: dict[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]] | None:
    """Return all outputs of a node; None where one is no array."""
    outputs = [name for name in node.output if name]

    def failure(error: Exception) -> ModelError:
        return ModelError(
            f"{node_text(node)} depends on constants alone, but cannot be computed: {first_line_of(error)}"
        )

    with foreign_call(failure):
        if node.domain in STANDARD:
            dtypes = {name: value.dtype for name, value in inputs.items()}
            found = open_node(node, opset(model), dtypes, outputs).run(outputs, inputs)
        else:
            from qonnx.custom_op.registry import getCustomOp

            context: dict[str, Any] = {"": None} | inputs
            getCustomOp(node).execute_node(context, model.graph)
            found = [context[name] for name in outputs]
    results = dict(zip(outputs, found, strict=True))
    return results if all(isinstance(value, np.ndarray) for value in found) else None
