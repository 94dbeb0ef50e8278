"""CropBetweenWindows: windows with steps beyond their size read what is left when the rest is cut away."""

from __future__ import annotations

from math import prod
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
    dilations: list[int]
    pads: list[int]
    value: int

    def is_apart(self, axis: int) -> bool:
        """Tell whether a stride is beyond the taps, and the pixels between can be cut away."""
        step, taps = self.strides[axis], self.kernel[axis]
        return step > taps and (taps == 1 or step % self.dilations[axis] == 0)


class _KeptAxis(NamedTuple):
    """What is kept along an axis: the axis as nested loops, the outermost first, how many of each turn are kept.

    Attributes:
        padded: Its pixels, with padding.
        loops: Turns, and how many are kept.
        stride: Of the windows over what is kept.
        dilation: Likewise.
    """

    padded: int
    loops: list[tuple[int, int]]
    stride: int
    dilation: int


@transform(
    stage="hardware",
    description="Cut away what lies between windows whose stride is larger than they are",
    requires=("finn-plus",),
)
class CropBetweenWindows(Transformation):
    """Put a Crop kernel before each Im2Col and MaxPoolNHWC of integers whose windows do not touch along an axis.

    FINN's sliding windows cannot step beyond their size. What is left are windows side by side, and where these are one
    pixel, as of a 1 x 1 convolution with stride 2, the crop is all that there is: no window, no memory, and no weights
    of 0. Where the stride is a multiple of the dilation, what lies between the taps goes, too; else windows with dilation
    are left alone. An image that does not hold whole steps is padded first.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Crop before each such window; the flag is True exactly when there was one."""
        view, modified = GraphView(model), False
        for node in [node for node in model.graph.node if node.op_type in ("Im2Col", "MaxPoolNHWC")]:
            slide = _slide(model, node)
            if slide is not None and model.get_tensor_datatype(node.input[0]).is_integer():
                _crop(view, node, slide)
                modified = True
        return model, modified


def _slide(model: ModelWrapper, node: NodeProto) -> _Slide | None:
    """Return the windows of a node, if there is something to cut between them."""
    window = node.op_type == "Im2Col"
    least = int(model.get_tensor_datatype(node.input[0]).min())
    found = _Slide(
        list(attribute(node, "kernel_size" if window else "kernel_shape")),
        list(attribute(node, "stride" if window else "strides")),
        list(attribute(node, "dilations", [1, 1])),
        list(attribute(node, "pad_amount" if window else "pads", [0] * 4)),
        attribute(node, "pad_value", 0) if window else least,
    )
    return found if any(found.is_apart(axis) for axis in (0, 1)) else None


def _axis(slide: _Slide, axis: int, size: int, results: int) -> _KeptAxis:
    """Return what is kept along an axis of so many pixels, with padding, and so many windows."""
    step, taps, by = slide.strides[axis], slide.kernel[axis], slide.dilations[axis]
    if not slide.is_apart(axis):
        return _KeptAxis(size, [(size, size)], step, by)
    by = 1 if taps == 1 else by
    if results == 1 and by == 1:
        return _KeptAxis(size, [(size, taps)], taps, 1)
    if step // by <= taps:
        groups = -(-size // by)
        return _KeptAxis(groups * by, [(groups, groups), (by, 1)], step // by, 1)
    blocks = -(-size // step)
    inner = [(step // by, taps), (by, 1)] if by > 1 else [(step, taps)]
    return _KeptAxis(blocks * step, [(blocks, results), *inner], taps, 1)


def _crop(view: GraphView, node: NodeProto, slide: _Slide) -> None:
    """Put the kernels before a node, and take the node away if it has nothing left to do."""
    model = view.model
    _, *image, channels = model.get_tensor_shape(node.input[0])
    results = model.get_tensor_shape(node.output[0])[1:3]
    sizes = [slide.pads[at] + image[at] + slide.pads[at + 2] for at in (0, 1)]
    axes = [_axis(slide, at, sizes[at], results[at]) for at in (0, 1)]
    place = list(model.graph.node).index(node)
    behind = [slide.pads[at + 2] + axes[at].padded - sizes[at] for at in (0, 1)]
    kind = model.get_tensor_datatype(node.input[0])
    read = any(slide.pads) or kind.allowed(slide.value)
    # What is put behind to be cut away may be any value of the datatype: 0 is none of BIPOLAR.
    pad = pad_in_front(view, node, slide.pads[:2], behind, slide.value if read else int(kind.min()))
    padded, datatype = node.input[0], model.get_tensor_datatype(node.input[0])
    kept = [prod(count for _, count in axis.loops) for axis in axes]
    strides, dilations = [axis.stride for axis in axes], [axis.dilation for axis in axes]
    alone = slide.kernel == strides == [1, 1]
    result = [1, *kept, channels]
    output = node.output[0] if alone else view.new_tensor(f"{node.output[0]}_cropped", result, datatype)
    loops = [*axes[0].loops, *axes[1].loops]
    within = [1, *(size for size, _ in loops), channels], [1, *(count for _, count in loops), channels]
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
        set_attribute(node, "dilations", dilations)
        set_attribute(node, "pad_amount", [0] * 4)
        set_attribute(node, "input_shape", f"(1,{kept[0]},{kept[1]},{channels})")
    else:
        set_attribute(node, "strides", strides)
        set_attribute(node, "pads", [0] * 4)
