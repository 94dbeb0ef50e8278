"""What is put before sliding windows: Pad and Crop kernels of images, channels last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.rtl.cores.integers import padded_datatype
from brainsmith.transforms.graph_view import kernel_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import NodeProto
    from qonnx.core.datatype import BaseDataType

    from brainsmith.transforms.graph_view import GraphView


def pad_in_front(
    view: GraphView, node: NodeProto, before: Sequence[int], after: Sequence[int], value: int
) -> NodeProto | None:
    """Return a Pad kernel that surrounds a node's image, of which the node then reads the result; None of no padding.

    Args:
        view: Of the model.
        node: It reads an image (1, H, W, C).
        before: Rows and columns in front.
        after: Likewise after.
        value: What they hold.
    """
    if not any((*before, *after)):
        return None
    source = node.input[0]
    shape, given = view.model.get_tensor_shape(source), view.model.get_tensor_datatype(source)
    wide = [0, *before, 0], [0, *after, 0]
    padded = [low + size + high for low, size, high in zip(wide[0], shape, wide[1], strict=True)]
    wanted = padded_datatype(given, value)
    taken, name = {each.name for each in view.graph.node}, f"{node.name}_pad"
    while name in taken:  # a window that was cropped has been padded for that
        name = f"{name}_again"
    node.input[0] = view.new_tensor(f"{node.output[0]}_padded", padded, wanted)
    return kernel_node(
        "PadKernel", [source], [node.input[0]], name, in_shape=shape, within_shape=shape,
        before=wide[0], after=wide[1], value=value, out_shape=padded, inputDataType=given.name,
        outputDataType=wanted.name, SIMD=1,
    )  # fmt: skip


def crop_of_image(
    source: str,
    output: str,
    name: str,
    datatype: BaseDataType,
    shapes: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]],
) -> NodeProto:
    """Return a Crop kernel that keeps the first entries along each axis of an image in another shape.

    Args:
        source: The image.
        output: What is kept.
        name: Of the node.
        datatype: Of the values.
        shapes: Of the image, in which it is cut, of the window, and of the result.
    """
    given, within, sizes, result = shapes
    return kernel_node(
        "CropKernel", [source], [output], name, in_shape=given, within_shape=within, starts=[0] * len(within),
        sizes=sizes, out_shape=result, inputDataType=datatype.name, SIMD=1,
    )  # fmt: skip
