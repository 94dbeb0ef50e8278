"""SelectToken, as FINN+'s `test_fpgadataflow_selecttoken` and FINN's `test_selecttoken_crop_rtl_rtlsim` have it.

Their cases: 18 and 1, all RTL, all run here: 9 as a layer, 9 stitched between FIFOs, 1 of FINN's.
"""

from itertools import product

import numpy as np
import pytest
from finn.transformation.fpgadataflow.convert_to_hw.select_token import InferSelectTokenLayer
from onnx import helper

from tests.rtl.finn_cases.bench import check
from tests.rtl.finn_cases.cases import Case, make_model, specialised
from tests.rtl.finn_cases.stitched import check_stitched

PART = "xc7z020clg400-1"
TOKENS, CHANNELS = 4, 4
GRID = list(product([(2, 1), (-1, 2), (0, 4), (3, 2)], ["INT8", "UINT4", "INT6"]))


def make_case(config, kind):
    token, simd = config
    node = helper.make_node("Gather", ["x", "token"], ["y"], axis=1)
    golden = make_model(
        node,
        {"x": (1, TOKENS, CHANNELS)},
        {"y": (1, CHANNELS)},
        {"x": kind, "y": kind},
        {"token": np.array(token)},
    )
    layer = specialised(golden.transform(InferSelectTokenLayer()), PART, "SelectToken_rtl", SIMD=simd)
    return Case(golden, layer, PART, tolerance=15)


@pytest.mark.slow
def test_all_cases(tmp_path, library, simulations):
    check(make_case, GRID, tmp_path, library)


@pytest.mark.slow
def test_stitched(tmp_path, library, simulations):
    check_stitched(make_case, GRID[:9], tmp_path, library)
