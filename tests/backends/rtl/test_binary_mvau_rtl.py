"""BinaryMVAURTL against FINN's MVAU with 1-bit weights."""

import numpy as np
import pytest
from hypothesis import strategies as st
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.binary_mvau_rtl import BinaryMVAURTL, weight_words
from brainsmith.errors import BuildError
from brainsmith.rtl.cores.parallelism import Parallelism
from tests.backends.rtl.bench import Case, check_cores, law_of_cores, lint, make_model
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated

XNOR = "XNOR"


def case(mw, mh, simd, pe, kind=XNOR, vectors=(1,), output="", seed=0, **attributes):
    """Return a node with random weights; XNOR inputs and weights are BINARY, all others have BIPOLAR weights."""
    xnor = kind == XNOR
    fed, held = ("BINARY", "BINARY") if xnor else (kind, "BIPOLAR")
    ones = np.random.default_rng(seed).integers(0, 2, (mw, mh))
    counted = xnor or kind == "BIPOLAR"
    stated = {
        "MW": mw, "MH": mh, "SIMD": simd, "PE": pe, "inputDataType": fed, "weightDataType": held,
        "outputDataType": output or (f"UINT{mw.bit_length()}" if counted else "INT24"),
        "binaryXnorMode": int(xnor), "noActivation": 1, "numInputVectors": list(vectors), **attributes,
    }  # fmt: skip
    return Case(
        "BinaryMVAU_rtl", [((*vectors, mw), fed)], stated, constants=[(ones if xnor else 2 * ones - 1, held)]
    )


def node_of(*arguments, **attributes):
    return getCustomOp(make_model([case(*arguments, **attributes)]).graph.node[0])


@st.composite
def cases(draw):
    simd, pe = draw(st.integers(1, 20)), draw(st.integers(1, 4))
    return case(
        mw=simd * draw(st.integers(1, 5)),
        mh=pe * draw(st.integers(1, 4)),
        simd=simd,
        pe=pe,
        kind=draw(st.sampled_from([XNOR, XNOR, "BIPOLAR", "BINARY", "UINT8", "INT2", "INT8", "INT11"])),
        vectors=(1, *draw(st.lists(st.integers(1, 3), max_size=2))),
        seed=draw(st.integers(0, 99)),
        ram_style=draw(st.sampled_from(["auto", "block", "distributed"])),
        mem_mode=draw(st.sampled_from(["internal_embedded", "internal_decoupled"])),
    )


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case(1, 1, 1, 1),
        case(1, 3, 1, 1, "INT4", vectors=(1, 5)),  # one column: a result each cycle
        case(6, 6, 6, 2),  # all columns at once
        case(6, 6, 6, 6, "UINT4"),  # one step for all of it
        case(30, 4, 10, 2, vectors=(1, 3)),
        case(6, 4, 2, 2, "BIPOLAR"),
        case(6, 4, 3, 4, "INT8"),  # one fold of rows: nothing is replayed
        case(20, 4, 20, 1, "BINARY", ram_style="block"),
    ]
    check_cores(chosen, tmp_path, count=5)


test_computes_what_finn_computes = law_of_cores(cases(), draws=5, least=8, most=14)


test_beats_move_when_the_schedule_says = law_of_schedules(
    cases(), draws=3, least=4, most=8, exact_stalls=False
)


@pytest.mark.parametrize(
    "parameters",
    [
        {"MW": 1, "MH": 1, "SIMD": 1, "PE": 1, "OUT_BITS": 1},
        {"MW": 1, "MH": 1, "SIMD": 1, "PE": 1, "XNOR": 0, "IN_BITS": 8, "IN_SIGNED": 1, "OUT_BITS": 9},
        {"MW": 18, "MH": 4, "SIMD": 18, "PE": 4, "OUT_BITS": 5, "BLOCK_ROM": 1},
        {"MW": 30, "MH": 3, "SIMD": 10, "PE": 1, "XNOR": 0, "IN_BITS": 1, "OUT_BITS": 7},
        {"MW": 6, "MH": 6, "SIMD": 2, "PE": 3, "XNOR": 0, "IN_BITS": 4, "IN_SIGNED": 1, "OUT_BITS": 8},
    ],
)
def test_lint_is_silent(parameters):
    assert lint(BinaryMVAURTL, parameters) == ""


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case(64, 32, 8, 4),
        case(64, 10, 16, 1),
        case(27, 16, 3, 8, "UINT8", output="INT14"),
        case(54, 8, 27, 2, "INT4", output="INT10"),
        case(256, 32, 8, 4),  # block RAM
        case(12, 12, 3, 2),
    ]
    assert_as_stated(chosen, tmp_path, exact=("bram18", "dsp"))


def test_words_of_weights_begin_with_the_first_value_of_the_first_row():
    ones = np.array([[1, 0, 0, 1], [1, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]], bool)  # (MW, MH)
    assert weight_words(ones.T, simd=2, pe=2).split() == ["3", "4", "e", "c"]


