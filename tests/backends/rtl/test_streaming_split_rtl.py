"""StreamingSplitRTL against FINN's StreamingSplit."""

import pytest
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.streaming_split_rtl import StreamingSplitRTL
from brainsmith.rtl.cores.turns import packed
from tests.backends.rtl.bench import Case, bare_layer, check_cores, law_of_cores, lint, make_model
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated

KINDS = ["UINT1", "INT2", "UINT4", "BIPOLAR", "INT9", "UINT13"]


def case(channels, kind="INT4", simd=1, vectors=(1,)):
    attributes = {
        "ChannelsPerStream": channels, "inputDataType": kind, "SIMD": simd, "numInputVectors": list(vectors),
    }  # fmt: skip
    fed = [((*vectors, sum(channels)), kind)]
    return Case("StreamingSplit_rtl", fed, attributes, outputs=len(channels))


@st.composite
def cases(draw):
    simd = draw(st.integers(1, 4))
    folds = draw(st.lists(st.integers(1, 5), min_size=2, max_size=5))
    vectors = (1, *draw(st.lists(st.integers(1, 3), max_size=2)))
    return case([simd * fold for fold in folds], draw(st.sampled_from(KINDS)), simd, vectors)


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case([4, 2], simd=2, vectors=(1, 2, 2)),
        case([1, 1], "UINT1"),
        case([6, 3, 9], "BIPOLAR", simd=3, vectors=(1, 3)),
    ]
    check_cores(chosen, tmp_path)


test_computes_what_finn_computes = law_of_cores(cases(), draws=3, least=8, most=16)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (case([4, 2], "FLOAT32"), "input 0 is FLOAT32, but its core computes with integers only"),
        (case([4, 2], simd=4), "its SIMD is 4, which does not divide 2"),
    ],
)
def test_refuses(refused, reason):
    assert StreamingSplitRTL.supports(bare_layer(refused, outputs=2)).reason == reason


def test_folding_divides_all_outputs():
    layer = getCustomOp(make_model([case([12, 8])]).graph.node[0])
    (one,) = layer.parallelism()
    assert (one.attribute, one.values, one.window) == ("SIMD", (1, 2, 4), "")
    assert StreamingSplitRTL.supports(layer)


PARAMETERS = [
    {"COUNT": 1, "BITS": 1},
    {"COUNT": 2, "BITS": 1},
    {"COUNT": 5, "BITS": 33, "BEATS": packed([3, 1, 1000, 1, 8])},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_lint_is_silent(parameters):
    assert lint(StreamingSplitRTL, parameters) == ""


MEASURED = [
    case([8, 8], "INT8", simd=2, vectors=(1, 4)),
    case([64, 32, 128, 1, 5]),
    case([512, 512]),
    case([3, 40]),
    case([10, 20, 30]),
    case([10, 20, 30, 40]),
    case([3, 5, 9, 11, 30]),
    case([8] * 8, simd=8),
]


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    assert_as_stated(MEASURED, tmp_path)
