"""A transposed convolution as a convolution that gives a block of pixels for each one, and an order of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.transforms.lattice.array_kinds import Whole


class Blocks(NamedTuple):
    """A convolution whose results are blocks of pixels.

    Attributes:
        weights: (results, channels, height, width); the results are (rows of a block, columns of it, results of a pixel).
        pads: Of the convolution, whose strides are 1: at the top, left, bottom and right.
        number: Blocks below and beside each other.
    """

    weights: Whole
    pads: list[int]
    number: tuple[int, int]


class _TapAxis(NamedTuple):
    """One axis: which tap of the weights is which of the convolution, for each pixel of a block."""

    taps: list[tuple[int, int, int]]
    width: int
    pads: tuple[int, int]
    blocks: int


def dense_transposed(weights: Whole, groups: int) -> Whole:
    """Return weights (channels, results, height, width) of one group, 0 where a channel does not reach a result."""
    if groups == 1:
        return weights
    channels, results = weights.shape[:2]
    dense = np.zeros((channels, groups * results, *weights.shape[2:]), weights.dtype)
    for group, rows in enumerate(np.split(np.arange(channels), groups)):
        dense[rows, group * results : (group + 1) * results] = weights[rows]
    return dense


def as_blocks(
    weights: Whole,
    image: Sequence[int],
    result: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
) -> Blocks:
    """Return the convolution that gives blocks of the strides' size, which a transposed convolution puts side by side.

    A pixel of the result at q * stride + r sums those taps j of the weights for which (r + pad - j * dilation) is a
    multiple of the stride: they meet the pixel of the image at q plus that multiple. So no zeros are put between the
    pixels of the image, and nothing is multiplied by them.

    Args:
        weights: (channels, results, height, width), of one group.
        image: Its height and width.
        result: Likewise of the result; the last blocks may be partly beyond it.
        strides: Of the transposed convolution.
        dilations: Likewise.
        pads: Likewise, at the top and left.
    """
    axes = [
        _axis(image[at], result[at], weights.shape[2 + at], strides[at], dilations[at], pads[at])
        for at in (0, 1)
    ]
    channels, results = weights.shape[:2]
    found = np.zeros((*strides, results, channels, axes[0].width, axes[1].width), np.int64)
    for row, tap, place in axes[0].taps:
        for column, other, beside in axes[1].taps:
            found[row, column, :, :, place, beside] = weights[:, :, tap, other].T
    shape = (strides[0] * strides[1] * results, channels, axes[0].width, axes[1].width)
    ends = [axes[0].pads[0], axes[1].pads[0], axes[0].pads[1], axes[1].pads[1]]
    return Blocks(found.reshape(shape), ends, (axes[0].blocks, axes[1].blocks))


def _axis(image: int, result: int, taps: int, stride: int, dilation: int, pad: int) -> _TapAxis:
    met = [
        (pixel, tap, (pixel + pad - tap * dilation) // stride)
        for pixel in range(stride)
        for tap in range(taps)
        if (pixel + pad - tap * dilation) % stride == 0
    ]
    count = -(-result // stride)
    # The window reaches as far as keeps padding at both ends from being negative.
    first = min(0, *(place for _, _, place in met))
    last = max(image - count, 0, *(place for _, _, place in met))
    placed = [(pixel, tap, place - first) for pixel, tap, place in met]
    return _TapAxis(placed, last - first + 1, (-first, count - 1 + last - (image - 1)), count)
