"""Convolutions and pooling over images (runs, *batch and channels, *space), of any number of spatial axes."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from brainsmith.execution.program.functions.shapes import pad
from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_SMALL_IMAGE = 256
"""Pixels up to which several images go into one matrix product, at the cost of a transposition."""
_COLUMNS_BYTES = 1 << 23
"""Of the columns that are multiplied at a time."""
_BAND_BYTES = 1 << 20
"""Of the columns of one image from which on it is taken in bands; about a processor's second cache."""


class Geometry(NamedTuple):
    """Where windows lie, axis by axis.

    Attributes:
        strides: Between windows.
        dilations: Between the taps of a window.
        before: Padding.
        after: Likewise.
    """

    strides: Shape
    dilations: Shape
    before: Shape
    after: Shape

    def reach(self, count: Shape, kernel: Shape) -> Shape:
        """Return after which entry of each axis so many windows end."""
        parts = zip(count, kernel, self.strides, self.dilations, strict=True)
        return tuple((n - 1) * stride + (taps - 1) * dilation + 1 for n, taps, stride, dilation in parts)

    def for_windows(self, count: Shape, image: Shape, kernel: Shape) -> Geometry:
        """Return it with as much padding behind an image as so many windows need."""
        parts = zip(self.reach(count, kernel), self.before, image, strict=True)
        return self._replace(after=tuple(max(0, end - first - size) for end, first, size in parts))

    def padded(self, images: Array, fill: float) -> Array:
        """Surround images (images, channels, *space)."""
        if not any(self.before) and not any(self.after):
            return images
        return pad(images, before=(0, *self.before), after=(0, *self.after), fill=fill, mode="constant")

    def taps(self, padded: Array, kernel: Shape) -> Iterator[Array]:
        """Yield what each tap of the kernel sees: (images, channels, *windows), in the order of the kernel."""
        sizes = zip(padded.shape[2:], self.reach((1,) * len(kernel), kernel), self.strides, strict=True)
        windows = [(size - end) // stride + 1 for size, end, stride in sizes]
        for tap in product(*map(range, kernel)):
            starts = [at * dilation for at, dilation in zip(tap, self.dilations, strict=True)]
            cut = tuple(
                slice(start, start + (count - 1) * stride + 1, stride)
                for start, count, stride in zip(starts, windows, self.strides, strict=True)
            )
            yield padded[(slice(None), slice(None), *cut)]


@instruction
def convolve(
    images: Array,
    weights: Array,
    bias: Array | None,
    *,
    geometry: Sequence[Shape],
    groups: int,
    exact: str,
    dtype: str = "float32",
) -> Array:
    """Convolve (ONNX, Conv), as one product of matrices.

    Args:
        images: (runs, batch, channels, *space).
        weights: (filters, channels of a group, *kernel), of the type in which sums are computed.
        bias: (filters,), float32; added to the rounded sums.
        geometry: Of the windows, padded with 0.
        groups: Into which channels and filters are divided.
        exact: Type in which the sums are computed.
        dtype: Type that comes back.
    """
    runs, batch, channels = images.shape[:3]
    flat = images.reshape(runs * batch, channels, *images.shape[3:]).astype(exact, copy=False)
    kernel, where = weights.shape[2:], Geometry(*geometry)
    taps = list(where.taps(where.padded(flat, 0), kernel))
    size = taps[0].shape[2:]
    if groups == channels and weights.shape[0] == channels:
        sums = _channel_by_channel(taps, weights)
    else:
        sums = _all_channels(taps, weights, groups, size)
    result = sums.astype(dtype, copy=False)
    if bias is not None:
        result = result + bias.reshape(-1, *(1,) * len(kernel))
    return result.reshape(runs, batch, weights.shape[0], *size)


@instruction
def pool(
    images: Array, *, kernel: Shape, geometry: Sequence[Shape], average: bool, count_padding: bool
) -> Array:
    """Return the largest or the mean value of each window.

    Args:
        images: (runs, batch, channels, *space).
        kernel: For each spatial axis.
        geometry: Of the windows; padding is never the largest, and more behind than is needed is not looked at.
        average: The mean instead of the largest.
        count_padding: The mean counts the padding, as 0.
    """
    lead = images.shape[:3]
    flat = images.reshape(-1, 1, *images.shape[3:])
    lowest = 0 if average else (-np.inf if images.dtype.kind == "f" else np.iinfo(images.dtype).min)
    where = Geometry(*geometry)
    total: Array | None = None
    for tap in where.taps(where.padded(flat, lowest), kernel):
        if total is None:
            total = tap.copy()
        else:
            (np.add if average else np.maximum)(total, tap, out=total)
    assert total is not None
    if average:
        total /= _counts(images.shape[3:], kernel, where, count_padding).astype(total.dtype)
    return total.reshape(*lead, *total.shape[2:])


def _all_channels(taps: list[Array], weights: Array, groups: int, size: Shape) -> Array:
    """Multiply (filters, terms) with the columns of all windows, as many of them at a time as stay small."""
    images, channels = taps[0].shape[:2]
    filters, pixels = weights.shape[0], int(np.prod(size))
    matrices = weights.reshape(groups, filters // groups, -1)
    each = max(1, channels * len(taps) * pixels * weights.itemsize)
    if each > _BAND_BYTES and pixels > _SMALL_IMAGE:
        return _band_by_band(taps, matrices, size)
    block = max(1, _COLUMNS_BYTES // each)
    multiply = _image_by_image if pixels > _SMALL_IMAGE else _images_together
    if block >= images:
        return multiply(taps, matrices, pixels).reshape(images, filters, *size)
    result = np.empty((images, filters, pixels), weights.dtype)
    for at in range(0, images, block):
        result[at : at + block] = multiply([tap[at : at + block] for tap in taps], matrices, pixels)
    return result.reshape(images, filters, *size)


def _band_by_band(taps: list[Array], matrices: Array, size: Shape) -> Array:
    """Return (images, filters, *size) by products for a few rows of an image: their columns stay in the cache."""
    images, channels = taps[0].shape[:2]
    across = int(np.prod(size[1:]))
    rows = max(1, _BAND_BYTES // (channels * len(taps) * across * matrices.itemsize))
    result = np.empty((images, matrices.shape[0] * matrices.shape[1], *size), matrices.dtype)
    for image, at in product(range(images), range(0, size[0], rows)):
        cut = [tap[image : image + 1, :, at : at + rows] for tap in taps]
        made = result[image : image + 1, :, at : at + rows]
        made[...] = _image_by_image(cut, matrices, made.shape[2] * across).reshape(made.shape)
    return result


def _image_by_image(taps: list[Array], matrices: Array, pixels: int) -> Array:
    """Return (images, filters, pixels) by a product for each image."""
    images, channels = taps[0].shape[:2]
    groups, share, terms = matrices.shape
    if len(taps) == 1:
        columns = taps[0]
    else:
        columns = np.empty((images, channels, len(taps), *taps[0].shape[2:]), taps[0].dtype)
        for at, tap in enumerate(taps):
            columns[:, :, at] = tap
    product = np.matmul(matrices, columns.reshape(images, groups, terms, pixels))
    return np.asarray(product).reshape(images, groups * share, pixels)


def _images_together(taps: list[Array], matrices: Array, pixels: int) -> Array:
    """Return (images, filters, pixels) by one product for all images, and a transposition."""
    images, channels = taps[0].shape[:2]
    groups, share, terms = matrices.shape
    rows = np.empty((channels, len(taps), images, *taps[0].shape[2:]), taps[0].dtype)
    for at, tap in enumerate(taps):
        rows[:, at] = tap.swapaxes(0, 1)
    product = np.matmul(matrices, rows.reshape(groups, terms, images * pixels))
    return np.ascontiguousarray(product.reshape(groups * share, images, pixels).swapaxes(0, 1))


def _channel_by_channel(taps: list[Array], weights: Array) -> Array:
    """Sum each channel's own windows."""
    flat = weights.reshape(weights.shape[0], -1, *(1,) * (weights.ndim - 2))
    total = taps[0] * flat[:, 0]
    total += 0  # a sum begins with 0, and is never -0
    for at, tap in enumerate(taps[1:], 1):
        total += tap * flat[:, at]
    return total


def _counts(space: Shape, kernel: Shape, where: Geometry, count_padding: bool) -> Array:
    """Return by how much the sum of each window is divided."""
    inside = where.padded(np.ones((1, 1, *space)), 1.0 if count_padding else 0.0)
    return np.asarray(sum(tap.astype(np.float64) for tap in where.taps(inside, kernel)))
