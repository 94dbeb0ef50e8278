"""FitThresholdLayouts: MultiThreshold nodes whose stated layout has another number of axes than their tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import attribute, set_attribute

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

CHANNELS_LAST = {2: "NC", 3: "NWC", 4: "NHWC"}


@transform(
    stage="cleanup",
    description="Let MultiThreshold nodes state a layout with as many axes as their tensor has",
    tags=("layout",),
)
class FitThresholdLayouts(Transformation):
    """State channels-last layouts where a MultiThreshold's layout cannot be right.

    QONNX infers layouts by handing them on from a tensor to the next, through a Reshape too, so that the tokens of
    a transformer get the four axes of its heads and the other way round; executing such a node fails. Nodes whose
    layout has the right number of axes stay as they are, and so do those with five axes and more.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Mend every such node; the flag is True exactly when there was one."""
        changed = [_fit(model, node) for node in model.graph.node if node.op_type == "MultiThreshold"]
        return model, any(changed)


def _fit(model: ModelWrapper, node: NodeProto) -> bool:
    shape = model.get_tensor_shape(node.input[0])
    stated = attribute(node, "data_layout", b"")
    layout = CHANNELS_LAST.get(len(shape or ()))
    if not stated or layout is None or len(stated) == len(layout):
        return False
    set_attribute(node, "data_layout", layout)
    for name in (node.input[0], node.output[0]):
        model.set_tensor_layout(name, list(layout))
    return True
