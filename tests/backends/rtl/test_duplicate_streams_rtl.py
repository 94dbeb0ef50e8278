"""DuplicateStreamsRTL against FINN's DuplicateStreams."""

import pytest
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.duplicate_streams_rtl import DuplicateStreamsRTL
from tests.backends.rtl.bench import Case, bare_layer, check_cores, law_of_cores, lint, make_model
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated


def case(channels, pe, outputs, kind="INT4", vectors=(1,)):
    attributes = {
        "NumChannels": channels, "PE": pe, "NumOutputStreams": outputs, "inputDataType": kind,
        "numInputVectors": list(vectors),
    }  # fmt: skip
    return Case("DuplicateStreams_rtl", [((*vectors, channels), kind)], attributes, outputs=outputs)


@st.composite
def cases(draw):
    pe = draw(st.integers(1, 5))
    return case(
        channels=pe * draw(st.integers(1, 6)),
        pe=pe,
        outputs=draw(st.integers(2, 4)),
        kind=draw(st.sampled_from(["UINT1", "INT2", "UINT4", "INT9", "BIPOLAR", "INT32"])),
        vectors=(1, *draw(st.lists(st.integers(1, 4), max_size=2))),
    )


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [case(1, 1, 2), case(6, 2, 3, "UINT7", (1, 3)), case(4, 4, 2, "BIPOLAR", (1, 2, 2))]
    check_cores(chosen, tmp_path)


test_computes_what_finn_computes = law_of_cores(cases(), draws=3, least=6, most=12)


test_beats_move_when_the_schedule_says = law_of_schedules(
    cases(), draws=3, least=4, most=8, exact_stalls=False
)


REFUSED = {
    "input 0 is FLOAT32, but its core computes with integers only": case(4, 2, 2, "FLOAT32"),
    "its PE is 3, which does not divide 4": case(4, 3, 2),
    "it has 2 outputs, and its NumOutputStreams is 3": case(4, 2, 3),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refuses(reason):
    assert DuplicateStreamsRTL.supports(bare_layer(REFUSED[reason], outputs=2)).reason == reason


@pytest.mark.slow
def test_folding_divides_the_channels():
    layer = getCustomOp(make_model([case(6, 1, 2)]).graph.node[0])
    (one,) = layer.parallelism()
    assert (one.attribute, one.values, one.window) == ("PE", (1, 2, 3, 6), "")
    assert DuplicateStreamsRTL.supports(layer)


@pytest.mark.parametrize(
    "parameters", [{"COUNT": 1, "BITS": 1}, {"COUNT": 2, "BITS": 1}, {"COUNT": 4, "BITS": 33}], ids=str
)
def test_lint_is_silent(parameters):
    assert lint(DuplicateStreamsRTL, parameters) == ""


MEASURED = [case(8, 4, 2), case(8, 1, 3), case(8, 2, 4, "INT32"), case(4, 1, 8), case(4, 1, 12)]


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    assert_as_stated(MEASURED, tmp_path)
