"""LookupRTL against FINN's Lookup."""

import numpy as np
import pytest
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.lookup_rtl import LookupRTL
from tests.backends.rtl.bench import (
    Case,
    bare_layer,
    check_cores,
    law_of_cores,
    lint,
    make_model,
    random_values,
)
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated

KINDS = ["UINT1", "INT2", "UINT4", "BIPOLAR", "INT9", "UINT13"]


def case(bits, width, kind="INT4", shape=(1, 4), rows=None, **attributes):
    """Return a case whose indices have so many bits, and whose rows so many values."""
    rows = rows or 2**bits
    stated = {
        "NumEmbeddings": rows, "EmbeddingDim": width, "EmbeddingType": kind, "InputType": f"UINT{bits}",
        "InputShape": list(shape), **attributes,
    }  # fmt: skip
    values = random_values(np.random.default_rng(bits), kind, (rows, width))
    return Case("Lookup_rtl", [(shape, f"UINT{bits}")], stated, constants=[(values, kind)])


@st.composite
def cases(draw):
    bits = draw(st.integers(1, 7))
    return case(
        bits,
        draw(st.integers(1, 6)),
        draw(st.sampled_from(KINDS)),
        shape=(1, *draw(st.lists(st.integers(1, 5), min_size=1, max_size=2))),
        rows=2**bits + draw(st.integers(0, 9)),
        ram_style=draw(st.sampled_from(["auto", "block", "distributed"])),
    )


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case(4, 3),
        case(1, 1, "BIPOLAR", ram_style="distributed"),
        case(3, 2, "UINT9", shape=(1, 2, 3), rows=11, ram_style="auto"),
    ]
    check_cores(chosen, tmp_path)


test_computes_what_finn_computes = law_of_cores(cases(), draws=3, least=8, most=16)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


REFUSED = {
    "its table is in external memory, but its core holds it: set mem_mode to internal_embedded":
        case(4, 2, mem_mode="external"),
    "its ram_style is ultra, and UltraRAM cannot hold a table from the start": case(4, 2, ram_style="ultra"),
    "input 1 is FLOAT32, but its core computes with integers only": case(4, 2, EmbeddingType="FLOAT32"),
    "its indices are INT4, which may be negative": case(4, 2, InputType="INT4"),
    "its indices are UINT4, up to 15, and its table has 10 rows: add rows up to 16": case(4, 2, rows=10),
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_refuses(reason):
    assert LookupRTL.supports(bare_layer(REFUSED[reason])).reason == reason


def test_stores_what_an_index_can_reach():
    layer = getCustomOp(make_model([case(3, 2, rows=20)]).graph.node[0])
    assert LookupRTL.supports(layer)
    assert layer.core_parameters()["DEPTH"] == 8
    assert layer.parallelism() == ()


PARAMETERS = [
    {"INDEX_BITS": 1, "ROW_BITS": 1, "DEPTH": 1, "TABLE": "x.dat"},
    {"INDEX_BITS": 1, "ROW_BITS": 1, "DEPTH": 2, "TABLE": "x.dat", "STYLE": "distributed"},
    {"INDEX_BITS": 9, "ROW_BITS": 33, "DEPTH": 512, "TABLE": "x.dat"},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_lint_is_silent(parameters):
    assert lint(LookupRTL, parameters) == ""


MEASURED = [
    case(8, 4, "INT8"),
    case(10, 16, "INT8"),
    case(5, 8, "INT4", ram_style="distributed"),
    case(6, 3, "UINT4", ram_style="auto"),
    case(11, 5, "INT6"),
    case(12, 2, "INT8"),
]


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    assert_as_stated(MEASURED, tmp_path)
