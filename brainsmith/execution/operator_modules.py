"""Which modules define the operators of a graph: what is made of a model holds what they compute."""

from __future__ import annotations

from typing import Any

from brainsmith.graph.well_formed import all_graphs
from brainsmith.plugin.node_types import classes_in_use


def operator_modules(graph: Any) -> set[str]:
    """Return the modules of the classes of a graph's nodes, and of their base classes.

    Only those that were asked for something count, so this is asked once something was made of the model.

    Args:
        graph: Of a model, or in an attribute of a node; such ones within it count too.
    """
    types = {(node.domain, node.op_type) for inner in all_graphs(graph) for node in inner.node}
    classes = {base for kind in types for cls in classes_in_use(*kind) for base in _bases(cls)}
    return {base.__module__ for base in classes} - {"builtins", "abc"}


def _bases(cls: type) -> tuple[type, ...]:
    """Return a class of nodes and its bases, and those of its op if that says how it is executed."""
    op = type(getattr(cls, "op", None))
    return cls.__mro__ + (op.__mro__ if hasattr(op, "to_program") or hasattr(op, "to_onnx") else ())
