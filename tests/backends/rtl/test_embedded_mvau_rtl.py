"""EmbeddedMVAURTL against FINN's MVAU."""

import numpy as np
import pytest
from hypothesis import strategies as st
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.embedded_mvau_rtl import EmbeddedMVAURTL
from brainsmith.errors import BuildError
from brainsmith.rtl.cores.parallelism import Parallelism
from tests.backends.rtl.bench import (
    Case,
    check_cores,
    law_of_cores,
    lint,
    make_model,
    random_values,
)
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated


def case(mw, mh, simd, pe, kind="INT4", held="INT4", vectors=(1,), output="", seed=0, **attributes):
    """Return a node with random weights; the output holds whatever they give."""
    weights = random_values(np.random.default_rng(seed), held, (mw, mh))
    one, other = (max(abs(int(DataType[name].min())), int(DataType[name].max())) for name in (kind, held))
    signed = kind + held != "BIPOLARBIPOLAR" and min(DataType[kind].min(), DataType[held].min()) < 0
    bits = (mw * one * other).bit_length()
    stated = {
        "MW": mw, "MH": mh, "SIMD": simd, "PE": pe, "inputDataType": kind, "weightDataType": held,
        "outputDataType": output or (f"INT{bits + 1}" if signed else f"UINT{bits}"), "noActivation": 1,
        "numInputVectors": list(vectors), **attributes,
    }  # fmt: skip
    return Case("EmbeddedMVAU_rtl", [((*vectors, mw), kind)], stated, constants=[(weights, held)])


def node_of(*arguments, **attributes):
    return getCustomOp(make_model([case(*arguments, **attributes)]).graph.node[0])


LINTED = [
    {"SIMD": 1, "PE": 1, "BEATS": 1, "FOLDS": 1, "OUT_BITS": 8},
    {"SIMD": 9, "PE": 2, "BEATS": 1, "FOLDS": 3, "IN_BITS": 8, "IN_KIND": 1, "OUT_BITS": 16, "STYLE": "block"},
    {"SIMD": 3, "PE": 1, "BEATS": 3, "FOLDS": 1, "IN_KIND": 0, "WEIGHT_KIND": 0, "OUT_BITS": 12},
    {
        "SIMD": 2, "PE": 2, "BEATS": 2, "FOLDS": 2, "IN_BITS": 1, "IN_KIND": 2, "WEIGHT_BITS": 1,
        "WEIGHT_KIND": 2, "OUT_BITS": 3,
    },
]  # fmt: skip
"""Parameters that EmbeddedVVAURTL's core has, too."""

KINDS = ["BIPOLAR", "BINARY", "TERNARY", "INT2", "UINT3", "INT4", "UINT8", "INT8", "INT9"]


@st.composite
def cases(draw):
    simd, pe = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    return case(
        mw=simd * draw(st.integers(1, 5)),
        mh=pe * draw(st.integers(1, 4)),
        simd=simd,
        pe=pe,
        kind=draw(st.sampled_from(KINDS)),
        held=draw(st.sampled_from(KINDS)),
        vectors=(1, *draw(st.lists(st.integers(1, 3), max_size=2))),
        seed=draw(st.integers(0, 99)),
        ram_style=draw(st.sampled_from(["auto", "block", "distributed"])),
        mem_mode=draw(st.sampled_from(["internal_embedded", "internal_decoupled"])),
    )


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case(1, 1, 1, 1),  # one weight
        case(1, 3, 1, 1, vectors=(1, 5)),  # one column: a result each cycle
        case(1, 4, 1, 4, "UINT8", "INT12"),
        case(6, 6, 6, 2),  # a whole row at once
        case(6, 6, 6, 6, "UINT4", "UINT4"),  # one step for all of it
        case(6, 4, 3, 4, "INT8", "TERNARY"),  # one fold of rows: nothing is replayed
        case(6, 4, 2, 2, "BIPOLAR", "BIPOLAR"),  # counts
        case(6, 4, 2, 2, "BIPOLAR", "UINT3"),
        case(6, 4, 2, 2, "INT16", "INT5"),
        case(6, 4, 2, 2, "UINT5", "INT16"),
        case(4, 2, 2, 1, "INT11", "INT11"),
        case(24, 16, 3, 2, "UINT4", "UINT4", ram_style="block"),
        case(12, 4, 3, 2, "BINARY", "INT2"),
        case(12, 4, 12, 2, "INT2", "BINARY"),
    ]
    check_cores(chosen, tmp_path, count=5)


