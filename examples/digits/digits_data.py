"""The digits data set of scikit-learn: 1,797 handwritten digits of 8x8 pixels, values 0 to 16."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

HELD_OUT = 360
SPLIT_SEED = 2026

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


class Digits(NamedTuple):
    """Images (N, 8, 8, 1), NHWC, integers 0 to 16 held in float64, and labels (N,)."""

    train_x: Array
    train_y: Labels
    test_x: Array
    test_y: Labels


def load() -> Digits:
    """Split the data set at random, once and for all: 1,437 images to train with, 360 held out."""
    data = load_digits()
    images = data.images.astype(np.float64)[..., np.newaxis]
    labels = data.target.astype(np.int64)
    # RandomState, not default_rng: its stream is frozen, so that the split is the same with every numpy.
    order = np.random.RandomState(SPLIT_SEED).permutation(len(images))
    test, train = order[:HELD_OUT], order[HELD_OUT:]
    return Digits(images[train], labels[train], images[test], labels[test])


def shift(images: Array, rows: int, columns: int) -> Array:
    """Move every image by some pixels; what comes in from outside is background (0)."""
    moved = np.zeros_like(images)
    height, width = images.shape[1:3]
    source = images[:, max(0, -rows) : height - rows, max(0, -columns) : width - columns]
    target_rows = slice(max(0, rows), max(0, rows) + source.shape[1])
    target_columns = slice(max(0, columns), max(0, columns) + source.shape[2])
    moved[:, target_rows, target_columns] = source
    return moved
