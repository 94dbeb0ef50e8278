"""Names of nodes: ONNX allows one twice, and whatever finds a node by its name then finds the wrong one."""

from __future__ import annotations

from typing import Any

from brainsmith.graph.well_formed import all_graphs


def make_names_unique(graph: Any) -> dict[str, str]:
    """Rename all but the first node of each name, in a graph and in those inside of its nodes; nodes without one stay so.

    Returns:
        The new names, and the one that each node had.
    """
    renamed: dict[str, str] = {}
    for each in all_graphs(graph):
        taken = {node.name for node in each.node}
        seen: set[str] = set()
        for node in each.node:
            if node.name in seen:
                at = 1
                while f"{node.name}_{at}" in taken:
                    at += 1
                renamed[f"{node.name}_{at}"] = node.name
                node.name = f"{node.name}_{at}"
                taken.add(node.name)
            elif node.name:
                seen.add(node.name)
    return renamed
