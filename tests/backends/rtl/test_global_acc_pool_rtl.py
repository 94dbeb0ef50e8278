"""GlobalAccPoolRTL against FINN's GlobalAccPool."""

import pytest
from hypothesis import strategies as st
from onnx import helper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.global_acc_pool_rtl import GlobalAccPoolRTL
from brainsmith.rtl.cores.parallelism import Parallelism
from tests.backends.rtl.bench import RTL, Case, check_cores, law_of_cores, lint
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated


def case(channels, pe, vectors, kind="INT4"):
    attributes = {"NumChannels": channels, "PE": pe, "inputDataType": kind, "numInputVectors": list(vectors)}
    return Case("GlobalAccPool_rtl", [((*vectors, channels), kind)], attributes)


@st.composite
def cases(draw):
    pe = draw(st.integers(1, 4))
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    kinds = ["INT2", "UINT4", "INT7", "UINT13", "BINARY", "BIPOLAR", "TERNARY"]
    vectors = (draw(st.integers(1, 2)), height, width)
    return case(pe * draw(st.integers(1, 5)), pe, vectors, draw(st.sampled_from(kinds)))


def node_of(kind, vectors):
    node = helper.make_node(
        "GlobalAccPool_rtl", ["x"], ["y"], domain=RTL, NumChannels=12, PE=1, inputDataType=kind,
        numInputVectors=vectors,
    )  # fmt: skip
    return getCustomOp(node)


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case(4, 2, (1, 3, 3)),
        case(4, 4, (1, 2, 4), "UINT5"),
        case(6, 1, (2, 1, 3), "BIPOLAR"),
        case(3, 3, (1, 1, 1), "INT6"),
        case(5, 1, (1, 1, 1), "UINT2"),
        case(2, 1, (1, 5, 5), "BINARY"),
        case(6, 3, (1, 2, 2), "BIPOLAR"),
        case(2, 2, (1, 1, 1), "BIPOLAR"),
        case(4, 1, (1, 2, 2), "TERNARY"),
        case(70, 1, (1, 2, 2), "INT8"),
    ]
    check_cores(chosen, tmp_path)


test_computes_what_finn_computes = law_of_cores(cases(), draws=6, least=6, most=12)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


@pytest.mark.parametrize(
    ("kind", "vectors", "reason"),
    [
        ("INT4", [1, 4, 4], ""),
        ("UINT4", [2, 7, 7], ""),
        ("BIPOLAR", [1, 3, 3], ""),
        ("FLOAT32", [1, 4, 4], "input 0 is FLOAT32, but its core computes with integers only"),
        ("INT4", [1, 4], "numInputVectors is [1, 4], and an image has three: batch, height and width"),
        ("BIPOLAR", [1, 2, 2], ""),
        ("TERNARY", [1, 4, 4], ""),
    ],
)
def test_what_it_does_not_compute_is_refused(kind, vectors, reason):
    assert GlobalAccPoolRTL.supports(node_of(kind, vectors)).reason == reason


@pytest.mark.parametrize(
    ("kind", "vectors", "given"),
    [
        ("BIPOLAR", [1, 2, 2], "INT4"),
        ("TERNARY", [1, 1, 1], "INT2"),
        ("INT4", [1, 4, 4], "INT8"),
        ("UINT4", [1, 1, 2], "UINT5"),
    ],
)
def test_its_output_holds_all_sums(kind, vectors, given):
    assert node_of(kind, vectors).get_output_datatype().name == given


def test_pe_divides_the_channels():
    assert node_of("INT4", [1, 4, 4]).parallelism() == (Parallelism("PE", (1, 2, 3, 4, 6, 12)),)


def test_a_frame_takes_its_input_beats():
    (node,) = (node_of("INT4", [2, 4, 4]),)
    assert node.get_exp_cycles() == 2 * 4 * 4 * 12


LEAST = {"PE": 1, "FOLDS": 1, "PIXELS": 1, "IN_BITS": 1, "OUT_BITS": 1}


@pytest.mark.parametrize(
    "parameters",
    [
        LEAST,
        LEAST | {"SIGNED": 1},
        LEAST | {"SIGNED": 1, "BIPOLAR": 1, "OUT_BITS": 2},
        LEAST | {"FOLDS": 2, "PIXELS": 9, "OUT_BITS": 4},
        {"PE": 4, "FOLDS": 5, "PIXELS": 49, "SIGNED": 1, "IN_BITS": 8, "OUT_BITS": 14},
        {"PE": 1, "FOLDS": 512, "PIXELS": 16, "IN_BITS": 4, "OUT_BITS": 8, "BLOCK": 1},
    ],
)
def test_lint_is_silent(parameters):
    assert lint(GlobalAccPoolRTL, parameters) == ""


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case(16, 16, (1, 7, 7), "UINT4"),
        case(64, 4, (1, 4, 4), "INT8"),
        case(9, 3, (1, 3, 3), "BIPOLAR"),
        case(128, 1, (1, 4, 4), "INT8"),
        case(512, 8, (1, 7, 7), "INT4"),
        case(1024, 1, (1, 4, 4), "UINT8"),
    ]
    assert_as_stated(chosen, tmp_path)
