"""CropBetweenWindows: windows with steps beyond their size read what is left when the rest is cut away."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, set_attribute
from brainsmith.transforms.window_kernels import crop_of_image, pad_in_front

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


class _Slide(NamedTuple):
    """A node's windows: two numbers of each, height and width, and the padding in front and behind, and its value."""

    kernel: list[int]
    strides: list[int]
    pads: list[int]
    value: int


@transform(
    stage="hardware",
    description="Cut away what lies between windows whose stride is larger than they are",
    requires=("finn-plus",),
)
class CropBetweenWindows(Transformation):
    """Put a Crop kernel in front of each Im2Col and MaxPoolNHWC of integers whose windows do not touch along an axis.

    FINN's sliding windows cannot step beyond their size. What is left are windows side by side, and where these are one
    pixel, as of a 1 x 1 convolution with stride 2, the crop is all that there is: no window, no memory, and no weights
    of 0. Windows with dilation are left alone. An image that does not hold whole steps is padded first.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Crop in front of each such window; the flag is True exactly when there was one."""
        view, modified = GraphView(model), False
        for node in [node for node in model.graph.node if node.op_type in ("Im2Col", "MaxPoolNHWC")]:
            slide = _slide(model, node)
            if slide is not None and model.get_tensor_datatype(node.input[0]).is_integer():
                _crop(view, node, slide)
                modified = True
        return model, modified


def _slide(model: ModelWrapper, node: NodeProto) -> _Slide | None:
    """Return the windows of a node that have gaps between them; None if it has none, or dilations."""
    window = node.op_type == "Im2Col"
    kernel = list(attribute(node, "kernel_size" if window else "kernel_shape"))
    strides = list(attribute(node, "stride" if window else "strides"))
    pads = list(attribute(node, "pad_amount" if window else "pads", [0] * 4))
    dilations = attribute(node, "dilations", [1, 1])
    gaps = any(step > taps for step, taps in zip(strides, kernel, strict=True))
    if not gaps or any(by > 1 and taps > 1 for by, taps in zip(dilations, kernel, strict=True)):
        return None
    least = int(model.get_tensor_datatype(node.input[0]).min())
    return _Slide(kernel, strides, pads, attribute(node, "pad_value", 0) if window else least)


def _crop(view: GraphView, node: NodeProto, slide: _Slide) -> None:
    """Put the kernels in front of a node, and take the node away if it has nothing left to do."""
    model = view.model
    results = model.get_tensor_shape(node.output[0])[1:3]
    channels = model.get_tensor_shape(node.input[0])[-1]
    image = model.get_tensor_shape(node.input[0])[1:3]
    behind = list(slide.pads[2:])
    cut: list[
        tuple[int, int, int, int]
    ] = []  # of each axis: blocks, pixels of a block, and how many of both are kept
    for axis in (0, 1):
        size, step, taps = (
            slide.pads[axis] + image[axis] + behind[axis],
            slide.strides[axis],
            slide.kernel[axis],
        )
        if step <= taps:
            cut.append((1, size, 1, size))
            continue
        blocks = -(-size // step)
        behind[axis] += blocks * step - size
        cut.append((blocks, step, results[axis], taps))
    place = list(model.graph.node).index(node)
    pad = pad_in_front(view, node, slide.pads[:2], behind, slide.value)
    padded, datatype = node.input[0], model.get_tensor_datatype(node.input[0])
    kept = [blocks * taps for _, _, blocks, taps in cut]
    strides = [min(step, taps) for step, taps in zip(slide.strides, slide.kernel, strict=True)]
    alone = slide.kernel == strides == [1, 1]
    result = [1, *kept, channels]
    output = node.output[0] if alone else view.new_tensor(f"{node.output[0]}_cropped", result, datatype)
    within = [1, *cut[0][:2], *cut[1][:2], channels], [1, *cut[0][2:], *cut[1][2:], channels]
    shapes = model.get_tensor_shape(padded), *within, result
    new = crop_of_image(padded, output, f"{node.name}_crop", datatype, shapes)
    for offset, each in enumerate([each for each in (pad, new) if each is not None]):
        model.graph.node.insert(place + offset, each)
    model.set_tensor_datatype(output, datatype)
    if alone:
        model.graph.node.remove(node)
        return
    node.input[0] = output
    model.set_tensor_datatype(node.output[0], datatype)
    if node.op_type == "Im2Col":
        set_attribute(node, "stride", strides)
        set_attribute(node, "pad_amount", [0] * 4)
        set_attribute(node, "input_shape", f"(1,{kept[0]},{kept[1]},{channels})")
    else:
        set_attribute(node, "strides", strides)
        set_attribute(node, "pads", [0] * 4)
