"""EmbeddedVVAURTL against FINN's VVAU."""

import numpy as np
import pytest
from hypothesis import strategies as st
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.embedded_products import weight_words
from brainsmith.backends.rtl.embedded_vvau_rtl import EmbeddedVVAURTL
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
from tests.backends.rtl.test_embedded_mvau_rtl import KINDS, LINTED


def case(channels, kernel, simd, pe, kind="INT4", held="INT4", size=(2, 2), output="", seed=0, **attributes):
    """Return a node with random weights; the output holds whatever they give."""
    window = kernel[0] * kernel[1]
    weights = random_values(np.random.default_rng(seed), held, (channels, 1, *kernel))
    one, other = (max(abs(int(DataType[name].min())), int(DataType[name].max())) for name in (kind, held))
    counts = kind == held == "BIPOLAR"
    signed = not counts and min(DataType[kind].min(), DataType[held].min()) < 0
    bits = (window * one * other).bit_length()
    stated = {
        "Channels": channels, "Kernel": list(kernel), "SIMD": simd, "PE": pe, "Dim": list(size), "inputDataType": kind,
        "weightDataType": held, "outputDataType": output or (f"INT{bits + 1}" if signed else f"UINT{bits}"),
        "noActivation": 1, **attributes,
    }  # fmt: skip
    return Case(
        "EmbeddedVVAU_rtl", [((1, *size, window * channels), kind)], stated, constants=[(weights, held)]
    )


def node_of(*arguments, **attributes):
    return getCustomOp(make_model([case(*arguments, **attributes)]).graph.node[0])


@st.composite
def cases(draw):
    kernel = draw(st.sampled_from([(1, 1), (1, 3), (2, 2), (3, 3), (3, 2), (5, 1), (5, 5)]))
    window = kernel[0] * kernel[1]
    pe = draw(st.integers(1, 4))
    return case(
        channels=pe * draw(st.integers(1, 4)),
        kernel=kernel,
        simd=draw(st.sampled_from([one for one in range(1, window + 1) if window % one == 0])),
        pe=pe,
        kind=draw(st.sampled_from(KINDS)),
        held=draw(st.sampled_from(KINDS)),
        size=draw(st.sampled_from([(1, 1), (1, 3), (3, 2)])),
        seed=draw(st.integers(0, 99)),
        ram_style=draw(st.sampled_from(["auto", "block", "distributed"])),
        mem_mode=draw(st.sampled_from(["internal_embedded", "internal_decoupled"])),
    )


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case(1, (1, 1), 1, 1),  # one weight
        case(3, (1, 1), 1, 1, size=(1, 5)),  # a result each cycle
        case(4, (3, 3), 9, 4),  # all of a window at once, and all channels: one word
        case(4, (3, 3), 9, 2, "UINT8", "INT8"),
        case(4, (3, 3), 3, 2, "UINT4", "TERNARY"),
        case(4, (3, 3), 1, 4, "BIPOLAR", "BIPOLAR"),  # counts
        case(4, (2, 2), 4, 2, "BIPOLAR", "BIPOLAR"),
        case(4, (2, 2), 2, 2, "BIPOLAR", "UINT3"),
        case(4, (2, 2), 2, 2, "UINT4", "BIPOLAR"),
        case(2, (2, 2), 2, 2, "BINARY", "BINARY"),
        case(8, (5, 5), 5, 2, "INT8", "INT8", ram_style="block"),
        case(2, (1, 3), 3, 1, "INT11", "INT11"),
        case(2, (1, 1), 1, 1, "INT16", "INT8"),
    ]
    check_cores(chosen, tmp_path, count=5)


test_computes_what_finn_computes = law_of_cores(cases(), draws=5, least=8, most=14)


test_beats_move_when_the_schedule_says = law_of_schedules(
    cases(), draws=3, least=4, most=8, exact_stalls=False
)


@pytest.mark.parametrize(
    "parameters",
    [
        *LINTED,
        {"SIMD": 2, "PE": 2, "BEATS": 2, "FOLDS": 2, "IN_BITS": 1, "IN_KIND": 2, "OUT_BITS": 7},
        {"SIMD": 4, "PE": 1, "BEATS": 1, "FOLDS": 2, "WEIGHT_BITS": 1, "WEIGHT_KIND": 2, "OUT_BITS": 7},
    ],
)  # fmt: skip
def test_lint_is_silent(parameters):
    assert lint(EmbeddedVVAURTL, parameters) == ""


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case(16, (3, 3), 1, 4),
        case(16, (3, 3), 3, 4),
        case(32, (3, 3), 1, 4, "UINT8", "INT8"),  # block RAM and DSP slices
        case(32, (3, 3), 9, 2, "INT8", "INT8"),
        case(64, (5, 5), 5, 8, "UINT4", "INT4"),
        case(16, (3, 3), 3, 4, "UINT4", "TERNARY"),
        case(16, (3, 3), 3, 2, "UINT4", "BIPOLAR"),
        case(32, (3, 3), 9, 2, "BIPOLAR", "BIPOLAR"),
        case(8, (3, 3), 9, 8, "UINT4", "INT4"),  # constants
    ]
    assert_as_stated(chosen, tmp_path, exact=("bram18", "dsp"))


