"""Which models compute the same for ever: their operators change with known code alone."""

from __future__ import annotations

from typing import Any

from brainsmith.execution.foreign_code import is_lasting
from brainsmith.graph.well_formed import all_graphs

_OWN_DOMAINS = ("brainsmith.kernels", "brainsmith.backends.hls", "brainsmith.backends.rtl")


def has_lasting_operators(graph: Any) -> bool:
    """Tell whether what a graph (a `GraphProto`) computes may be kept: operators of plugins may read anything."""
    domains = {node.domain for each in all_graphs(graph) for node in each.node}
    return all(is_lasting(domain) or domain in _OWN_DOMAINS for domain in domains)
