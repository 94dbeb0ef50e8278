"""What of a graph does not depend on its inputs, computed once by QONNX's own execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.foreign_failures import foreign_call, text_of
from brainsmith.execution.standard_onnx.plans import STANDARD, known_as

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.standard_onnx.facts import Facts

_SHAPES = ("Shape", "Size")
"""Whose results are constants because all shapes of one run are known."""


def fold_constants(model: ModelWrapper, facts: Facts) -> None:
    """Note all constants of a graph, rounded to their annotations as QONNX does.

    Raises:
        ModelError: A node that depends on nothing cannot be computed.
    """
    from onnx import numpy_helper

    for tensor in model.graph.initializer:
        facts.constants[tensor.name] = _rounded(facts, tensor.name, numpy_helper.to_array(tensor))
    for node in model.graph.node:
        inputs = [name for name in node.input if name]
        if known_as(node.domain, node.op_type)[0] == STANDARD and node.op_type in _SHAPES:
            shape = np.asarray(facts.shapes[node.input[0]], np.int64)
            whole = node.op_type == "Size"
            facts.constants[node.output[0]] = (
                np.asarray(np.prod(shape, dtype=np.int64)) if whole else _part(node, shape)
            )
        elif all(name in facts.constants for name in inputs) and not _has_graph(node):
            for name, value in _computed(model, facts, node).items():
                facts.constants[name] = _rounded(facts, name, value)


def _part(node: Any, shape: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    stated = {attribute.name: attribute.i for attribute in node.attribute}
    return shape[stated.get("start", 0) : stated.get("end", len(shape))]


def _has_graph(node: Any) -> bool:
    return any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)


def _computed(model: ModelWrapper, facts: Facts, node: Any) -> dict[str, np.ndarray[Any, Any]]:
    from qonnx.core.onnx_exec import execute_node
    from qonnx.util.basic import get_preferred_qonnx_opset

    from brainsmith.execution.standard_onnx.facts import NodeView

    context = {"": None, **{name: facts.constants[name] for name in node.input if name}}
    for name in filter(None, node.output):
        context[name] = np.zeros(facts.shapes.get(name, ()), np.float32)
    version = model.get_opset_imports().get(node.domain, get_preferred_qonnx_opset())
    view = NodeView(node, facts, node.op_type, version)
    reason = "it depends on constants only, and cannot be computed: "
    with foreign_call(lambda error: view.refused(reason + text_of(error))):
        execute_node(node, context, model.graph, version)
    return {name: np.asarray(context[name]) for name in node.output if name}


def _rounded(facts: Facts, name: str, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.round(value) if name in facts.annotated and value.dtype.kind == "f" else value
