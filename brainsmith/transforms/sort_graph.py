"""SortGraph: nodes after those whose outputs they read."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from qonnx.transformation.base import Transformation

from brainsmith.errors import ModelError
from brainsmith.plugin.adapters.graph_edits import forget_unused, names_read
from brainsmith.plugin.core import transform

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


@transform(
    stage="graph_tidying",
    description="Sort the nodes topologically, and drop those that are connected to nothing",
    tags=("clean-up",),
)
class SortGraph(Transformation):
    """Sort nodes by how many lie before them on the longest way, and equal ones as they were: QONNX's order.

    What a nested graph reads from outside counts. A node that reads no tensor that exists, and whose own nothing
    reads, is dropped; QONNX's own also drops a Constant that is an output of the graph.

    Raises:
        ModelError: Nodes read each other's outputs in a cycle.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Sort; the flag is always False, since once is enough."""
        graph = model.graph
        nodes = _connected(graph)
        depths = _depths(nodes)
        order = sorted(range(len(nodes)), key=lambda at: (depths[at], at))
        dropped = len(nodes) < len(graph.node)
        if dropped or order != list(range(len(nodes))):
            del graph.node[:]
            graph.node.extend(nodes[at] for at in order)
        if dropped:
            forget_unused(graph)
        return model, False


def _connected(graph: GraphProto) -> list[NodeProto]:
    """Return the nodes, without those that read nothing that exists and whose outputs nothing reads."""
    nodes = list(graph.node)
    if len(nodes) == 1:
        return nodes
    read = {value.name for value in graph.output}.union(*(names_read(node) for node in nodes))
    there = {value.name for values in (graph.input, graph.initializer) for value in values}
    there.update(name for node in nodes for name in node.output)
    return [
        node
        for node in nodes
        if any(name in read for name in node.output) or any(name in there for name in names_read(node))
    ]


def _depths(nodes: list[NodeProto]) -> dict[int, int]:
    """Return for each node's place how many nodes lie before it on the longest way to it."""
    made_by = {name: at for at, node in enumerate(nodes) for name in node.output if name}
    before = {
        at: {made_by[name] for name in names_read(node) if name in made_by} for at, node in enumerate(nodes)
    }
    depths: dict[int, int] = {}
    try:
        for at in TopologicalSorter(before).static_order():
            depths[at] = max((depths[other] + 1 for other in before[at]), default=0)
    except CycleError as error:
        circle = [nodes[at] for at in error.args[1][:-1]]
        named = ", ".join(node.name or f"{node.op_type} of {node.output[0]}" for node in circle)
        raise ModelError(f"the graph has a cycle: {named}") from None
    return depths
