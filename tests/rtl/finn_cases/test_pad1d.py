"""Pad1D, as FINN+'s `test_fpgadataflow_pad1d` has it.

Its cases: 12, all RTL, all run here: 6 as a layer and 6 stitched between FIFOs. Left out:
`test_pad1d_stitched_ip_synth_ooc`, which needs Vivado.
"""

from itertools import product

import numpy as np
import pytest
from finn.transformation.fpgadataflow.convert_to_hw.pad1d import InferPad1DLayer
from onnx import helper

from tests.rtl.finn_cases.bench import check
from tests.rtl.finn_cases.cases import Case, make_model, specialised
from tests.rtl.finn_cases.stitched import check_stitched

PART = "xc7z020clg400-1"
TOKENS, CHANNELS = 3, 4
GRID = list(
    product(
        [(1, 1, 0), (2, 2, 1)],
        [
            ("INT8", (1, -2, 3, -4), (-5, 6, -7, 8)),
            ("UINT4", (1, 2, 3, 4), (5, 6, 7, 8)),
            ("INT6", (-1, -2, -3, -4), (5, 6, 7, 8)),
        ],
    )
)


def make_case(config, values):
    simd, left, right = config
    kind, *tokens = values
    pads = {
        name: np.tile(np.array(token, np.float32), (1, count, 1))
        for name, token, count in zip(("left", "right"), tokens, (left, right), strict=True)
        if count
    }
    ends = [name for name in ("left", "x", "right") if name == "x" or name in pads]
    shapes = {"x": (1, TOKENS, CHANNELS)}, {"y": (1, TOKENS + left + right, CHANNELS)}
    node = helper.make_node("Concat", ends, ["y"], axis=1, name="concat")
    golden = make_model(node, *shapes, dict.fromkeys([*ends, "y"], kind), pads)
    layer = specialised(golden.transform(InferPad1DLayer()), PART, "Pad1D_rtl", SIMD=simd)
    return Case(golden, layer, PART, tolerance=10)


@pytest.mark.slow
def test_all_cases(tmp_path, library, simulations):
    check(make_case, GRID, tmp_path, library)


@pytest.mark.slow
def test_stitched(tmp_path, library, simulations):
    check_stitched(make_case, GRID, tmp_path, library)