@pytest.mark.parametrize(
    ("arguments", "attributes", "reason"),
    [
        (
            (8, 4, 4, 2),
            {"noActivation": 0},
            "it has thresholds inside, and its core computes the sums alone",
        ),
        (
            (8, 4, 4, 2),
            {"mem_mode": "external"},
            "its weights come from outside (mem_mode is external), and its core holds them",
        ),
        (
            (8, 4, 4, 2),
            {"mem_mode": "dynamic"},
            "its weights come from outside (mem_mode is dynamic), and its core holds them",
        ),
        (
            (8, 4, 4, 2),
            {"runtime_writeable_weights": 1},
            "its weights can change (runtime_writeable_weights), and its core holds constants",
        ),
        ((8, 4, 4, 2), {"TH": 2}, "it is tiled (TH is 2)"),
        ((8, 4, 4, 2), {"output": "UINT3"}, "its output is UINT3, and a count may be 8"),
        (
            (8, 4, 4, 2),
            {"weightDataType": "INT2"},
            "its weights are INT2 and its inputs BINARY in XNOR mode, but its core takes weights that are BIPOLAR, or "
            "both BINARY in XNOR mode",
        ),
        (
            (8, 4, 4, 2, "INT8"),
            {"output": "INT10"},
            "its output is INT10, and whatever its weights are, its results span 2040",
        ),
        ((8, 4, 4, 2, "FLOAT32"), {}, "input 0 is FLOAT32, but its core computes with integers only"),
    ],
)
def test_refuses_what_it_does_not_compute(arguments, attributes, reason):
    assert BinaryMVAURTL.supports(node_of(*arguments, **attributes)).reason == reason


def test_an_output_that_does_not_hold_the_results_of_the_weights_is_refused():
    one = case(4, 1, 2, 1, "UINT4", output="INT6")
    one.constants = [(np.ones((4, 1)), "BIPOLAR")]
    model = make_model([one])
    layer = getCustomOp(model.graph.node[0])
    assert BinaryMVAURTL.supports(layer)  # with other weights it holds them
    with pytest.raises(BuildError) as raised:
        layer.core_memories(model)
    assert str(raised.value) == "layer 'BinaryMVAU_rtl_0': its results are 0 to 60, which INT6 cannot hold"
    model.set_initializer(model.graph.node[0].input[1], np.array([[1], [1], [-1], [-1]], np.float32))
    assert list(layer.core_memories(model)) == ["BinaryMVAU_rtl_0_weights.dat"]


@pytest.mark.parametrize(
    ("kind", "few", "wrong"), [("INT4", "-1 or 1", 3), ("INT4", "-1 or 1", 0), (XNOR, "0 or 1", -1)]
)
def test_weights_of_other_values_are_refused(kind, few, wrong):
    model = make_model([case(4, 1, 2, 1, kind)])
    layer = getCustomOp(model.graph.node[0])
    held = model.get_initializer(model.graph.node[0].input[1]).copy()
    held[2, 0] = wrong
    model.set_initializer(model.graph.node[0].input[1], held)
    with pytest.raises(BuildError) as raised:
        layer.core_memories(model)
    assert str(raised.value) == (f"layer 'BinaryMVAU_rtl_0': all of its weights must be {few}")


def test_supports_both_kinds_of_inputs():
    assert BinaryMVAURTL.supports(node_of(8, 4, 1, 1))
    assert BinaryMVAURTL.supports(node_of(8, 4, 1, 1, "INT8"))


def test_weights_are_no_stream():
    layer = node_of(8, 4, 4, 2)
    assert (layer.get_instream_width(), layer.get_instream_width(1)) == (4, 0)
    names = layer.get_verilog_top_module_intf_names()
    assert (names["s_axis"], names["m_axis"]) == ([("in0_V", 8)], [("out0_V", 8)])


def test_folding_raises_narrow_beats_first():
    assert node_of(192, 4, 1, 1).parallelism() == (
        Parallelism("SIMD", (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)),
        Parallelism("PE", (1, 2, 4)),
        Parallelism("SIMD", (64, 96, 192)),
    )
    assert len(node_of(64, 4, 1, 1).parallelism()) == 2


def test_minimal_datatypes_hold_all_counts_and_keep_the_weights():
    model = make_model([case(784, 4, 1, 1, output="INT32")])
    layer = getCustomOp(model.graph.node[0])
    assert layer.minimize_weight_bit_width(model) == DataType["BINARY"]
    assert layer.minimize_accumulator_width(model) == DataType["UINT16"]  # the last layer gives whole bytes
    assert layer.get_output_datatype() == DataType["UINT16"]
    model = make_model([case(8, 4, 1, 1, "INT4", output="INT32")])
    layer = getCustomOp(model.graph.node[0])
    assert layer.minimize_weight_bit_width(model) == DataType["BIPOLAR"]
    assert layer.minimize_accumulator_width(model) == DataType["INT8"]
