"""MVAU in RTL with weights that are an input, as FINN+'s `test_fpgadataflow_rtl_dynamic_mvau` has it.

Its cases: 90 that are not skipped, of which 36 are RTL and are run here, with FINN's loader of weights before the layer, as
in its stitched design. The other 54 are HLS.

The tests leave out the 4 with 512 multipliers, which take longest to compile;
`python -m tests.rtl.finn_cases.everything dynamic_mvau` runs all.
"""

from itertools import product

import pytest
from finn.transformation.fpgadataflow.convert_to_hw.quantized_matrix_vector_activation import (
    InferQuantizedMatrixVectorActivation,
)
from finn.transformation.fpgadataflow.minimize_accumulator_width import MinimizeAccumulatorWidth
from finn.transformation.fpgadataflow.minimize_weight_bit_width import MinimizeWeightBitWidth
from onnx import helper
from qonnx.custom_op.registry import getCustomOp
from qonnx.transformation.infer_datatypes import InferDataTypes

from tests.rtl.finn_cases.bench import batches, check, some
from tests.rtl.finn_cases.cases import Case, make_model, specialised

ROWS, COLUMNS, VECTORS = 16, 32, 32
GRID = list(
    product([1, 16, 32], [1, 8, 16], ["INT8", "INT4"], ["xcvc1902-vsva2197-2MP-e-S", "xcku3p-ffva676-1-e"])
)
MOST = [case for case in GRID if case[0] * case[1] < 512]
SIZE = 6
"""Cases in a simulation; many of these are large."""


def make_case(pe, simd, kind, part):
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    inputs = {"x": (1, 1, VECTORS, ROWS), "w": (1, 1, ROWS, COLUMNS)}
    golden = make_model(node, inputs, {"y": (1, 1, VECTORS, COLUMNS)}, {"x": kind, "w": kind, "y": "INT32"})
    model = golden.transform(InferQuantizedMatrixVectorActivation())
    getCustomOp(model.graph.node[0]).set_nodeattr("preferred_impl_style", "rtl")
    layer = specialised(model, part, "MVAU_rtl", PE=pe, SIMD=simd, resType="auto")
    for change in (MinimizeWeightBitWidth(), MinimizeAccumulatorWidth(), InferDataTypes()):
        layer = layer.transform(change)
    return Case(golden, layer, part, stalled=simd != ROWS)


@pytest.mark.slow
def test_some_cases(tmp_path, library, simulations):
    check(make_case, some([case for case in GRID if case[0] * case[1] <= 8], 4), tmp_path, library)


@pytest.mark.slow
@pytest.mark.parametrize("cases", batches(MOST, SIZE))
def test_most_cases(cases, tmp_path, library, simulations):
    check(make_case, cases, tmp_path, library)


def test_the_grid_is_upstreams():
    assert len(GRID) == 36
