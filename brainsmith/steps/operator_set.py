"""The version of ONNX's operators: what older exporters write is brought to that in which layers are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.transforms.graph_view import opset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

LEAST = 13
"""In this version axes and limits of ReduceSum, Squeeze and Split are inputs, as layers have them."""


def with_new_operators(model: ModelWrapper) -> ModelWrapper:
    """Return a model of an older operator set with ONNX's own conversion to version 13; others as they are.

    Names of nodes and annotations stay. An Upsample becomes a Resize, and limits of a Clip become inputs.

    Args:
        model: With the shapes of all tensors, by which a Softmax is converted.
    """
    if opset(model) >= LEAST:
        return model
    from onnx import version_converter
    from onnx.shape_inference import InferenceError
    from qonnx.core.modelwrapper import ModelWrapper

    try:
        made = version_converter.convert_version(model.model, LEAST)
    except (
        RuntimeError,
        ValueError,
        InferenceError,
    ):  # it knows no conversion of one of the nodes, which may need none
        return model
    _keep_names(model.graph.node, made.graph.node)
    made.graph.quantization_annotation.extend(model.graph.quantization_annotation)
    return ModelWrapper(made)


def _keep_names(before: Iterable[NodeProto], after: Sequence[NodeProto]) -> None:
    """Name nodes as those that gave the same; one that gives something new as that which read the same and is no more."""
    names = {node.output[0]: node.name for node in before}
    given = {node.output[0] for node in after}
    gone = {node.input[0]: node.name for node in before if node.input and node.output[0] not in given}
    for node in after:
        source = node.input[0] if node.input else ""
        node.name = names.get(node.output[0]) or node.name or gone.pop(source, "") or f"of_{node.output[0]}"
