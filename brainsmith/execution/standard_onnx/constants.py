"""What of a graph does not depend on its inputs, computed once by QONNX's own execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.foreign_failures import foreign_call, text_of
from brainsmith.graph.node_view import NodeView, Unsupported
from brainsmith.graph.operator_names import STANDARD

if TYPE_CHECKING:
    from brainsmith.graph.model_facts import ModelFacts

Array = np.ndarray[Any, Any]

_SHAPES = ("Shape", "Size")
"""Whose results are constants because all shapes of one run are known."""


def folded(view: NodeView) -> dict[str, Array] | None:
    """Return a node's outputs, rounded to their annotations as QONNX does; None if its inputs change them.

    Raises:
        Unsupported: They depend on nothing, and cannot be computed.
    """
    if view.family == STANDARD and view.kind in _SHAPES:
        shape = np.asarray(view.shape(view.inputs[0]), np.int64)
        whole = view.kind == "Size"
        return {view.outputs[0]: np.asarray(np.prod(shape, dtype=np.int64)) if whole else _part(view, shape)}
    if any(map(view.varies, view.inputs)) or _has_graph(view.node):
        return None
    return {name: _rounded(view.facts, name, value) for name, value in _computed(view).items()}


def _part(view: NodeView, shape: Array) -> Array:
    return shape[view.attribute("start", 0) : view.attribute("end", len(shape))]


def _has_graph(node: Any) -> bool:
    return any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)


def _computed(view: NodeView) -> dict[str, Array]:
    from qonnx.core.onnx_exec import execute_node

    facts = view.facts
    context = {"": None, **{name: facts.constants[name] for name in view.inputs if name}}
    for name in filter(None, view.outputs):
        context[name] = np.zeros(facts.shape(name) or (), np.float32)
    reason = "it depends on constants only, and cannot be computed: "
    with foreign_call(lambda error: Unsupported(reason + text_of(error))):
        execute_node(view.node, context, facts.model.graph, view.opset)
    return {name: np.asarray(context[name]) for name in view.outputs if name}


def _rounded(facts: ModelFacts, name: str, value: Array) -> Array:
    return np.round(value) if value.dtype.kind == "f" and facts.annotated(name) is not None else value
