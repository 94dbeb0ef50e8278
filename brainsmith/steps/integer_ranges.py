"""Tell how many bits sums and products of integers have, before kernels are inferred that depend on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.graph.model_facts import span_of
from brainsmith.graph.sum_ranges import sum_ends
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
        limits = _sum_limits(model, node) if node.op_type == "Add" else _product_limits(model, node)
        if limits is not None:
            model.set_tensor_datatype(node.output[0], integer_datatype(*limits))
    return model


def _sum_limits(model: ModelWrapper, node: NodeProto) -> tuple[int, int] | None:
    first, second = (_limits(model, name) for name in node.input)
    return None if first is None or second is None else (first[0] + second[0], first[1] + second[1])


def _product_limits(model: ModelWrapper, node: NodeProto) -> tuple[int, int] | None:
    weights = model.get_initializer(node.input[1])
    limits = _limits(model, node.input[0])
    if weights is None or limits is None or weights.ndim != 2 or span_of(weights) is None:
        return None
    low, high = sum_ends(*limits, weights.astype("float64"))
    return int(low.min()), int(high.max())


def _limits(model: ModelWrapper, name: str) -> tuple[int, int] | None:
    """Return the least and the greatest value of an integer tensor."""
    values = model.get_initializer(name)
    if values is not None:
        return span_of(values)
    datatype = model.get_tensor_datatype(name)
    return (int(datatype.min()), int(datatype.max())) if datatype.is_integer() else None
