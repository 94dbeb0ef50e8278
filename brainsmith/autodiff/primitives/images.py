"""Ops on images, NCHW: convolution, max-pooling and the mean of all pixels, with exact gradients.

Inside, a convolution is one matrix product: the windows of its input, channels last, are the rows of a matrix. So
BLAS does the work, and what comes out is channels last in memory too, which suits the next convolution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxCall, OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive
from brainsmith.autodiff.primitives.windows import (
    WindowGeometry,
    add_windows,
    channels_last,
    check_image,
    weight_columns,
    window_places,
    window_rows,
    with_border,
)
from brainsmith.errors import OpError
from brainsmith.figures import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from brainsmith.autodiff.op import Array, Arrays, Dtypes, Shape, Shapes


def _conv_attributes(call: OnnxCall) -> Mapping[str, Any]:
    """Write everything out: QONNX's lowering of convolutions reads no default."""
    windows = Conv2d.windows(call.shapes[0], call.shapes[1], call.attributes)
    return {**_window_attributes(windows), "dilations": [1, 1], "group": call.attributes["groups"]}


def _pool_attributes(call: OnnxCall) -> Mapping[str, Any]:
    return _window_attributes(MaxPool2d.windows(call.shapes[0], call.attributes))


def _window_attributes(windows: WindowGeometry) -> dict[str, Any]:
    kernel, pads, strides = list(windows.kernel), list(windows.border) * 2, list(windows.stride)
    return {"kernel_shape": kernel, "pads": pads, "strides": strides}


class Conv2d(Primitive):
    """The cross-correlation of images (N, C, H, W) with weights (O, C / groups, KH, KW): (N, O, H', W').

    Attributes: `stride` and `padding` (zeros on both sides), a number or (rows, columns) each, and `groups`.
    """

    name, num_inputs = "conv2d", 2
    attributes: ClassVar[Mapping[str, Any]] = {"stride": 1, "padding": 0, "groups": 1}
    onnx = OnnxForm("Conv", attributes=_conv_attributes)

    def forward(self, x: Array, weight: Array, **attributes: Any) -> Array:
        """Multiply the windows by the weights, group by group."""
        windows = self.windows(x.shape, weight.shape, attributes)
        padded = channels_last(x, windows.border)
        parts = [
            window_rows(padded[..., taken], windows) @ weight_columns(weight[kept])
            for taken, kept in _groups(weight.shape, attributes["groups"])
        ]
        flat = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        return flat.reshape(len(x), *windows.grid, len(weight)).transpose(0, 3, 1, 2)

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Add each window's gradient to the pixels that it covers; for the weights, multiply the windows by it."""
        x, weight = inputs
        windows = self.windows(x.shape, weight.shape, attributes)
        flat = np.moveaxis(grad, 1, -1).reshape(-1, len(weight))
        groups = _groups(weight.shape, attributes["groups"])
        if at == 1:
            return _weight_gradient(channels_last(x, windows.border), weight, flat, windows, groups)
        padded = np.zeros_like(channels_last(x, windows.border))
        for taken, kept in groups:
            add_windows(padded[..., taken], flat[:, kept] @ weight_columns(weight[kept]).T, windows)
        return windows.without_border(padded.transpose(0, 3, 1, 2))

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Refuse shapes that do not fit each other, and windows that do not fit the image."""
        x, weight, groups = inputs[0].shape, inputs[1].shape, attributes["groups"]
        check_image(self.name, x)
        if len(weight) != 4:
            raise OpError(f"conv2d takes weights (O, C / groups, KH, KW), not {weight}")
        if groups < 1 or x[1] != groups * weight[1] or weight[0] % groups:
            raise OpError(
                f"conv2d cannot apply weights {weight} to {plural(x[1], 'channel')} in {plural(groups, 'group')}"
            )
        self.windows(x, weight, attributes).check(self.name)

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Shape:
        """Count the windows."""
        image, weight = shapes
        return (image[0], weight[0], *self.windows(image, weight, attributes).grid)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> np.dtype[Any]:
        """Follow numpy's rule for a product."""
        return np.result_type(*dtypes)

    @staticmethod
    def windows(image: Shape, weight: Shape, attributes: Mapping[str, Any]) -> WindowGeometry:
        """Return where the windows of a call are."""
        return WindowGeometry(image, weight[2:], attributes["stride"], attributes["padding"])