@pytest.mark.slow
def test_wide_sums_are_exact(tmp_path, simulations):
    chosen = [
        case(512, 2, 8, 1, "INT16", "INT16"),  # 41 bits
        case(512, 2, 8, 2, "UINT16", "UINT16"),
        case(1, 4, 1, 2, "INT16", "UINT16"),
        case(32, 4, 32, 2, "INT16", "INT12"),  # a whole row at once
        case(64, 4, 4, 2, "UINT9", "INT16"),
        case(64, 4, 4, 4, "INT10", "INT11", ram_style="block"),
        case(48, 2, 4, 1, "INT13", "INT14"),
        case(48, 2, 4, 1, "INT24", "INT15"),
        case(1024, 2, 16, 1, "INT24", "BIPOLAR"),
        case(64, 2, 4, 1, "INT20", "INT21", output="INT48"),
    ]
    check_cores(chosen, tmp_path, count=3)


test_computes_what_finn_computes = law_of_cores(cases(), draws=5, least=8, most=14)


test_beats_move_when_the_schedule_says = law_of_schedules(
    cases(), draws=3, least=4, most=8, exact_stalls=False
)


@pytest.mark.parametrize("parameters", LINTED)
def test_lint_is_silent(parameters):
    assert lint(EmbeddedMVAURTL, parameters) == ""


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case(64, 32, 8, 4, "UINT4", "UINT4"),
        case(16, 16, 16, 2, "INT4", "TERNARY"),
        case(64, 64, 8, 4, "UINT8", "INT12", output="INT26"),  # block RAM and DSP slices
        case(16, 8, 4, 8, "INT4", "INT2"),
        case(32, 16, 4, 2, "BIPOLAR", "INT4"),
        case(1, 16, 1, 4, "UINT8", "INT8"),
    ]
    assert_as_stated(chosen, tmp_path, exact=("bram18", "dsp"))


@pytest.mark.parametrize(
    ("arguments", "attributes", "reason"),
    [
        ((8, 4, 4, 2), {"TH": 2}, "it is tiled (TH is 2)"),
        ((8, 4, 4, 2), {"mlo_max_iter": 3}, "its weights can change (mlo_max_iter), and its core holds constants"),
        (
            (8, 4, 4, 2, "BINARY", "BINARY"),
            {"binaryXnorMode": 1},
            "its bits stand for -1 and 1 (binaryXnorMode), which its core does not count: give BIPOLAR inputs and "
            "weights",
        ),
        ((8, 4, 4, 2, "BIPOLAR", "BIPOLAR"), {"output": "UINT3"}, "its output is UINT3, and a count may be 8"),
        (
            (512, 2, 8, 1, "INT24", "INT24"),
            {},
            "its results are -36028792723996672 to 36028797018963968, and its Python model, in float64, is exact to "
            "9007199254740992 only",
        ),
        ((8, 4, 3, 2), {}, "its SIMD is 3, which does not divide 8"),
        ((8, 4, 4, 3), {}, "its PE is 3, which does not divide 4"),
    ],
)  # fmt: skip
def test_refuses_what_it_does_not_compute(arguments, attributes, reason):
    assert EmbeddedMVAURTL.supports(node_of(*arguments, **attributes)).reason == reason


def test_results_that_the_output_does_not_hold_are_refused_with_the_weights_known():
    one = case(2, 2, 1, 1, "UINT4", output="INT6")
    one.constants = [(np.array([[1, 0], [7, 0]]), "INT4")]
    layer = getCustomOp((model := make_model([one])).graph.node[0])
    assert EmbeddedMVAURTL.supports(layer)  # with other weights it holds them
    with pytest.raises(BuildError) as raised:
        layer.core_memories(model)
    assert str(raised.value) == "layer 'EmbeddedMVAU_rtl_0': its results are 0 to 120, which INT6 cannot hold"
    model.set_initializer(model.graph.node[0].input[1], np.array([[1, 2], [-1, 0]], np.float32))
    assert list(layer.core_memories(model).values()) == ["1\nf\n2\n0\n"]  # a row, then the next


def test_weights_are_no_stream_and_folding_raises_narrow_beats_first():
    layer = node_of(128, 4, 1, 1)
    assert (layer.get_instream_width(), layer.get_instream_width(1)) == (4, 0)
    assert layer.parallelism() == (
        Parallelism("SIMD", (1, 2, 4, 8, 16, 32, 64)),
        Parallelism("PE", (1, 2, 4)),
        Parallelism("SIMD", (64, 128)),
    )
