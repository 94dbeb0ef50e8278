"""Whether an operator computes each run by itself when runs lie in the first axis one after the other.

A tensor of one run has shape (A, ...); of n runs (n * A, ...), the runs in their order. An operator *keeps runs apart* if
it turns such inputs into such outputs. Where every node does, the whole graph takes any number of runs at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainsmith.graph.node_view import NodeView

APART = ""
"""The answer of an operator that keeps runs apart; any other text says why it does not."""


class Apart:
    """An operator whose first axis is the batch, or that works along the last axis of two or more."""

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis: nothing."""
        return APART


class ByValue:
    """An operator that works value by value, with parameters that broadcast to its tensor."""

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis: an input is repeated along it, or differs."""
        shape = node.shape(node.outputs[0])
        for at, name in enumerate(node.inputs):
            if not name:
                continue
            given = node.shape(name)
            if node.is_computed(at) and (len(given) != len(shape) or given[0] != shape[0]):
                return f"input '{name}' of shape {given} is repeated along the first axis"
            if not node.is_computed(at) and len(given) == len(shape) and given[0] != 1:
                return f"constant '{name}' differs along the first axis"
        return APART
