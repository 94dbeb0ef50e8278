"""PadWindows: padding of sliding windows that is not 0, and images of two pixels."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, set_attribute
from brainsmith.transforms.window_kernels import pad_in_front

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


@transform(
    stage="hardware",
    description="Pad before sliding windows: other integers than 0, as a maximum needs, and images of two pixels",
    requires=("finn-plus",),
)
class PadWindows(Transformation):
    """Put a Pad kernel before each Im2Col of integers that pads with another value than 0, or has two pixels in all.

    FINN's FMPadding pads with 0 only; a max-pool of signed integers pads with the least. FINN's sliding window never ends
    an image of two beats, so one of two pixels gets a third, over which no window slides.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Take the padding out of each such window; the flag is True exactly when there was one."""
        view, modified = GraphView(model), False
        for node in [node for node in model.graph.node if node.op_type == "Im2Col"]:
            pads, value = list(attribute(node, "pad_amount", [0] * 4)), attribute(node, "pad_value", 0)
            datatype = model.get_tensor_datatype(node.input[0])
            _, height, width, channels = model.get_tensor_shape(node.input[0])
            sizes = [height + pads[0] + pads[2], width + pads[1] + pads[3]]
            pair = prod(sizes) == 2 and list(attribute(node, "kernel_size")) == sizes
            if not (pair or (value and any(pads))) or not datatype.is_integer():
                continue
            if pair:
                value = value if any(pads) else datatype.min()
                pads[2 + sizes.index(2)] += 1
                set_attribute(node, "stride", sizes)
            new = pad_in_front(view, node, pads[:2], pads[2:], int(value))
            assert new is not None
            model.graph.node.insert(list(model.graph.node).index(node), new)
            set_attribute(node, "pad_amount", [0] * 4)
            set_attribute(node, "pad_value", 0)
            padded = (height + pads[0] + pads[2], width + pads[1] + pads[3])
            set_attribute(node, "input_shape", f"(1,{padded[0]},{padded[1]},{channels})")
            model.set_tensor_datatype(node.output[0], model.get_tensor_datatype(node.input[0]))
            modified = True
        return model, modified
