"""Convolutions in blocks of images."""

import numpy as np
import pytest

from brainsmith.execution.program.functions import windows


def convolved(images, weights, groups):
    return windows.convolve(
        images, weights, None, geometry=((1, 1), (1, 1), (1, 0), (0, 1)), groups=groups, exact="float32"
    )


@pytest.mark.parametrize("side", [5, 18])
@pytest.mark.parametrize("groups", [1, 2])
def test_blocks_of_images_change_nothing(monkeypatch, side, groups):
    generator = np.random.default_rng(0)
    images = generator.integers(-8, 8, (7, 1, 4, side, side)).astype(np.float32)
    weights = generator.integers(-8, 8, (6, 4 // groups, 2, 3)).astype(np.float32)
    whole = convolved(images, weights, groups)
    one = 4 * 6 * side * (side - 1) * 4
    for limit in (0, 3 * one):
        monkeypatch.setattr(windows, "_COLUMNS_BYTES", limit)
        np.testing.assert_array_equal(convolved(images, weights, groups), whole)


@pytest.mark.parametrize("shape", [(18, 19), (300,), (7, 8, 9)])
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_bands_of_an_image_change_nothing(monkeypatch, shape, rows):
    generator = np.random.default_rng(0)
    images = generator.integers(-8, 8, (2, 1, 4, *shape)).astype(np.float32)
    weights = generator.integers(-8, 8, (6, 2, *(3 for _ in shape))).astype(np.float32)

    def run():
        axes = len(shape)
        return windows.convolve(images, weights, None, geometry=((1,) * axes,) * 4, groups=2, exact="float32")

    whole = run()
    one = 4 * weights[0, 0].size * 4 * int(np.prod(shape[1:]))
    monkeypatch.setattr(windows, "_BAND_BYTES", rows * one)
    np.testing.assert_array_equal(run(), whole)


def test_padding_is_never_the_largest():
    images = np.full((1, 1, 1, 2, 2), -5, np.float32)
    found = windows.pool(images, kernel=(2, 2), geometry=((1, 1),) * 4, average=False, count_padding=False)
    assert found.shape == (1, 1, 1, 3, 3)
    assert set(found.ravel()) == {-5.0}
