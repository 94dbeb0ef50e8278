"""Images with the channels last, as hardware streams them: (runs, batch, height, width, channels)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Sequence

Pair = tuple[int, int]


@instruction
def slide(images: Array, *, kernel: Pair, geometry: Sequence[Pair], fill: int, lanes: int) -> Array:
    """Give the window of each output pixel: (runs, batch, height, width, positions * channels).

    Args:
        images: The input.
        kernel: Height and width of a window.
        geometry: Of the windows, rows first.
        fill: What the padding holds.
        lanes: 0 for position by position, all channels of each; else so many channels at a time, all positions of
            each, as a depthwise sliding window in RTL gives them.
    """
    strides, dilations, before, after = geometry
    if any(before) or any(after):
        widths = [(0, 0), (0, 0), *zip(before, after, strict=True), (0, 0)]
        images = np.pad(images, widths, constant_values=fill)
    runs, batch, _, _, channels = images.shape
    reach = [(size - 1) * step + 1 for size, step in zip(kernel, dilations, strict=True)]
    view = np.lib.stride_tricks.sliding_window_view(images, tuple(reach), axis=(2, 3))
    view = view[:, :, :: strides[0], :: strides[1], :, :: dilations[0], :: dilations[1]]
    height, width = view.shape[2:4]
    shape = (runs, batch, height, width, kernel[0] * kernel[1] * channels)
    if not lanes:
        return np.ascontiguousarray(view.transpose(0, 1, 2, 3, 5, 6, 4)).reshape(shape)
    folds = view.reshape(runs, batch, height, width, channels // lanes, lanes, kernel[0] * kernel[1])
    return np.ascontiguousarray(folds.swapaxes(-1, -2)).reshape(shape)


@instruction
def gather_channels(windows: Array, *, channels: int, lanes: int) -> Array:
    """Give windows position by position that come so many channels at a time, all positions of each."""
    folds = windows.reshape(*windows.shape[:-1], channels // lanes, -1, lanes)
    return np.ascontiguousarray(folds.swapaxes(-3, -2)).reshape(windows.shape)


@instruction
def pool_windows(windows: Array, *, channels: int, kind: str, shift: int) -> Array:
    """Reduce windows (..., positions * channels) to (..., channels).

    Args:
        windows: Position by position.
        channels: Of a position.
        kind: `MaxPool`, `AccPool` (sum), `AvgPool` (mean), or `QuantAvgPool` (sum, shifted right).
        shift: Bits.
    """
    values = windows.reshape(*windows.shape[:-1], -1, channels)
    total = np.array(values[..., 0, :], np.int64 if kind == "QuantAvgPool" else windows.dtype)
    combine = np.maximum if kind == "MaxPool" else np.add
    for at in range(1, values.shape[-2]):
        combine(total, values[..., at, :], out=total, casting="unsafe")
    if kind == "AvgPool":
        total /= total.dtype.type(values.shape[-2])
    if kind == "QuantAvgPool":
        return np.asarray(np.right_shift(total, shift), windows.dtype)
    return total


@instruction
def spread_pixels(images: Array, *, strides: Pair) -> Array:
    """Put 0 between pixels: so many places from one to the next."""
    runs, batch, height, width, channels = images.shape
    size = [(count - 1) * step + 1 for count, step in zip((height, width), strides, strict=True)]
    result = np.zeros((runs, batch, *size, channels), np.float32)
    result[:, :, :: strides[0], :: strides[1]] = images
    return result


@instruction
def shift_sums(means: Array, *, count: int, shift: int) -> Any:
    """Return sums, shifted right, of whole numbers whose means were taken over so many."""
    sums = np.rint(means * np.float32(count))
    return np.right_shift(sums.astype(np.int64), shift).astype(np.float32)
