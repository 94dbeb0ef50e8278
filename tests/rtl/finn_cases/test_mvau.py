"""MVAU in RTL, as FINN+'s `test_fpgadataflow_rtl_mvau` has it.

Its cases: 232 that are not skipped, all RTL, all run here, each with its memory of weights as in FINN's stitched design,
and those that have pumped memory or computation with a clock of twice the rate. The FPGA says which of three DSP blocks.
With SIMD == MW the output is never held back: FINN's unit loses results then (`tests/rtl/simulation/test_weights.py`).
Left out, because they are HLS: `test_fpgadataflow_mvau_cppsim`, `..._mvau_rtlsim`, `..._hwop` (Python).

The tests leave out the 96 with 288 multipliers or more, which take longest to compile, and two of three with 144;
`python -m tests.rtl.finn_cases.everything mvau` runs all.
"""

from itertools import product

import numpy as np
import pytest
from finn.transformation.fpgadataflow.convert_to_hw.quantized_matrix_vector_activation import (
    InferQuantizedMatrixVectorActivation,
)
from finn.transformation.fpgadataflow.minimize_accumulator_width import MinimizeAccumulatorWidth
from finn.transformation.fpgadataflow.minimize_weight_bit_width import MinimizeWeightBitWidth
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.transformation.infer_datatypes import InferDataTypes

from tests.rtl.finn_cases.bench import batches, check, some
from tests.rtl.finn_cases.cases import Case, make_model, specialised
from tests.rtl.finn_cases.values import random_values

ROWS, COLUMNS = 32, 18
PARTS = [
    ("xcvc1902-vsva2197-2MP-e-S", 1.66),
    ("xcvc1902-vsva2197-2MP-e-S", 4),
    ("xcku3p-ffva676-1-e", 1.66),
    ("xc7z020clg400-1", 1.66),
]
GRID = [
    case
    for case in product(
        [1, 9, 18], [1, 16, 32], [("UINT4", "INT4"), ("UINT8", "INT8")], PARTS, [False, True], [False, True]
    )
    if not (case[1] == 1 and case[5]) and not (case[0] == case[1] == 1 and case[4])
]
SMALL = [case for case in GRID if case[0] * case[1] <= 18]
MOST = [case for case in GRID if case[0] * case[1] <= 32]
MOST += [case for case in GRID if case[0] * case[1] == 144][::3]
SIZE = 8
"""Cases in a simulation; many of these are large."""


def make_case(pe, simd, kinds, part, memory, compute):
    rng = np.random.default_rng(pe * simd)
    kind = DataType[kinds[1]]
    weights = random_values(rng, kind, (ROWS, COLUMNS))
    if part[0].startswith("xc7"):
        weights = np.clip(weights, kind.min() + 1, kind.max())
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    golden = make_model(
        node, {"x": (1, 3, 3, ROWS)}, {"y": (1, 3, 3, COLUMNS)}, {"x": kinds[0], "y": "INT32"}, {"w": weights}
    )
    golden.set_tensor_datatype("w", kind)
    layer = specialised(
        golden.transform(InferQuantizedMatrixVectorActivation()), part[0], "MVAU_rtl", PE=pe, SIMD=simd, resType="dsp",
        pumpedMemory=int(memory), pumpedCompute=int(compute),
    )  # fmt: skip
    for change in (MinimizeWeightBitWidth(), MinimizeAccumulatorWidth(), InferDataTypes()):
        layer = layer.transform(change)
    return Case(golden, layer, part[0], stalled=simd != ROWS, doubled=memory or compute)


@pytest.mark.slow
def test_some_cases(tmp_path, library, simulations):
    check(make_case, some(SMALL), tmp_path, library)


@pytest.mark.slow
@pytest.mark.parametrize("cases", batches(MOST, SIZE))
def test_most_cases(cases, tmp_path, library, simulations):
    check(make_case, cases, tmp_path, library)


def test_the_grid_is_upstreams():
    assert len(GRID) == 232
