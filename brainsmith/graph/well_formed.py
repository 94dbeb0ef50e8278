"""Whether a graph is well formed: each tensor is given once, nothing reads what is not given, no name stands twice.

ONNX's own checker wants more (types of all inputs, known operators) and takes a hundred times as long; a build asks
this after every transform.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_GRAPHS = (5, 10)
"""The types of an attribute that holds a graph, or several (`AttributeProto.GRAPH`, `GRAPHS`)."""


def structure_fault(graph: Any, names: bool = True) -> str:
    """Return what is wrong with a graph's structure; nothing if it is well formed.

    Each input of a node is an input, an initialiser or an output of a node, of this graph or of one around it; no
    tensor is given twice; the outputs are given; no node depends on itself; no two nodes have one name. The order of
    the nodes does not matter.

    Args:
        graph: An ONNX graph; graphs inside of its nodes are checked too.
        names: Whether two nodes with one name are a fault. ONNX allows them.
    """
    return next(_faults(graph, frozenset(), names), "")


def node_text(node: Any) -> str:
    """Name a node for a message: by what it gives if it has no name."""
    name = node.name or next((output for output in node.output if output), "?")
    return f"node '{name}' ({node.op_type})"


def _faults(graph: Any, outer: frozenset[str], names: bool) -> Iterator[str]:
    """Yield what is wrong, the first cause first; outer tensors are those of the graphs around."""
    nodes = list(graph.node)
    given = {value.name for value in graph.input}
    given.update(tensor.name for tensor in graph.initializer)
    given.update(tensor.values.name for tensor in graph.sparse_initializer)
    ends = len(given)
    outputs = [name for node in nodes for name in node.output if name]
    given.update(outputs)
    if len(given) != ends + len(outputs):
        yield _given_twice(graph, nodes)
    if names:
        named = [node.name for node in nodes if node.name]
        if len(set(named)) != len(named):
            yield _named_twice(nodes)
    given.update(outer)
    given.add("")
    for node in nodes:
        if not given.issuperset(node.input):
            missing = next(name for name in node.input if name not in given)
            yield f"{node_text(node)} needs the tensor '{missing}', which no input, constant or node gives"
    for value in graph.output:
        if value.name not in given:
            yield f"the graph's output '{value.name}' is given by no input, constant or node"
    inside = [(node, inner) for node in nodes for inner in graphs_of(node)]
    yield from _cycles(nodes, set(outputs), inside)
    for node, inner in inside:
        for fault in _faults(inner, frozenset(given), names):
            yield f"{node_text(node)}, in its graph '{inner.name}': {fault}"


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


def _cycles(nodes: Sequence[Any], outputs: set[str], inside: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    """Yield a cycle if there is one; where the nodes stand in order, one look at each shows that there is none.

    A node reads what the graphs inside of it read of this one.
    """
    read_inside: dict[int, set[str]] = {}
    for node, inner in inside:
        read_inside.setdefault(id(node), set()).update(_read_by(inner) & outputs)
    pending = set(outputs)
    for at, node in enumerate(nodes):
        reads = node.input if id(node) not in read_inside else chain(node.input, read_inside[id(node)])
        if not pending.isdisjoint(reads):
            yield from _cycle_in(nodes[at:], pending, read_inside)
            return
        pending.difference_update(node.output)


def _read_by(graph: Any) -> set[str]:
    """Return all that a graph and those inside of it read or give out, under whatever name."""
    return {
        name
        for each in all_graphs(graph)
        for name in chain(
            (name for node in each.node for name in node.input), (value.name for value in each.output)
        )
    }


def _cycle_in(nodes: Sequence[Any], pending: set[str], read_inside: dict[int, set[str]]) -> Iterator[str]:
    """Take away, in their order, the nodes whose inputs are there; what stays depends on itself."""
    readers: dict[str, list[int]] = {}
    lacking: list[int] = []
    for at, node in enumerate(nodes):
        needed = (set(node.input) | read_inside.get(id(node), set())) & pending
        lacking.append(len(needed))
        for name in needed:
            readers.setdefault(name, []).append(at)
    ready = [at for at, count in enumerate(lacking) if not count]
    for at in ready:  # grows while it is read
        for reader in chain.from_iterable(readers.get(name, ()) for name in nodes[at].output):
            lacking[reader] -= 1
            if not lacking[reader]:
                ready.append(reader)
    stuck = [nodes[at] for at, count in enumerate(lacking) if count]
    if stuck:
        yield _cycle_text(stuck, read_inside)


def _cycle_text(stuck: Sequence[Any], read_inside: dict[int, set[str]]) -> str:
    """Name the nodes of one cycle: go from a stuck node to one that it waits for until a node comes again."""
    giver = {name: node for node in stuck for name in node.output if name}
    path: list[Any] = [stuck[0]]
    seen: dict[int, int] = {}
    while id(path[-1]) not in seen:
        node = path[-1]
        seen[id(node)] = len(path) - 1
        waits: Iterable[str] = chain(node.input, read_inside.get(id(node), ()))
        path.append(next(giver[name] for name in waits if name in giver))
    cycle = path[seen[id(path[-1])] :][::-1]
    shown = [node_text(node) for node in cycle]
    if len(shown) > 6:
        shown = [*shown[:5], f"{len(shown) - 6} more nodes", shown[-1]]
    return f"it has a cycle: {' -> '.join(shown)}"
