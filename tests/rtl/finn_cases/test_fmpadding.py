"""FMPadding, as FINN+'s `test_fpgadataflow_fmpadding` has it.

Its cases: 128, all RTL; the 64 with `rtlsim` are run here, the other 64 are FINN's Python execution (`cppsim`). Left out:
24 cases of `test_fpgadataflow_analytical_characterization_fmpadding`, 12 of them RTL, which compare two models of
traffic with each other and compute nothing.
"""

from itertools import product

import numpy as np
import pytest
from onnx import helper

from tests.rtl.finn_cases.bench import batches, check, some
from tests.rtl.finn_cases.cases import HARDWARE, Case, make_model, specialised

PART = "xc7z020clg400-1"
GRID = list(
    product(
        [(8, 8), (10, 8)],
        [(1, 1, 1, 1), (1, 1, 2, 2), (1, 3, 2, 3), (7, 0, 8, 0)],
        [2, 4],
        [1, 2],
        ["INT2", "INT4"],
    )
)


def make_case(size, by, channels, simd, kind):
    node = helper.make_node(
        "FMPadding", ["x"], ["y"], domain=HARDWARE, backend="fpgadataflow", ImgDim=size, Padding=by, NumChannels=channels,
        SIMD=simd, inputDataType=kind, numInputVectors=1,
    )  # fmt: skip
    padded = (1, size[0] + by[0] + by[2], size[1] + by[1] + by[3], channels)
    model = make_model(node, {"x": (1, *size, channels)}, {"y": padded}, {"x": kind, "y": kind})
    edges = ((0, 0), (by[0], by[2]), (by[1], by[3]), (0, 0))
    layer = specialised(model, PART, "FMPadding_rtl")
    return Case(None, layer, PART, tolerance=10, compute=lambda x: np.pad(x, edges))


@pytest.mark.slow
def test_some_cases(tmp_path, library, simulations):
    check(make_case, some(GRID), tmp_path, library)


@pytest.mark.slow
@pytest.mark.parametrize("cases", batches(GRID))
def test_all_cases(cases, tmp_path, library, simulations):
    check(make_case, cases, tmp_path, library)


def test_the_grid_is_upstreams():
    assert len(GRID) == 64
