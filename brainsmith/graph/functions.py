"""What a model says of functions of its own, which ONNX puts in the place of the nodes that call them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.graph.well_formed import all_graphs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Name = tuple[str, str]


def recursion_faults(functions: Sequence[Any]) -> Iterator[str]:
    """Yield a function that calls itself, perhaps through others: ONNX would go on until its stack ends.

    Args:
        functions: Of a model (`FunctionProto`).
    """
    own = {_name(function.domain, function.name) for function in functions}
    calls = {_name(function.domain, function.name): _called(function) & own for function in functions}
    while done := {name for name, called in calls.items() if not called & calls.keys()}:
        calls = {name: called for name, called in calls.items() if name not in done}
    if calls:
        path = [min(calls)]
        while path[-1] not in path[:-1]:
            path.append(min(calls[path[-1]] & calls.keys()))
        cycle = path[path.index(path[-1]) :]
        shown = " -> ".join(f"function '{name}'" for _, name in cycle)
        yield f"it has a cycle: {shown}"


def _called(function: Any) -> set[Name]:
    """Return what a function's nodes name, those in branches and loops too."""
    return {_name(node.domain, node.op_type) for graph in all_graphs(function) for node in graph.node}


def _name(domain: str, name: str) -> Name:
    return ("" if domain == "ai.onnx" else domain, name)
