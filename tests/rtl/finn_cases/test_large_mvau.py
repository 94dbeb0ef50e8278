"""MVAU in RTL with a deep memory of weights, as FINN+'s `..._mvau_large_depth_decoupled_mode_rtlsim` has it.

Its cases: 17 that are not skipped, of which 5 are RTL and are run here with their memories; 12 are HLS. Skipped there is
URAM on UltraScale+, which has no initial content. Left out: `test_mvau_fifocharacterize_rtlsim` (1 RTL), which derives a
model of traffic.
"""

from itertools import product

import numpy as np
import pytest
from finn.transformation.fpgadataflow.minimize_accumulator_width import MinimizeAccumulatorWidth
from finn.transformation.fpgadataflow.minimize_weight_bit_width import MinimizeWeightBitWidth
from onnx import helper
from qonnx.core.datatype import DataType

from tests.rtl.finn_cases.bench import check
from tests.rtl.finn_cases.cases import HARDWARE, Case, make_model, specialised
from tests.rtl.finn_cases.values import random_values

SIZE = 128
VERSAL, ULTRASCALE = "xcvc1902-vsva2197-2MP-e-S", "xczu7ev-ffvc1156-2-e"
GRID = [*product(["distributed", "block"], [VERSAL, ULTRASCALE]), ("ultra", VERSAL)]


def make_case(ram_style, part):
    weights = random_values(np.random.default_rng(5), DataType["INT4"], (SIZE, SIZE))
    node = helper.make_node(
        "MVAU", ["x", "w"], ["y"], domain=HARDWARE, backend="fpgadataflow", MW=SIZE, MH=SIZE, SIMD=1, PE=1,
        inputDataType="INT4", weightDataType="INT4", outputDataType="INT32", ActVal=0, binaryXnorMode=0, noActivation=1,
        mem_mode="internal_decoupled", ram_style=ram_style, resType="auto", preferred_impl_style="rtl",
    )  # fmt: skip
    kinds = {"x": "INT4", "w": "INT4", "y": "INT32"}
    model = make_model(node, {"x": (1, SIZE)}, {"y": (1, SIZE)}, kinds, {"w": weights})
    layer = specialised(model, part, "MVAU_rtl")
    for change in (MinimizeWeightBitWidth(), MinimizeAccumulatorWidth()):
        layer = layer.transform(change)
    return Case(None, layer, part, tolerance=15, compute=lambda x: x @ weights)


@pytest.mark.slow
def test_all_cases(tmp_path, library, simulations):
    check(make_case, GRID, tmp_path, library)
