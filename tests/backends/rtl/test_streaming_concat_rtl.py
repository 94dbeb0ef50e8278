"""StreamingConcatRTL against FINN's StreamingConcat."""

import pytest
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.streaming_concat_rtl import StreamingConcatRTL
from brainsmith.rtl.cores.turns import packed
from tests.backends.rtl.bench import Case, bare_layer, check_cores, law_of_cores, lint, make_model
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated

KINDS = ["UINT1", "INT2", "UINT4", "TERNARY", "INT9", "UINT13"]


def case(channels, kinds, simd=1, vectors=(1,)):
    attributes = {
        "ChannelsPerStream": channels, "inputDataTypes": kinds, "SIMD": simd, "numInputVectors": list(vectors),
    }  # fmt: skip
    fed = [((*vectors, count), kind) for count, kind in zip(channels, kinds, strict=True)]
    return Case("StreamingConcat_rtl", fed, attributes)


@st.composite
def cases(draw):
    simd, count = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    folds = draw(st.lists(st.integers(1, 5), min_size=count, max_size=count))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=count, max_size=count))
    vectors = (1, *draw(st.lists(st.integers(1, 3), max_size=2)))
    return case([simd * fold for fold in folds], kinds, simd, vectors)


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case([4, 2], ["INT4", "INT4"], simd=2, vectors=(1, 2, 2)),
        case([1, 1], ["UINT1", "UINT1"]),
        case([6, 3, 9], ["UINT4", "INT3", "TERNARY"], simd=3, vectors=(1, 3)),
        case([5], ["INT4"], vectors=(1, 2)),
    ]
    check_cores(chosen, tmp_path)


test_computes_what_finn_computes = law_of_cores(cases(), draws=3, least=8, most=16)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


REFUSED = {
    "input 1 is FLOAT32, but its core computes with integers only": case([4, 2], ["INT4", "FLOAT32"]),
    "input 1 is BIPOLAR, and the output's INT4 is not": case([4, 2], ["INT4", "BIPOLAR"]),
    "its SIMD is 4, which does not divide 2": case([4, 2], ["INT4", "INT4"], simd=4),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refuses(reason):
    assert StreamingConcatRTL.supports(bare_layer(REFUSED[reason])).reason == reason


def test_folding_divides_all_inputs():
    layer = getCustomOp(make_model([case([12, 8], ["INT4", "INT4"])]).graph.node[0])
    (one,) = layer.parallelism()
    assert (one.attribute, one.values, one.window) == ("SIMD", (1, 2, 4), "")
    assert StreamingConcatRTL.supports(layer)


PARAMETERS = [
    {"SIMD": 1, "COUNT": 1, "IN_BITS": 8},
    {"SIMD": 1, "COUNT": 2, "OUT_BITS": 1, "IN_BITS": 2, "BITS": packed([1, 1]), "SIGNED": 0},
    {
        "SIMD": 3,
        "COUNT": 3,
        "OUT_BITS": 9,
        "IN_BITS": 48,
        "BEATS": packed([1, 7, 300]),
        "BITS": packed([4, 3, 9]),
    },
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_lint_is_silent(parameters):
    assert lint(StreamingConcatRTL, parameters) == ""


MEASURED = [
    case([8, 8], ["INT8", "INT8"], simd=2, vectors=(1, 4)),
    case([64, 32, 32], ["UINT4", "INT4", "INT8"], simd=8),
    case([4, 4, 4, 4, 4, 4], ["INT8"] * 6, simd=4),
    case([4, 12, 4, 4, 4], ["INT8"] * 5, simd=4),
    case([2, 12, 4, 4, 4, 30, 2, 2], ["INT8"] * 8, simd=2),
    case([8] * 8, ["INT4"] * 8, simd=8),
    case([8] * 7, ["INT4"] * 7, simd=8),
    case([8] * 12, ["INT4"] * 12, simd=8),
    case([8] * 16, ["INT8"] * 16, simd=2),
    case([8] * 32, ["INT4"] * 32, simd=4),
]


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    assert_as_stated(MEASURED, tmp_path)
