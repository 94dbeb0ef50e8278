"""What a model says of functions of its own, which ONNX puts in place of the nodes that call them."""

from __future__ import annotations

from collections import Counter
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from brainsmith.graph.well_formed import all_graphs, node_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Name = tuple[str, str]

MOST_NODES = 100_000
"""For which the calls of a model may stand together: a few functions that call each other twice make billions."""
MOST_CALLS = 500
"""Of functions within each other: ONNX goes into each by a call of its own, until its stack ends."""


def function_faults(model: Any) -> Iterator[str]:
    """Yield a function that calls itself, perhaps through others, and the node whose calls stand for too many nodes.

    Args:
        model: An ONNX model.
    """
    if not model.functions:
        return
    calls = {
        _name(function.domain, function.name): _called(all_graphs(function)) for function in model.functions
    }
    try:
        known = _expanded(calls)
    except CycleError as error:  # of which each calls the one before it
        shown = " -> ".join(f"function '{name}'" for _, name in reversed(error.args[1]))
        yield f"it has a cycle: {shown}"
        return
    total = 0
    for graph in all_graphs(model.graph):
        for node in graph.node:
            name = _name(node.domain, node.op_type)
            nodes, depth = known.get(name, (1, 0))
            total += nodes
            if name in known and total > MOST_NODES:
                text = f"{node_text(node)} calls function '{name[1]}', with which the model has"
                yield f"{text} more than {MOST_NODES:,} nodes"
            if depth > MOST_CALLS:
                yield f"{node_text(node)} calls more than {MOST_CALLS:,} functions within each other"


def _expanded(calls: Mapping[Name, Counter[Name]]) -> dict[Name, tuple[int, int]]:
    """Return for how many nodes a call of each function stands, and how deep its calls go.

    Numbers beyond what there can be are not exact.

    Raises:
        CycleError: A function calls itself.
    """
    known: dict[Name, tuple[int, int]] = {}
    for name in TopologicalSorter(calls).static_order():
        if name in calls:
            nodes = sum(count * known.get(other, (1, 0))[0] for other, count in calls[name].items())
            depth = max((known[other][1] for other in calls[name] if other in known), default=0)
            known[name] = (min(nodes, MOST_NODES + 1), depth + 1)
    return known


def _called(graphs: Iterable[Any]) -> Counter[Name]:
    """Count the operators that nodes name, those in branches and loops too."""
    return Counter(_name(node.domain, node.op_type) for graph in graphs for node in graph.node)


def _name(domain: str, name: str) -> Name:
    return ("" if domain == "ai.onnx" else domain, name)
