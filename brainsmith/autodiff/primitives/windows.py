"""The windows of an image: how many there are, and how they lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.errors import OpError

if TYPE_CHECKING:
    from brainsmith.autodiff.op import Array, Shape

Pair = int | tuple[int, int]
"""One number for rows and columns, or one each."""


class WindowGeometry:
    """Where the windows of an image (N, C, H, W) are.

    Attributes:
        kernel: The rows and columns of a window.
        stride: The steps from one window to the next, down and across.
        border: The rows above and below, and the columns left and right, that are added.
        grid: How many windows there are, down and across.
    """

    def __init__(self, image: Shape, kernel: Pair | Shape, stride: Pair, padding: Pair) -> None:
        self.image = image
        self.kernel, self.stride, self.border = _pair(kernel), _pair(stride), _pair(padding)
        self.grid = self._count(0), self._count(1)

    def _count(self, axis: int) -> int:
        free = self.image[2 + axis] + 2 * self.border[axis] - self.kernel[axis]
        return free // max(self.stride[axis], 1) + 1

    def check(self, name: str) -> None:
        """Raise OpError, naming an op, unless the numbers make sense and at least one window fits."""
        if min(*self.kernel, *self.stride) < 1 or min(self.border) < 0:
            raise OpError(
                f"{name}: windows and steps must be 1 or more, padding 0 or more, not {self.kernel}, {self.stride} "
                f"and {self.border}"
            )
        if min(self.grid) < 1:
            raise OpError(
                f"{name}: a window of {self.kernel} does not fit an image of {self.image[2:]} with padding {self.border}"
            )

    def without_border(self, padded: Array) -> Array:
        """Return the image inside the border."""
        (top, left), (height, width) = self.border, self.image[2:]
        return padded[:, :, top : top + height, left : left + width]


def _pair(value: Pair | Shape) -> tuple[int, int]:
    if isinstance(value, int):
        return value, value
    rows, columns = value
    return int(rows), int(columns)


def check_image(name: str, shape: Shape) -> None:
    """Raise OpError, naming an op, unless a shape is that of images."""
    if len(shape) != 4:
        raise OpError(f"{name} takes images (N, C, H, W), not {shape}")


def channels_last(x: Array, border: tuple[int, int]) -> Array:
    """Return images (N, C, H, W) as (N, H, W, C), with a border of zeros; without one it is a view."""
    if border == (0, 0):
        return x.transpose(0, 2, 3, 1)
    samples, channels, height, width = x.shape
    top, left = border
    padded = np.zeros((samples, height + 2 * top, width + 2 * left, channels), x.dtype)
    padded[:, top : top + height, left : left + width] = x.transpose(0, 2, 3, 1)
    return padded


def with_border(x: Array, border: tuple[int, int]) -> Array:
    """Return images (N, C, H, W) with a border of the least value there is; without one the same array."""
    if border == (0, 0):
        return x
    top, left = border
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    padded = np.full((*x.shape[:2], x.shape[2] + 2 * top, x.shape[3] + 2 * left), least, x.dtype)
    padded[:, :, top : top + x.shape[2], left : left + x.shape[3]] = x
    return padded


def window_places(padded: Array, windows: WindowGeometry) -> list[Array]:
    """Return, for each place in a window, that place of all windows: views (N, C, H', W')."""
    (down, across), (rows, columns) = windows.stride, windows.grid
    return [
        padded[:, :, i : i + down * rows : down, j : j + across * columns : across]
        for i in range(windows.kernel[0])
        for j in range(windows.kernel[1])
    ]


def window_rows(padded: Array, windows: WindowGeometry) -> Array:
    """Return the windows of images (N, H, W, C) as rows (windows, KH * KW * C)."""
    views = np.lib.stride_tricks.sliding_window_view(padded, windows.kernel, axis=(1, 2))
    views = views[:, :: windows.stride[0], :: windows.stride[1]].transpose(0, 1, 2, 4, 5, 3)
    return views.reshape(-1, windows.kernel[0] * windows.kernel[1] * padded.shape[-1])


def weight_columns(weight: Array) -> Array:
    """Return weights (O, C, KH, KW) as columns (KH * KW * C, O), in the order of `window_rows`."""
    return weight.transpose(2, 3, 1, 0).reshape(-1, len(weight))


def add_windows(padded: Array, rows: Array, windows: WindowGeometry) -> None:
    """Add windows, rows as of `window_rows`, to the pixels of images (N, H, W, C) that they cover."""
    parts = rows.reshape(len(padded), *windows.grid, -1, padded.shape[-1])
    for at, place in enumerate(window_places(padded.transpose(0, 3, 1, 2), windows)):
        place += parts[:, :, :, at].transpose(0, 3, 1, 2)
