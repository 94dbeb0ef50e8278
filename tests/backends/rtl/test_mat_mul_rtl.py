"""MatMulRTL against the MatMul kernel."""

import numpy as np
import pytest
from hypothesis import strategies as st
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.mat_mul_rtl import MatMulRTL
from brainsmith.kernels.datatypes import product_datatype
from tests.backends.rtl.bench import Case, check_cores, law_of_cores, lint, make_model
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated

KINDS = ["INT4", "UINT3", "INT8", "UINT8", "UINT1", "INT2", "TERNARY", "BIPOLAR", "BINARY"]


def case(lhs, rhs, pe=1, simd=1, kinds=("INT4", "INT4"), output=None):
    found = product_datatype(DataType[kinds[0]], DataType[kinds[1]], lhs[-1]).name
    attributes = {
        "lhs_shape": lhs, "rhs_shape": rhs, "PE": pe, "SIMD": simd, "lhsDataType": kinds[0],
        "rhsDataType": kinds[1], "outputDataType": output or found,
    }  # fmt: skip
    inputs = [(lhs, kinds[0]), (rhs, kinds[1])]
    return Case("MatMulRTL", inputs, attributes, domain="brainsmith.backends.rtl")


def instance(one):
    return getCustomOp(make_model([one]).graph.node[0])


@st.composite
def cases(draw):
    pe, simd = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    depth, columns = simd * draw(st.integers(1, 10)), pe * draw(st.integers(1, 4))
    batch = draw(st.lists(st.integers(1, 3), max_size=1))
    shared = draw(st.booleans())
    lhs = (*batch, draw(st.integers(1, 5)), depth)
    rhs = (*([] if shared else batch), depth, columns)
    return case(lhs, rhs, pe, simd, (draw(st.sampled_from(KINDS)), draw(st.sampled_from(KINDS))))


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case((2, 8, 16), (2, 16, 8), 2, 4),
        case((2, 3, 6), (6, 4), 1, 6, ("BIPOLAR", "BIPOLAR")),
        case((1, 1), (1, 1)),
        case((2, 5), (5, 3), 3, 5, ("UINT3", "UINT2")),
        case((1, 2, 2, 4), (1, 2, 4, 4), 2, 4, ("INT8", "BIPOLAR")),
        case((1, 3), (3, 4), 1, 1, ("TERNARY", "INT9")),
        case((3, 4), (4, 6), 3, 1, ("UINT4", "INT3"), "INT16"),
        case((3, 16), (16, 2), 1, 2),  # two places, without a queue
    ]
    check_cores(chosen, tmp_path)


test_computes_what_the_kernel_computes = law_of_cores(cases(), draws=3, least=8, most=12)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=4, least=4, most=8)


@pytest.mark.parametrize(
    "parameters",
    [
        {"ROWS": 1, "DEPTH": 1, "COLUMNS": 1},
        {"ROWS": 8, "DEPTH": 16, "COLUMNS": 8, "PE": 4, "SIMD": 4, "OUT_BITS": 12, "BLOCK": 1},
        {"DEPTH": 6, "SIMD": 3, "COLUMNS": 4, "PE": 2, "LHS_KIND": 0, "RHS_KIND": 0, "OUT_BITS": 11},
        {"LHS_KIND": 2, "LHS_BITS": 1, "RHS_KIND": 2, "RHS_BITS": 1, "OUT_BITS": 3},
        {"LHS_KIND": 0, "LHS_BITS": 1, "COLUMNS": 5},
        {"ROWS": 8, "DEPTH": 16, "COLUMNS": 8, "PE": 4, "SIMD": 2, "OUT_BITS": 12, "HELD": 1, "PLACES": 2},
        {"DEPTH": 7, "SIMD": 7, "COLUMNS": 3, "PE": 3, "ROWS": 3, "OUT_BITS": 11},
    ],
)
def test_lint_is_silent(parameters):
    assert lint(MatMulRTL, parameters) == ""


def test_an_output_that_loses_sums_is_refused():
    narrow = instance(case((2, 4), (4, 2), output="INT8"))
    assert MatMulRTL.supports(narrow).reason == "its output is INT8, and a sum may need INT10"
    floats = instance(case((2, 4), (4, 2), kinds=("INT4", "INT4")))
    floats.set_nodeattr("rhsDataType", "FLOAT32")
    assert MatMulRTL.supports(floats).reason == "input 1 is FLOAT32, and a circuit computes with integers"
    assert MatMulRTL.supports(instance(case((2, 4), (4, 2))))


def test_what_folding_may_raise():
    node = instance(case((2, 4, 16), (2, 16, 6)))
    assert [(one.attribute, one.values) for one in node.parallelism()] == [
        ("PE", (1, 2, 3, 6)), ("SIMD", (1, 2, 4)),
    ]  # fmt: skip
    cycles = []
    for pe, simd in ((1, 1), (6, 1), (6, 4), (6, 8)):
        node.set_nodeattr("PE", pe)
        node.set_nodeattr("SIMD", simd)
        cycles.append(node.get_exp_cycles())
    assert cycles == [2 * 4 * 16 * 6, 2 * 4 * 16, 2 * 16, 2 * 16]
    assert np.prod(node.get_folded_output_shape()) == 2 * 4 * 6


def test_sums_have_places_for_the_full_rate():
    found = [
        (node.holds_factors(), node.delay(), node.places())
        for one in (
            case((3, 16), (16, 2), 1, 2),
            case((3, 16), (16, 2), 1, 4),
            case((3, 16), (16, 2), 1, 16),
            case((3, 16), (16, 2), 1, 16, ("INT4", "BIPOLAR")),
        )
        for node in [instance(one)]
    ]
    assert found == [(True, 7, 2), (True, 8, 3), (True, 10, 11), (False, 9, 10)]


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case((16, 8), (8, 8), 2, 2, ("BIPOLAR", "BIPOLAR")),
        case((8, 16), (16, 8), 2, 4),
        case((8, 16), (16, 8), 4, 4, ("INT8", "INT8")),
        case((64, 64), (64, 64), 2, 4, ("INT8", "INT8")),
        case((8, 12), (12, 8), 8, 12, ("BIPOLAR", "BIPOLAR")),
        case((8, 12), (12, 8), 4, 6, ("BINARY", "BINARY")),
        case((8, 12), (12, 8), 4, 6, ("BIPOLAR", "BINARY")),
        case((8, 12), (12, 8), 2, 4, ("BIPOLAR", "INT4")),
    ]
    assert_as_stated(chosen, tmp_path)


@pytest.mark.slow
def test_narrow_memories_of_7_series_are_as_stated(tmp_path):
    """Four LUTs hold 64 words of 3 bits there, and eight hold 64 words of 7 bits on UltraScale+."""
    kinds = ("INT2", "INT3")
    chosen = [
        case((8, 24), (24, 16), 1, 1, kinds),
        case((8, 24), (24, 16), 1, 2, kinds),
        case((8, 16), (16, 8), 2, 4),
    ]
    assert_as_stated(chosen, tmp_path, exact=("lutram",), part="xc7z020clg400-1")
