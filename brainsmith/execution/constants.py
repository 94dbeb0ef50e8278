"""What of a graph does not depend on its inputs, computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.foreign_failures import foreign_call, text_of
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import NodeView, Unsupported
from brainsmith.graph.operator_names import STANDARD
from brainsmith.graph.well_formed import graphs_of

if TYPE_CHECKING:
    from brainsmith.graph.model_facts import ModelFacts


def stated_shape(view: NodeView) -> dict[str, Array] | None:
    """Return what a Shape or a Size gives, which is the same in all runs; None of other operators.

    Raises:
        Unsupported: The shape is not known.
    """
    if view.family != STANDARD or view.kind not in ("Shape", "Size"):
        return None
    shape = view.shape(view.inputs[0])
    part = shape[view.attribute("start", 0) : view.attribute("end", None)]
    return {view.outputs[0]: np.asarray(np.prod(shape) if view.kind == "Size" else part, np.int64)}


def computed(node: Any, facts: ModelFacts) -> dict[str, Array]:
    """Run a node whose inputs are constants."""
    from brainsmith.execution.fallback.node_runners import make_runner

    return make_runner(facts.model, node, facts.constants).once({})


def folded(view: NodeView) -> dict[str, Array] | None:
    """Return a node's outputs, rounded to their annotations as QONNX does; None if its inputs change them.

    Raises:
        Unsupported: They depend on nothing, and cannot be computed.
    """
    if (shape := stated_shape(view)) is not None:
        return shape
    if any(map(view.varies, view.inputs)) or graphs_of(view.node):
        return None
    reason = "it depends on constants only, and cannot be computed: "
    with foreign_call(lambda error: Unsupported(reason + text_of(error))):
        values = computed(view.node, view.facts)
    return {name: _rounded(view.facts, name, value) for name, value in values.items()}


def _rounded(facts: ModelFacts, name: str, value: Array) -> Array:
    return np.round(value) if value.dtype.kind == "f" and facts.annotated(name) is not None else value
