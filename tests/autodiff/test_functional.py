"""Functions of the tape on what is no Tensor, and in numpy's shapes."""

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.autodiff import functional as F

LISTS = [[1.0, 2.0], [4.0, 3.0]]


@pytest.mark.parametrize("key", [0, (1, 0), slice(1), ..., None, [1, 0]], ids=str)
def test_a_list_can_be_indexed(key):
    found = F.index(LISTS, key)
    assert found.dtype == np.float32
    assert np.array_equal(found, np.float32(LISTS)[key])


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdims", [True, False])
def test_argmax_has_numpy_s_shape(axis, keepdims):
    expected = np.argmax(np.float32(LISTS), axis, keepdims=keepdims)
    for found in (
        F.argmax(LISTS, axis, keepdims),
        np.argmax(ops.Tensor(LISTS), axis, keepdims=keepdims).numpy(),
        ops.Tensor(LISTS).argmax(axis, keepdims).numpy(),
    ):
        assert (found.shape, found.tolist()) == (expected.shape, expected.tolist())
