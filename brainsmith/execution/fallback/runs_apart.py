"""Which nodes may take many runs in the first axis of their inputs at once, by what is known of their operators.

To try it on samples proves nothing: samples that are alike, or hold zeros, come out right of a node that mixes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.execution.operators.operator import APART
from brainsmith.execution.semantics import semantics_of
from brainsmith.graph.model_facts import ModelFacts
from brainsmith.graph.node_view import NodeView, Unsupported
from brainsmith.graph.operator_names import STANDARD

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from qonnx.core.modelwrapper import ModelWrapper

_PROJECTS = ("brainsmith", "finn", "qonnx")
"""Whose operations these are; another's of the same name may do anything."""

_BY_PLACE = ("Max", "Min")
"""Of two zeros ONNX Runtime takes one or the other by where in its vectors they lie, so a run's depends on the others."""


def keeps_runs_apart(
    model: ModelWrapper, node: Any, constants: Mapping[str, np.ndarray[Any, Any]], project: str = ""
) -> bool:
    """Tell whether a node surely computes each run by itself when runs of (1, ...) lie in the first axis.

    Args:
        model: States the shapes of one run.
        node: Of the model.
        constants: By name; its other inputs vary.
        project: The package of the class whose Python model executes it; "" of a standard node.

    Returns:
        False also where that is not known.
    """
    view = NodeView(node, ModelFacts(model, constants))
    names = [name for name in (*view.inputs, *view.outputs) if view.varies(name)]
    shapes = [view.facts.shape(name) for name in names]
    if any(not shape or shape[0] != 1 for shape in shapes):
        return False
    standard = view.family == STANDARD
    if standard and view.kind in _BY_PLACE:
        return False
    if not standard and any(len(shape or ()) < 2 for shape in shapes):
        return False
    try:
        semantics = semantics_of(view)
        known = standard or semantics.own or project in _PROJECTS
        return known and semantics.mixes_runs(view) == APART
    except Unsupported:
        return False
