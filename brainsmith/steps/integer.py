"""integer: bring a quantised network into layers of integers, exact by construction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step
from brainsmith.steps.own_transforms import own_transform, transformed

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


@step(
    description="Rewrite a QONNX network as layers of integers, in place of qonnx_to_finn and streamline",
    requires=("qonnx",),
)
def integer(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Rewrite a network of QONNX quantisers as layers of integers, channels last.

    No scale is moved by rules of algebra: each threshold is found by evaluating the network's own operators over the
    integers that reach it (transform IntegerLayers). An input of floats that a quantiser follows is quantised by the
    host, and so are the scales behind the last layer.

    Raises:
        ModelError: A node has no layer of integers; the text names each such node, and why.
    """
    from qonnx.transformation.infer_shapes import InferShapes

    if not model.check_all_tensor_shapes_specified():
        model = model.transform(InferShapes())
    layers = transformed(model, own_transform("IntegerLayers")(), InferShapes())
    return transformed(layers, own_transform("InferGlobalSum")())
