"""What a network computes and nobody reads: exporters leave it behind, and no layer is needed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.plugin.adapters.graph_edits import names_read

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

OPTIONAL = ("Dropout", "MaxPool")
"""Operators whose further results ONNX lets a node leave out: a mask, and the places of the largest values."""


def drop_unread_results(model: ModelWrapper) -> None:
    """Remove nodes of which no result is read, and no output of the graph, and optional results likewise, in place."""
    read = {value.name for value in model.graph.output}
    for node in reversed(model.graph.node[:]):
        if read.isdisjoint(node.output):
            model.graph.node.remove(node)
            continue
        read.update(names_read(node))
        if node.op_type in OPTIONAL and not node.domain:
            while len(node.output) > 1 and node.output[-1] not in read:
                node.output.pop()
