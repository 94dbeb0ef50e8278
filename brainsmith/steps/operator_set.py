"""The version of ONNX's operators: what older exporters write is brought to that in which layers are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.transforms.graph_view import opset

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

LEAST = 13
"""From this version on, axes and limits of ReduceSum, Squeeze and Split are inputs; Resize is as layers use it from 11 on."""


def with_new_operators(model: ModelWrapper) -> ModelWrapper:
    """Return a model of an older operator set with ONNX's own conversion to version 13; others as they are.

    Names of nodes and annotations stay. An Upsample becomes a Resize, and limits of a Clip become inputs.

    Args:
        model: With the shapes of all tensors, by which a Softmax is converted.
    """
    if opset(model) >= LEAST:
        return model
    from onnx import version_converter
    from qonnx.core.modelwrapper import ModelWrapper

    try:
        made = version_converter.convert_version(model.model, LEAST)
    except (RuntimeError, ValueError):  # it knows no conversion of one of the nodes, which may need none
        return model
    names = {node.output[0]: node.name for node in model.graph.node}
    for node in made.graph.node:
        node.name = names.get(node.output[0], node.name)
    made.graph.quantization_annotation.extend(model.graph.quantization_annotation)
    return ModelWrapper(made)
