"""DuplicateStreamsRTL against FINN's DuplicateStreams."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainsmith.backends.rtl.duplicate_streams_rtl import DuplicateStreamsRTL
from tests.backends.rtl.bench import Case, check_cores, lint, resources


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


def test_cases_by_hand(tmp_path, simulations):
    chosen = [case(1, 1, 2), case(6, 2, 3, "UINT7", (1, 3)), case(4, 4, 2, "BIPOLAR", (1, 2, 2))]
    check_cores(chosen, tmp_path, simulations)


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(cases(), min_size=6, max_size=12), seed=st.integers(0, 1000))
def test_computes_what_finn_computes(tmp_path_factory, simulations, drawn, seed):
    check_cores(drawn, tmp_path_factory.mktemp("drawn"), simulations, seed=seed)


@pytest.mark.parametrize("parameters", [{"COUNT": 2, "BITS": 1}, {"COUNT": 4, "BITS": 33}])
def test_lint_is_silent(parameters):
    assert lint(DuplicateStreamsRTL, parameters) == ""


def test_resources_are_as_stated(tmp_path):
    for used, stated in resources([case(8, 4, 2), case(8, 2, 4, "INT32")], tmp_path).values():
        print(used.used, stated)
        assert used.used.lut <= 1.25 * stated.lut
