"""Thresholding, as FINN+'s `test_fpgadataflow_thresholding` has it.

Its cases: 7,200 that are not skipped, of which 1,200 are RTL with `rtlsim` and are run here, 1,200 RTL ones are Python
execution, and 4,800 are HLS. Left out with them: `..._stitched_ip` (15, HLS) and `..._internal_embedded_ram_style` (96,
HLS); `..._data_layout` and `..._unsorted_assertion` simulate nothing.

The tests take 240 of the 1,200 at random; `python -m tests.rtl.finn_cases.everything thresholding` runs all.
"""

import random
from itertools import product

import numpy as np
import pytest
from finn.transformation.fpgadataflow.convert_to_hw.thresholding import InferThresholdingLayer
from finn.transformation.fpgadataflow.minimize_weight_bit_width import MinimizeWeightBitWidth
from finn.transformation.streamline.round_thresholds import RoundAndClipThresholds
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp

from tests.rtl.finn_cases.bench import batches, check, some
from tests.rtl.finn_cases.cases import Case, make_model, specialised
from tests.rtl.finn_cases.values import random_values

PART_OF_THEM = 240
PART = "xczu3eg-sbva484-1-e"
LAYOUTS = {2: "NC", 4: "NHWC"}
GRID = [
    case
    for case in product(
        [6, 16],
        [(1,), (1, 2, 2)],
        ["UINT4", "INT4", "BIPOLAR"],
        [
            ("INT8", "INT25"),
            ("UINT5", "UINT8"),
            ("INT8", "INT7"),
            ("FLOAT32", "FLOAT32"),
            ("FLOAT16", "FLOAT16"),
            ("FIXED<6,2>", "FIXED<8,4>"),
        ],
        [-1, 1, 2],
        [True, False],
        [True, False],
        [True, False],
    )
    if not (case[2] == "BIPOLAR" and case[5]) and not (case[3][0].startswith("FLOAT") and case[7])
]


def make_case(channels, vectors, activation, kinds, fold, narrow, per_tensor, rounded):
    rng = np.random.default_rng(len(kinds[0]) + channels)
    out, kind = DataType[activation], DataType[kinds[1]]
    thresholds = _thresholds(
        rng, kind, 1 if per_tensor else channels, out.get_num_possible_values() - 1 - narrow
    )
    bias = 0 if activation == "BIPOLAR" else out.min() + (narrow and out.signed())
    shape = (*vectors, channels)
    node = helper.make_node(
        "MultiThreshold", ["x", "t"], ["y"], domain="qonnx.custom_op.general", out_dtype=activation, out_bias=float(bias),
        out_scale=1.0, data_layout=LAYOUTS[len(shape)],
    )  # fmt: skip
    golden = make_model(node, {"x": shape}, {"y": shape}, {"x": kinds[0], "y": activation}, {"t": thresholds})
    golden.set_tensor_datatype("t", kind)
    for name in ("x", "y"):
        golden.set_tensor_layout(name, list(LAYOUTS[len(shape)]))
    model = golden.transform(InferThresholdingLayer())
    getCustomOp(model.graph.node[0]).set_nodeattr("preferred_impl_style", "rtl")
    layer = specialised(model, PART, "Thresholding_rtl", PE=channels // (channels if fold == -1 else fold))
    if rounded:
        layer = layer.transform(RoundAndClipThresholds())
    layer = layer.transform(MinimizeWeightBitWidth())
    reorder = (lambda y: 2 * y - 1) if activation == "BIPOLAR" else (lambda y: y)
    return Case(golden, layer, PART, tolerance=15, reorder=reorder)


def _thresholds(rng, kind, channels, steps):
    """Return ascending thresholds; the least and the greatest value of the datatype are among them."""
    values = random_values(rng, kind, (channels, steps))
    if steps >= 2:
        values[:, 0], values[:, -1] = kind.min(), kind.max()
    return np.sort(values, axis=1)


@pytest.mark.slow
def test_some_cases(tmp_path, library, simulations):
    check(make_case, some(GRID), tmp_path, library)


@pytest.mark.slow
@pytest.mark.parametrize("cases", batches(random.Random(1).sample(GRID, PART_OF_THEM)))
def test_many_cases(cases, tmp_path, library, simulations):
    check(make_case, cases, tmp_path, library)


def test_the_grid_is_upstreams():
    assert len(GRID) == 1200