def test_words_of_weights_hold_the_channels_of_a_position_side_by_side():
    weights = np.arange(16).reshape(4, 4)  # (channels, positions)
    assert weight_words(weights, simd=2, pe=2).tolist() == [
        [0, 4, 1, 5], [2, 6, 3, 7], [8, 12, 9, 13], [10, 14, 11, 15]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "attributes", "reason"),
    [
        (
            (4, (3, 3), 1, 2),
            {"noActivation": 0},
            "it has thresholds inside, and its core computes the sums alone",
        ),
        (
            (4, (3, 3), 1, 2),
            {"mem_mode": "external"},
            "its weights come from outside (mem_mode is external), and its core holds them",
        ),
        (
            (4, (3, 3), 1, 2),
            {"runtime_writeable_weights": 1},
            "its weights can change (runtime_writeable_weights), and its core holds constants",
        ),
        (
            (4, (3, 3), 1, 2, "BINARY", "BINARY"),
            {"binaryXnorMode": 1},
            "its bits stand for -1 and 1 (binaryXnorMode), which its core does not count: give BIPOLAR inputs and "
            "weights",
        ),
        (
            (4, (3, 3), 1, 2, "BIPOLAR", "BIPOLAR"),
            {"output": "UINT3"},
            "its output is UINT3, and a count may be 9",
        ),
        (
            (4, (3, 3), 1, 2, "INT26", "INT26"),
            {"output": "INT60"},
            "its results are -10133098859593728 to 10133099161583616, and its Python model, in float64, is exact to "
            "9007199254740992 only",
        ),
        (
            (4, (3, 3), 1, 2, "FLOAT32"),
            {"output": "INT8"},
            "input 0 is FLOAT32, but its core computes with integers only",
        ),
    ],
)
def test_refuses_what_it_does_not_compute(arguments, attributes, reason):
    assert EmbeddedVVAURTL.supports(node_of(*arguments, **attributes)).reason == reason


@pytest.mark.parametrize(("attribute", "value", "whole"), [("PE", 3, 4), ("SIMD", 2, 9)])
def test_lanes_that_do_not_divide_are_refused(attribute, value, whole):
    layer = node_of(4, (3, 3), 1, 2)
    layer.set_nodeattr(attribute, value)
    assert (
        EmbeddedVVAURTL.supports(layer).reason == f"its {attribute} is {value}, which does not divide {whole}"
    )


def test_results_that_the_output_does_not_hold_are_refused_with_the_weights_known():
    one = case(1, (1, 2), 1, 1, "UINT4", output="INT6")
    one.constants = [(np.array([[[[1, 7]]]]), "INT4")]
    model = make_model([one])
    layer = getCustomOp(model.graph.node[0])
    assert EmbeddedVVAURTL.supports(layer)  # with other weights it holds them
    with pytest.raises(BuildError) as raised:
        layer.core_memories(model)
    assert str(raised.value) == "layer 'EmbeddedVVAU_rtl_0': its results are 0 to 120, which INT6 cannot hold"
    model.set_initializer(model.graph.node[0].input[1], np.array([[[[1, -1]]]], np.float32))
    assert list(layer.core_memories(model).values()) == ["1\nf\n"]


def test_weights_that_are_no_constants_are_refused():
    model = make_model([case(4, (3, 3), 1, 2)])
    layer = getCustomOp(model.graph.node[0])
    model.set_initializer(model.graph.node[0].input[1], np.ones((4, 4), np.float32))
    with pytest.raises(BuildError) as raised:
        layer.core_memories(model)
    assert str(raised.value) == (
        "layer 'EmbeddedVVAU_rtl_0': its weights must be 4 x 9 constants, not of shape (4, 4)"
    )


def test_weights_are_no_stream():
    layer = node_of(8, (3, 3), 3, 2)
    assert (layer.get_instream_width(), layer.get_instream_width(1)) == (24, 0)
    names = layer.get_verilog_top_module_intf_names()
    assert (names["s_axis"], names["m_axis"]) == ([("in0_V", 24)], [("out0_V", 24)])


def test_folding_takes_all_channels_before_several_positions():
    assert node_of(6, (3, 3), 1, 1).parallelism() == (
        Parallelism("PE", (1, 2, 3, 6), "SIMD"),
        Parallelism("SIMD", (1, 3, 9), "parallel_window"),
    )
    assert node_of(6, (1, 1), 1, 1).parallelism() == (Parallelism("PE", (1, 2, 3, 6)),)


@pytest.mark.parametrize(
    ("values", "held", "found"),
    [
        ([-1, -1], "INT4", "INT1"),
        ([-1, 0], "INT4", "INT1"),
        ([0, 0], "INT4", "UINT1"),
        ([-1, 1], "INT4", "INT2"),
        ([-1, 1], "BIPOLAR", "BIPOLAR"),
        ([3, 0], "INT4", "UINT2"),
    ],
)
def test_minimal_weights_are_bipolar_only_if_they_were(values, held, found):
    one = case(1, (1, 2), 1, 1, held=held)
    one.constants = [(np.array([[[values]]]), held)]
    model = make_model([one])
    layer = getCustomOp(model.graph.node[0])
    assert layer.minimize_weight_bit_width(model, datatype_only=True) == DataType[held]
    assert layer.minimize_weight_bit_width(model) == DataType[found]
    assert layer.get_input_datatype(1) == DataType[found]
    model.set_tensor_datatype(model.graph.node[0].input[1], DataType[found])
    assert layer.core_memories(model)
