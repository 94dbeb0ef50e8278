"""The same convolution in forms that layers have: one group, no padding beside one pixel, no steps beyond the window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_kinds import Whole


def dense_weights(weights: Whole, groups: int, channels: int) -> Whole:
    """Return weights (results, channels, height, width) of one group, 0 where a result does not read a channel."""
    if groups == 1:
        return weights
    results, width = weights.shape[:2]
    dense = np.zeros((results, channels, *weights.shape[2:]), np.int64)
    for at in range(results):
        first = at // (results // groups) * width
        dense[at, first : first + width] = weights[at]
    return dense


def without_single_pixels(
    tensor: IntegerTensor, weights: Whole, window: dict[str, Any]
) -> tuple[Whole, dict[str, Any]]:
    """Return weights and window of the same convolution without padding along axes of one pixel.

    There each result is a product by one tap, and several results are several rows of weights.

    Raises:
        NoLayerError: They would have to be moved.
    """
    window = {name: list(value) if isinstance(value, list) else value for name, value in window.items()}
    shape = list(window["shape"])
    for axis in (1, 0):
        taps, before = weights.shape[2 + axis], window["pads"][axis]
        if tensor.shape[2 + axis] != 1:
            continue
        count = shape[2 + axis]
        if axis == 0 and count > 1 and tensor.shape[3] > 1:
            continue  # several rows of results, which are rows of one image only if its windows are padded
        if count > 1:
            weights, window["group"] = dense_weights(weights, window["group"], tensor.channels), 1
        steps = before - np.arange(count) * window["strides"][axis]
        taken = [
            at // window["dilations"][axis] if at % window["dilations"][axis] == 0 else -1 for at in steps
        ]
        rows = [
            weights.take([at], axis=2 + axis)
            if 0 <= at < taps
            else np.zeros_like(weights.take([0], axis=2 + axis))
            for at in taken
        ]
        weights = np.concatenate(rows)
        window["pads"][axis::2] = [0, 0]
        window["strides"][axis] = 1
        shape[2 + axis] = 1
    window["shape"] = (1, len(weights), *shape[2:])
    return weights, window


def wide_as_strides(
    tensor: IntegerTensor, weights: Whole, window: dict[str, Any]
) -> tuple[Whole, dict[str, Any]]:
    """Return weights of dilated windows that are as wide as the steps between them, with taps of 0.

    FINN's sliding window takes no steps beyond its taps. What lies between the taps of other windows is cut away
    (CropBetweenWindows).
    """
    window = {**window, "pads": list(window["pads"]), "dilations": list(window["dilations"])}
    for axis in (0, 1):
        stride, dilation, taps = window["strides"][axis], window["dilations"][axis], weights.shape[2 + axis]
        if taps == 1 or stride <= taps or stride % dilation == 0:
            continue
        places = np.arange(taps) * dilation
        width = max(stride, int(places[-1]) + 1)
        wide = np.zeros((*weights.shape[: 2 + axis], width, *weights.shape[3 + axis :]), np.int64)
        wide[(*(slice(None),) * (2 + axis), places)] = weights
        weights, window["dilations"][axis] = wide, 1
        size = tensor.shape[2 + axis] + window["pads"][axis] + window["pads"][axis + 2]
        window["pads"][axis + 2] += max(0, (window["shape"][2 + axis] - 1) * stride + width - size)
    return weights, window
