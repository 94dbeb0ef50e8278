"""Whether a graph is well formed: each tensor is given once, nothing reads what is not given, no name stands twice.

ONNX's own checker wants more (types of all inputs, known operators) and takes a hundred times as long; a build asks
this after every transform.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import TYPE_CHECKING, Any

from brainsmith.figures import plural
from brainsmith.graph.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_GRAPHS = (5, 10)
"""The types of an attribute that holds a graph, or several (`AttributeProto.GRAPH`, `GRAPHS`)."""


def structure_fault(graph: Any, names: bool = True) -> str:
    """Return what is wrong with a graph's structure; nothing if it is well formed.

    Each input of a node is an input, an initialiser or an output of a node, of this graph or of one around it; no
    tensor is given twice; the outputs are given; no node depends on itself; no two nodes have one name. The order of
    the nodes does not matter.

    Args:
        graph: An ONNX graph, or its `Wiring`; graphs inside of its nodes are checked too.
        names: Whether two nodes with one name are a fault. ONNX allows them.
    """
    wiring = graph if isinstance(graph, Wiring) else Wiring(graph)
    return next(_faults(wiring, frozenset(), names), "")


def node_text(node: Any) -> str:
    """Name a node for a message: by what it gives if it has no name."""
    name = node.name or next((output for output in node.output if output), "?")
    return f"node '{name}' ({node.op_type})"


def _faults(wiring: Wiring, outer: frozenset[str], names: bool) -> Iterator[str]:
    """Yield what is wrong, the first cause first; outer tensors are those of the graphs around."""
    graph, nodes, reads, gives = wiring.graph, wiring.nodes, wiring.reads, wiring.gives
    given = {*wiring.input_names, *wiring.constant_names}
    given.update([tensor.values.name for tensor in graph.sparse_initializer[:]])
    ends = len(given)
    made = [name for names_ in gives for name in names_ if name]
    given.update(made)
    if len(given) != ends + len(made):
        yield _given_twice(graph, nodes)
    if names:
        named = [name for node in nodes if (name := node.name)]
        if len(set(named)) != len(named):
            yield _named_twice(nodes)
    given.update(outer)
    given.add("")
    if not given.issuperset(chain.from_iterable(reads)):
        at, missing = next((at, name) for at, each in enumerate(reads) for name in each if name not in given)
        yield f"{node_text(nodes[at])} needs the tensor '{missing}', which no input, constant or node gives"
    for value in graph.output[:]:
        if value.name not in given:
            yield f"the graph's output '{value.name}' is given by no input, constant or node"
    inside = _inside(nodes)
    pending = set(made)
    if inside:  # a node reads what the graphs inside of it read of this one
        reads = list(reads)
        for at, inner in inside:
            reads[at] = [*reads[at], *_read_by(inner) & pending]
    yield from _cycles(nodes, reads, gives, pending)
    for at, inner in inside:
        for fault in _faults(Wiring(inner), frozenset(given), names):
            yield f"{node_text(nodes[at])}, in its graph '{inner.name}': {fault}"


def _inside(nodes: Sequence[Any]) -> list[tuple[int, Any]]:
    """Return the graphs inside of nodes, each with its node's place; few graphs have any, so one look shows that first."""
    kinds = {attribute.type for node in nodes for attribute in node.attribute[:]}
    if kinds.isdisjoint(_GRAPHS):
        return []
    return [(at, inner) for at, node in enumerate(nodes) for inner in graphs_of(node)]


def graphs_of(node: Any) -> list[Any]:
    """Return the graphs inside of a node: the branches of If, the body of Loop."""
    found = []
    for attribute in node.attribute:
        if attribute.type in _GRAPHS:
            found += [attribute.g] if attribute.type == _GRAPHS[0] else list(attribute.graphs)
    return found


def all_graphs(graph: Any) -> Iterator[Any]:
    """Yield a graph, and those inside of its nodes, however deep."""
    waiting = [graph]
    while waiting:
        graph = waiting.pop()
        yield graph
        waiting.extend(inner for node in graph.node for inner in graphs_of(node))


def _given_twice(graph: Any, nodes: Sequence[Any]) -> str:
    """Name the first tensor that two nodes give, or a node and an input or constant."""
    ends = [value.name for value in graph.input]
    ends += [tensor.name for tensor in graph.initializer]
    ends += [tensor.values.name for tensor in graph.sparse_initializer]
    giver = dict.fromkeys(ends, "the graph's input or constant")
    for node in nodes:
        for name in node.output:
            if name and name in giver:
                return f"the tensor '{name}' is given twice: by {giver[name]} and by {node_text(node)}"
            giver[name] = node_text(node)
    raise AssertionError("called for a graph in which no tensor is given twice")


def _named_twice(nodes: Sequence[Any]) -> str:
    first: dict[str, Any] = {}
    for node in nodes:
        if node.name and first.setdefault(node.name, node) is not node:
            kinds = f"{first[node.name].op_type} and {node.op_type}"
            return f"two nodes have the name '{node.name}' ({kinds})"
    raise AssertionError("called for nodes with names of their own")


def _cycles(
    nodes: Sequence[Any], inputs: Sequence[list[str]], outputs: Sequence[list[str]], pending: set[str]
) -> Iterator[str]:
    """Yield a cycle if there is one; where the nodes stand in order, one look at each shows that there is none."""
    for at, reads in enumerate(inputs):
        if not pending.isdisjoint(reads):
            yield from _cycle_in(nodes[at:], inputs[at:], outputs[at:], pending)
            return
        pending.difference_update(outputs[at])


def _read_by(graph: Any) -> set[str]:
    """Return all that a graph and those inside of it read or give out, under whatever name."""
    return {
        name
        for each in all_graphs(graph)
        for name in chain(
            (name for node in each.node for name in node.input), (value.name for value in each.output)
        )
    }


def _cycle_in(
    nodes: Sequence[Any], inputs: Sequence[list[str]], outputs: Sequence[list[str]], pending: set[str]
) -> Iterator[str]:
    """Yield a cycle of nodes that are not in order, if there is one."""
    giver = {name: at for at, names in enumerate(outputs) for name in names if name in pending}
    needs = {at: [giver[name] for name in reads if name in giver] for at, reads in enumerate(inputs)}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        shown = [node_text(nodes[at]) for at in error.args[1]]
        if len(shown) > 6:
            shown = [*shown[:5], plural(len(shown) - 6, "more node"), shown[-1]]
        yield f"it has a cycle: {' -> '.join(shown)}"
