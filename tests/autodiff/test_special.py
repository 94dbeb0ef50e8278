"""The error function of arrays, against the C library's."""

import math

import numpy as np
import pytest

from brainsmith.autodiff.special import erf


def test_of_float32_it_is_the_nearest_number_but_for_one_case_in_hundreds():
    x = np.linspace(-6, 6, 20_001, dtype=np.float32)
    wanted = np.array([math.erf(value) for value in x.tolist()]).astype(np.float32)
    found = erf(x)
    assert found.dtype == np.float32
    assert np.mean(found != wanted) < 0.005
    assert (np.abs(found - wanted) <= np.spacing(np.abs(wanted))).all()


def test_of_float64_and_of_integers_it_is_the_c_librarys():
    x = np.linspace(-6, 6, 101).reshape(1, 101)
    assert erf(x).tolist() == [[math.erf(value) for value in x[0]]]
    assert erf(np.array([0, 1])).tolist() == [0.0, math.erf(1)]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_special_values(dtype):
    found = erf(np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, [0, 0, 1, -1, np.nan])
    assert np.signbit(found).tolist()[:2] == [False, True]
