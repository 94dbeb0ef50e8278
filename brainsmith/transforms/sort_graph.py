"""SortGraph: nodes behind those whose outputs they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qonnx.transformation.base import Transformation

from brainsmith.errors import ModelError
from brainsmith.plugin.adapters.graph_edits import forget_unused, names_read
from brainsmith.plugin.core import transform

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


@transform(
    name="SortGraph",
    stage="graph_tidying",
    description="Sort the nodes topologically, and drop those that are connected to nothing",
    author="BrainSmith",
    version="0.1.0",
    requires=("qonnx",),
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


def _depths(nodes: list[NodeProto]) -> list[int]:
    """Return for each node how many nodes lie before it on the longest way to it."""
    made_by = {name: at for at, node in enumerate(nodes) for name in node.output if name}
    before = [{made_by[name] for name in names_read(node) if name in made_by} for node in nodes]
    behind: list[list[int]] = [[] for _ in nodes]
    for at, needed in enumerate(before):
        for other in needed:
            behind[other].append(at)
    waiting = [len(needed) for needed in before]
    depths = [0] * len(nodes)
    ready = [at for at, count in enumerate(waiting) if not count]
    for at in ready:
        for other in behind[at]:
            depths[other] = max(depths[other], depths[at] + 1)
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    if len(ready) < len(nodes):
        raise ModelError(f"the graph has a cycle: {_circle(nodes, before, set(ready))}")
    return depths


def _circle(nodes: list[NodeProto], before: list[set[int]], sorted_ones: set[int]) -> str:
    """Name the nodes of one circle: each reads what the one before it makes, and the first what the last one does."""
    way = [next(at for at in range(len(nodes)) if at not in sorted_ones)]
    while way.count(way[-1]) == 1:
        way.append(min(before[way[-1]] - sorted_ones))
    circle = reversed(way[way.index(way[-1]) + 1 :])
    return ", ".join(nodes[at].name or f"{nodes[at].op_type} of {nodes[at].output[0]}" for at in circle)
