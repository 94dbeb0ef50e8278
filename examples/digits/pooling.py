"""Layers without parameters that make an image smaller: max-pooling, and the sum over all pixels of a channel.

Both are exact in integers, forwards and backwards.
"""

from __future__ import annotations

import numpy as np
from quantised_network import Array, Parameter, check_exact


class MaxPool:
    """The greatest value of each 2x2 window, without overlap: (N, H, W, C) to (N, H/2, W/2, C)."""

    size = 2

    def __init__(self, name: str) -> None:
        self.name = name

    def forward(self, x: Array) -> Array:
        """Keep each window's first greatest value, and note which it was."""
        samples, height, width, channels = x.shape
        self.grid = (samples, height // self.size, width // self.size, channels)
        windows = x.reshape(samples, self.grid[1], self.size, self.grid[2], self.size, channels)
        flat = windows.transpose(0, 1, 3, 5, 2, 4).reshape(*self.grid, self.size**2)
        self.first = flat.argmax(axis=-1)[..., np.newaxis]
        return np.asarray(np.take_along_axis(flat, self.first, axis=-1)[..., 0])

    def backward(self, gradient: Array) -> Array:
        """Give each window's gradient to the value that was kept: one of equals, so nothing is shared out."""
        samples, rows, columns, channels = self.grid
        flat = np.zeros((*self.grid, self.size**2))
        np.put_along_axis(flat, self.first, gradient[..., np.newaxis], axis=-1)
        windows = flat.reshape(*self.grid, self.size, self.size).transpose(0, 1, 4, 2, 5, 3)
        return np.asarray(windows.reshape(samples, rows * self.size, columns * self.size, channels))

    def parameters(self) -> list[Parameter]:
        """List nothing: there is nothing to train."""
        return []


class GlobalSum:
    """The sum of each channel over the whole image: (N, H, W, C) to (N, C); a mean whose division is left out."""

    def __init__(self, name: str) -> None:
        self.name = name

    def forward(self, x: Array) -> Array:
        """Add up all pixels."""
        self.shape = x.shape
        return check_exact(x.sum(axis=(1, 2)), self.name)

    def backward(self, gradient: Array) -> Array:
        """Give each pixel its channel's gradient."""
        spread = np.broadcast_to(gradient[:, np.newaxis, np.newaxis, :], self.shape)
        return np.ascontiguousarray(spread)

    def parameters(self) -> list[Parameter]:
        """List nothing: there is nothing to train."""
        return []