class MaxPool2d(Primitive):
    """The greatest value of each window of an image (N, C, H, W); of equal ones the first has the gradient.

    Attributes: `kernel`, the size of a window, `stride`, where None as much, and `padding`, of less than all pixels.
    """

    name, num_inputs = "max_pool2d", 1
    attributes: ClassVar[Mapping[str, Any]] = {"kernel": 2, "stride": None, "padding": 0}
    onnx = OnnxForm("MaxPool", since=8, attributes=_pool_attributes)

    def forward(self, x: Array, **attributes: Any) -> Array:
        """Compare the first pixels of all windows with the second ones, and so on."""
        windows = self.windows(x.shape, attributes)
        first, *others = window_places(with_border(x, windows.border), windows)
        greatest: Array = first.copy(order="K")
        for place in others:
            np.maximum(greatest, place, out=greatest)
        return greatest

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Give each window's gradient to the value that was kept."""
        windows = self.windows(inputs[0].shape, attributes)
        padded = with_border(inputs[0], windows.border)
        gradient = np.zeros_like(padded)
        free = np.ones_like(output, dtype=bool)
        given = np.empty_like(output, dtype=grad.dtype)
        given[...] = grad  # in the output's layout in memory, which may be another one
        places = zip(window_places(padded, windows), window_places(gradient, windows), strict=True)
        for values, gradients in places:
            kept = values == output
            kept &= free
            free ^= kept
            gradients += np.where(kept, given, 0)
        return windows.without_border(gradient)

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Refuse what is no image, and windows that do not fit it or may lie outside it."""
        check_image(self.name, inputs[0].shape)
        windows = self.windows(inputs[0].shape, attributes)
        windows.check(self.name)
        if any(border >= size for border, size in zip(windows.border, windows.kernel, strict=True)):
            raise OpError(
                f"max_pool2d: a window of {windows.kernel} may lie in the padding {windows.border} alone"
            )

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Shape:
        """Count the windows."""
        return (*shapes[0][:2], *self.windows(shapes[0], attributes).grid)

    def output_datatype(self, datatypes: Sequence[str], **attributes: Any) -> str:
        """Keep the input's: the greatest value is one of them."""
        return datatypes[0]

    @staticmethod
    def windows(image: Shape, attributes: Mapping[str, Any]) -> WindowGeometry:
        """Return where the windows of a call are."""
        kernel, stride = attributes["kernel"], attributes["stride"]
        return WindowGeometry(image, kernel, kernel if stride is None else stride, attributes["padding"])


class GlobalAveragePool(Primitive):
    """The mean of each channel over the whole image: (N, C, H, W) to (N, C, 1, 1)."""

    name, num_inputs = "global_average_pool", 1
    onnx = OnnxForm("GlobalAveragePool")

    def forward(self, x: Array, **attributes: Any) -> Array:
        """Add up all pixels and divide."""
        return np.asarray(x.mean(axis=(2, 3), keepdims=True))

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Share the gradient out equally."""
        height, width = inputs[0].shape[2:]
        return np.broadcast_to(grad / (height * width), inputs[0].shape)

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Refuse what is no image of floats."""
        check_image(self.name, inputs[0].shape)
        if inputs[0].dtype.kind != "f":
            raise OpError(f"global_average_pool takes floats, because a mean is one, not {inputs[0].dtype}")

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Shape:
        """Keep samples and channels."""
        return (*shapes[0][:2], 1, 1)


def _groups(weight: Shape, groups: int) -> Iterator[tuple[slice, slice]]:
    """Yield the channels that each group takes, and those that it makes."""
    takes, makes = weight[1], weight[0] // groups
    for at in range(groups):
        yield slice(at * takes, (at + 1) * takes), slice(at * makes, (at + 1) * makes)


def _weight_gradient(
    padded: Array, weight: Array, flat: Array, windows: WindowGeometry, groups: Iterator[tuple[slice, slice]]
) -> Array:
    """Return the gradient of weights, given images (N, H, W, C) and the gradient of the output, (windows, O)."""
    gradient = np.empty_like(weight)
    shape = (*windows.kernel, weight.shape[1], -1)
    for taken, kept in groups:
        product = window_rows(padded[..., taken], windows).T @ flat[:, kept]
        gradient[kept] = product.reshape(shape).transpose(3, 2, 0, 1)
    return gradient


CONV2D, MAX_POOL2D, GLOBAL_AVERAGE_POOL = Conv2d(), MaxPool2d(), GlobalAveragePool()
