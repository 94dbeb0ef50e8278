"""What a model says of functions of its own, which ONNX puts in place of the nodes that call them."""

from __future__ import annotations

from collections import Counter
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
    known = _expanded(calls)
    if left := calls.keys() - known.keys():
        yield _cycle({name: calls[name].keys() & left for name in left})
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

    Numbers beyond what there can be are not exact. Those that call themselves are left out, and what calls them.
    """
    callers: dict[Name, list[Name]] = {name: [] for name in calls}
    waiting = dict.fromkeys(calls, 0)
    for name, called in calls.items():
        for other in called.keys() & calls.keys():
            callers[other].append(name)
            waiting[name] += 1
    known: dict[Name, tuple[int, int]] = {}
    ready = [name for name, count in waiting.items() if not count]
    while ready:
        name = ready.pop()
        nodes = sum(count * known.get(other, (1, 0))[0] for other, count in calls[name].items())
        depth = max((known[other][1] for other in calls[name] if other in known), default=0)
        known[name] = (min(nodes, MOST_NODES + 1), depth + 1)
        for caller in callers[name]:
            waiting[caller] -= 1
            if not waiting[caller]:
                ready.append(caller)
    return known


def _cycle(calls: dict[Name, Any]) -> str:
    while done := {name for name, called in calls.items() if not called}:
        calls = {name: called - done for name, called in calls.items() if name not in done}
    path = [min(calls)]
    while path[-1] not in path[:-1]:
        path.append(min(calls[path[-1]]))
    cycle = path[path.index(path[-1]) :]
    shown = " -> ".join(f"function '{name}'" for _, name in cycle)
    return f"it has a cycle: {shown}"


def _called(graphs: Iterable[Any]) -> Counter[Name]:
    """Count the operators that nodes name, those in branches and loops too."""
    return Counter(_name(node.domain, node.op_type) for graph in graphs for node in graph.node)


def _name(domain: str, name: str) -> Name:
    return ("" if domain == "ai.onnx" else domain, name)
