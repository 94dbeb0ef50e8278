"""LabelSelectRTL against FINN's LabelSelect."""

import numpy as np
import pytest
from hypothesis import strategies as st
from onnx import helper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.label_select_rtl import LabelSelectRTL
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from tests.backends.rtl.bench import RTL, Case, check_cores, golden_tensors, law_of_cores, lint, make_model
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated


def case(labels, pe, k, kind="INT8", vectors=(1,), given="", frames=None):
    attributes = {
        "Labels": labels, "PE": pe, "K": k, "inputDataType": kind, "outputDataType": given,
        "numInputVectors": list(vectors),
    }  # fmt: skip
    frames = None if frames is None else [np.asarray(frames).reshape(-1, *vectors, labels)]
    return Case("LabelSelect_rtl", [((*vectors, labels), kind)], attributes, frames=frames)


@st.composite
def cases(draw):
    labels = draw(st.integers(1, 12))
    return case(
        labels=labels,
        pe=draw(st.sampled_from(divisors(labels))),
        k=draw(st.integers(1, min(labels, 5))),
        kind=draw(st.sampled_from(["BINARY", "BIPOLAR", "INT2", "UINT3", "INT9", "UINT16"])),
        vectors=draw(st.sampled_from([(1,), (3,), (1, 2, 2)])),
        given=draw(st.sampled_from(["", "UINT4", "INT9"])),
    )


def node_of(labels, k, kind="INT4", given=""):
    node = helper.make_node(
        "LabelSelect_rtl", ["x"], ["y"], domain=RTL, Labels=labels, PE=1, K=k, inputDataType=kind,
        outputDataType=given,
    )  # fmt: skip
    return getCustomOp(node)


TIES = [[3, 7, 7, -8, 7, 3], [-8, -8, -8, -8, -8, -8], [0, 0, 5, 5, 0, 5], [7, 6, 5, 4, 3, 2]]


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case(10, 1, 1),
        case(10, 5, 1, "UINT6", given="UINT4"),
        case(6, 6, 1, "BIPOLAR", (4,)),
        case(6, 2, 4, "INT4", frames=TIES),
        case(6, 1, 6, "INT4", frames=TIES),
        case(6, 3, 3, "INT4", frames=TIES),
        case(8, 4, 3, "INT2", (1, 2, 2)),
        case(2, 1, 1, "INT16"),
        case(1, 1, 1, "INT3"),
        case(1000, 8, 5, "INT12"),
    ]
    check_cores(chosen, tmp_path)


def test_of_equal_values_the_lower_number_is_first():
    chosen = [case(6, 1, 4, "INT4", frames=TIES)]
    found = golden_tensors(make_model(chosen), chosen, 4, 0)["c0_out0"]
    assert found.reshape(4, 4).astype(int).tolist() == [
        [1, 2, 4, 0],
        [0, 1, 2, 3],
        [2, 3, 5, 0],
        [0, 1, 2, 3],
    ]


test_computes_what_finn_computes = law_of_cores(cases(), draws=6, least=6, most=12)


test_beats_move_when_the_schedule_says = law_of_schedules(
    cases(), draws=3, least=4, most=8, exact_stalls=False
)


@pytest.mark.parametrize(
    ("labels", "pe", "k", "vectors", "cycles"),
    [(10, 1, 1, (1,), 10), (10, 5, 1, (3,), 6), (10, 5, 4, (1, 2, 2), 16), (10, 10, 1, (1,), 1)],
)
def test_a_frame_takes_the_longer_of_values_and_results(labels, pe, k, vectors, cycles):
    (node,) = make_model([case(labels, pe, k, vectors=vectors)]).graph.node
    assert getCustomOp(node).get_exp_cycles() == cycles


@pytest.mark.parametrize(
    ("labels", "k", "kind", "given", "reason"),
    [
        (4, 5, "INT4", "", "it asks for 5 of 4 labels"),
        (4, 0, "INT4", "", "it asks for 0 of 4 labels"),
        (4, 1, "FLOAT32", "", "input 0 is FLOAT32, but its core computes with integers only"),
        (20, 1, "INT4", "UINT4", "its labels are 0 to 19, which UINT4 cannot hold"),
        (2, 1, "INT4", "BIPOLAR", "its labels are 0 to 1, which BIPOLAR cannot hold"),
        (10, 3, "INT4", "", ""),
        (2, 1, "BIPOLAR", "", ""),
        (300, 1, "INT4", "", ""),
    ],
)
def test_what_it_does_not_compute_is_refused(labels, k, kind, given, reason):
    assert LabelSelectRTL.supports(node_of(labels, k, kind, given)).reason == reason


def test_pe_divides_the_labels():
    assert node_of(10, 1).parallelism() == (Parallelism("PE", (1, 2, 5, 10)),)


LEAST = {"LABELS": 1, "PE": 1, "TOP": 1, "IN_BITS": 1, "OUT_BITS": 1}


@pytest.mark.parametrize(
    "parameters",
    [
        LEAST,
        LEAST | {"SIGNED": 1},
        LEAST | {"LABELS": 2, "PE": 2, "TOP": 2},
        {"LABELS": 10, "PE": 5, "TOP": 3, "SIGNED": 1, "IN_BITS": 12, "OUT_BITS": 4},
        {"LABELS": 16, "PE": 1, "TOP": 16, "IN_BITS": 3, "OUT_BITS": 8},
        {"LABELS": 16, "PE": 16, "TOP": 1, "IN_BITS": 3, "OUT_BITS": 8},
        {"LABELS": 1000, "PE": 8, "TOP": 5, "SIGNED": 1, "IN_BITS": 20, "OUT_BITS": 16},
    ],
)
def test_lint_is_silent(parameters):
    assert lint(LabelSelectRTL, parameters) == ""


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case(10, 1, 1, "INT4"),
        case(10, 5, 1),
        case(10, 2, 1, "INT16"),
        case(1000, 8, 1),
        case(1000, 1, 5),
        case(16, 4, 5, "UINT12"),
        case(64, 2, 10, "UINT4"),
    ]
    assert_as_stated(chosen, tmp_path)
