"""Which nodes may take many runs in the first axis of their inputs at once, by what is known of their operators.

To try it on samples proves nothing: samples that are alike, or hold zeros, come out right of a node that mixes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.execution.operators.readers import read
from brainsmith.execution.operators.several_runs import APART
from brainsmith.execution.own_semantics import own_method, take_kernel
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
    model: ModelWrapper, node: Any, constants: Mapping[str, np.ndarray[Any, Any]], operation: Any = None
) -> bool:
    """Tell whether a node surely computes each run by itself when runs of (1, ...) lie in the first axis.

    Args:
        model: States the shapes of one run.
        node: Of the model.
        constants: By name; its other inputs vary.
        operation: That executes it, if it is a custom one; its class may know that itself (`own_semantics`).

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
    if operation is not None:
        take_kernel(view)
        if (mixes := own_method(node, view.opset, "mixes_runs")) is not None:
            return bool(mixes(view) == APART)
        if type(operation).__module__.partition(".")[0] not in _PROJECTS:
            return False
    try:
        rule = getattr(read(view), "mixes_runs", None)
        return rule is not None and rule(view) == APART
    except Unsupported:
        return False
