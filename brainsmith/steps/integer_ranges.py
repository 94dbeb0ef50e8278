"""Tell how many bits sums and products of integers have, before kernels are inferred that depend on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.graph.integer_range import IntegerRange, within
from brainsmith.graph.model_facts import span_of
from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.transforms.graph_view import is_standard

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


def annotate_integer_ranges(model: ModelWrapper) -> ModelWrapper:
    """Annotate, in place, each Add and MatMul of integers with the smallest datatype that holds every result.

    QONNX's InferDataTypes calls them all INT32. A residual sum of two activations has one bit more than they have,
    and a kernel behind it (LayerNorm) needs to know. A MatMul by a constant has the range that its columns allow.
    """
    for node in model.graph.node:
        if not is_standard(node, "Add", "MatMul"):
            continue
        found = _range_of_sum(model, node) if node.op_type == "Add" else _range_of_product(model, node)
        if found is not None:
            model.set_tensor_datatype(node.output[0], integer_datatype(*found.ends))
    return model


def _range_of_sum(model: ModelWrapper, node: NodeProto) -> IntegerRange | None:
    first, second = (_range(model, name) for name in node.input)
    return None if first is None or second is None else first.shifted(*second)


def _range_of_product(model: ModelWrapper, node: NodeProto) -> IntegerRange | None:
    weights, given = model.get_initializer(node.input[1]), _range(model, node.input[0])
    if weights is None or given is None or weights.ndim != 2 or span_of(weights) is None:
        return None
    return given.sums(weights)


def _range(model: ModelWrapper, name: str) -> IntegerRange | None:
    """Return between which integers a tensor's values lie; None if they need not be integers."""
    values = model.get_initializer(name)
    if values is not None:
        span = span_of(values)
        return None if span is None else within(*span)
    datatype = model.get_tensor_datatype(name)
    return within(int(datatype.min()), int(datatype.max())) if datatype.is_integer() else None
