"""Crop, as FINN+'s `test_fpgadataflow_gather_crop` and FINN's `test_crop_rtl_rtlsim` have it.

Their cases: 48 and 1. FINN+'s are made for the HLS layer; the RTL layer, which FINN+ 1.6.1 takes by default, is given the
24 of them with `rtlsim`, and the 1 of FINN's. The other 24 are Python execution (`cppsim`).
"""

from itertools import product

import numpy as np
import pytest
from finn.transformation.fpgadataflow.convert_to_hw.crop import InferCrop
from onnx import helper

from tests.rtl.finn_cases.bench import check
from tests.rtl.finn_cases.cases import Case, make_model, specialised

PART = "xczu7ev-ffvc1156-2-e"
GRID = list(
    product(
        [
            ((1, 16, 48), 1, (0,)),
            ((1, 16, 48), 1, (4, 5, 6)),
            ((32, 48), 0, (15,)),
            ((1, 16, 48, 16), 2, (1,)),
        ],
        [1, 8, 16],
        ["INT8", "FLOAT32"],
    )
)


def make_case(crop, simd, kind):
    shape, axis, indices = crop
    indices = np.array(indices, np.int64)
    node = helper.make_node("Gather", ["x", "indices"], ["y"], axis=axis)
    kept = np.take(np.zeros(shape), indices, axis).shape
    golden = make_model(node, {"x": shape}, {"y": kept}, {"x": kind, "y": kind}, {"indices": indices})
    layer = specialised(golden.transform(InferCrop()), PART, "Crop_rtl", SIMD=simd)
    return Case(golden, layer, PART, tolerance=10)


@pytest.mark.slow
def test_all_cases(tmp_path, library, simulations):
    check(make_case, GRID, tmp_path, library)
