"""UpsampleNearestNeighbourRTL against FINN's UpsampleNearestNeighbour."""

import pytest
from hypothesis import strategies as st
from onnx import helper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.upsample_nearest_neighbour_rtl import UpsampleNearestNeighbourRTL
from brainsmith.rtl.cores.parallelism import Parallelism
from tests.backends.rtl.bench import RTL, Case, check_cores, law_of_cores, lint, make_model
from tests.backends.rtl.scheduled import assert_beats_as_scheduled, law_of_schedules
from tests.backends.rtl.stated import assert_as_stated


def case(channels, simd, size, scale, kind="INT4", batch=1):
    (height, width), (high, wide) = size, scale
    attributes = {
        "NumChannels": channels, "SIMD": simd, "HI": height, "WI": width, "HO": high * height, "WO": wide * width,
        "inputDataType": kind, "batchSize": batch,
    }  # fmt: skip
    return Case("UpsampleNearestNeighbour_rtl", [((batch, height, width, channels), kind)], attributes)


IN_BLOCKS = [
    case(64, 32, (3, 2), (1, 1), "INT8"),
    case(64, 64, (3, 2), (2, 1), "INT8", batch=2),
    case(64, 64, (2, 4), (2, 2), "INT4"),
    case(96, 48, (3, 3), (1, 3), "INT8"),
]
"""Rows in block RAM, of 2 to 6 beats."""


@st.composite
def cases(draw):
    simd = draw(st.integers(1, 3))
    return case(
        channels=simd * draw(st.integers(1, 4)),
        simd=simd,
        size=(draw(st.integers(1, 4)), draw(st.integers(1, 4))),
        scale=(draw(st.integers(1, 4)), draw(st.integers(1, 4))),
        kind=draw(st.sampled_from(["INT2", "UINT4", "INT9", "BIPOLAR", "BINARY"])),
        batch=draw(st.integers(1, 2)),
    )


def node_of(before, after, kind="INT4"):
    node = helper.make_node(
        "UpsampleNearestNeighbour_rtl", ["x"], ["y"], domain=RTL, NumChannels=6, SIMD=1, HI=before[0], WI=before[1],
        HO=after[0], WO=after[1], inputDataType=kind,
    )  # fmt: skip
    return getCustomOp(node)


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case(4, 2, (3, 5), (2, 2)),
        case(2, 2, (3, 2), (3, 4), "UINT5"),
        case(3, 1, (2, 2), (1, 3), "BIPOLAR"),
        case(4, 1, (3, 3), (2, 1), "INT7", batch=2),
        case(1, 1, (2, 1), (2, 3), "BINARY"),
        case(1, 1, (4, 1), (1, 1), "INT8"),
        case(2, 1, (2, 2), (1, 1), "INT3"),
        case(1, 1, (1, 40), (2, 2), "INT8"),
        case(8, 1, (2, 32), (2, 3), "INT24"),
        case(256, 256, (3, 1), (2, 2), "INT8"),
        *IN_BLOCKS,
    ]
    check_cores(chosen, tmp_path)


test_computes_what_finn_computes = law_of_cores(cases(), draws=6, least=6, most=12)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


@pytest.mark.slow
@pytest.mark.compiles(tried=1)
def test_rows_in_block_ram_move_when_the_schedule_says(tmp_path, simulations):
    assert all(getCustomOp(node).in_blocks() for node in make_model(IN_BLOCKS).graph.node)
    assert_beats_as_scheduled(IN_BLOCKS, tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "kind", "reason"),
    [
        ((3, 4), (6, 4), "INT4", ""),
        ((3, 4), (9, 12), "BIPOLAR", ""),
        ((3, 4), (6, 8), "FLOAT32", "input 0 is FLOAT32, but its core computes with integers only"),
        ((3, 4), (7, 8), "INT4", "HO is 7, no whole multiple of HI, which is 3"),
        ((3, 4), (6, 2), "INT4", "WO is 2, no whole multiple of WI, which is 4"),
    ],
)
def test_what_it_does_not_compute_is_refused(before, after, kind, reason):
    assert UpsampleNearestNeighbourRTL.supports(node_of(before, after, kind)).reason == reason


def test_simd_divides_the_channels():
    assert node_of((2, 2), (4, 4)).parallelism() == (Parallelism("SIMD", (1, 2, 3, 6)),)


@pytest.mark.parametrize(
    "parameters",
    [
        {"BITS": 1, "FOLDS": 1, "WIDTH": 1, "WIDE": 1, "HIGH": 1},
        {"BITS": 1, "FOLDS": 1, "WIDTH": 2, "WIDE": 1, "HIGH": 3},
        {"BITS": 5, "FOLDS": 3, "WIDTH": 1, "WIDE": 2, "HIGH": 1},
        {"BITS": 8, "FOLDS": 2, "WIDTH": 4, "WIDE": 4, "HIGH": 2},
        {"BITS": 33, "FOLDS": 7, "WIDTH": 224, "WIDE": 3, "HIGH": 5, "BLOCK": 1},
    ],
)
def test_lint_is_silent(parameters):
    assert lint(UpsampleNearestNeighbourRTL, parameters) == ""


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case(8, 8, (4, 4), (2, 2), "INT8"),
        case(16, 2, (8, 8), (2, 2), "INT8"),
        case(16, 1, (4, 32), (4, 3), "UINT4"),
        case(64, 4, (4, 64), (2, 2), "INT8"),
        case(64, 64, (4, 32), (2, 1), "INT4"),
        case(1, 1, (3, 300), (2, 2), "INT4"),
        case(64, 64, (4, 4), (2, 2), "INT4"),
        case(10, 5, (7, 7), (3, 3), "UINT8"),
        case(8, 8, (2, 2), (2, 2), "INT4"),
    ]
    assert_as_stated(chosen, tmp_path)
