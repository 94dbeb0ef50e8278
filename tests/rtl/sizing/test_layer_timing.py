"""One layer alone: when it takes and gives beats, and what is refused."""

import numpy as np
import pytest

from brainsmith.errors import SimulationError, SimulationStalledError
from brainsmith.rtl.sizing.layer_timing import time_layer
from brainsmith.rtl.sizing.traces import SlowerError, Trace
from tests.rtl.designs import DOUBLED, PASS, STUCK, stream_design

FAULT = f'{PASS}\nalways @(posedge ap_clk) if (in0_V_TVALID) $error("no beat is wanted");'
COUNTED = (
    PASS.replace("= in0_V_TDATA", "= n[31:24]") + "reg [31:0] n = 0; always @(posedge ap_clk) n <= n + 1;"
)


@pytest.fixture
def timed(build):
    def run(body, arrivals, given, interval):
        return time_layer(build(stream_design(body)), {"in0_V": arrivals}, {"out0_V": given}, interval)

    return run


@pytest.mark.slow
def test_beats_are_offered_two_cycles_after_they_arrive(timed):
    late = Trace(np.array([[1000, 1001, 1002], [1008, 1010, 1011]]), 1, 8)
    timing = timed(PASS, late, 3, 8)
    assert timing.given["out0_V"].between(0, 1020).tolist() == [1002, 1003, 1004, 1010, 1012, 1013, 1018]
    assert (timing.fills, timing.repeats) == ({"in0_V": 2}, True)
    assert timing.cycles < 200  # without those before the first arrival


@pytest.mark.slow
def test_a_layer_that_keeps_up_repeats(timed):
    timing = timed(DOUBLED, Trace(np.array([[0, 1]]), 1, 4), 4, 4)
    assert timing.given["out0_V"].between(0, 12).tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert (timing.fills, timing.repeats) == ({"in0_V": 2}, True)


@pytest.mark.slow
def test_what_never_returns_to_a_state_runs_as_long_as_the_whole_would(timed):
    timing = timed(COUNTED, Trace.steady(2, 4), 2, 4)
    assert (timing.repeats, timing.cycles) == (False, 8 * 4)
    assert timing.given["out0_V"].between(0, 99).tolist() == list(range(2, 99, 2))


@pytest.mark.slow
def test_a_layer_that_is_slower_says_its_interval(timed):
    with pytest.raises(SlowerError) as caught:
        timed(DOUBLED, Trace.steady(5, 7), 10, 7)
    assert caught.value.interval == 10


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        pytest.param(
            STUCK,
            SimulationStalledError,
            "it took 5 beats of its input 'in0_V', and takes no more",
            id="stuck",
        ),
        pytest.param(
            DOUBLED,
            SimulationError,
            "output 'out0_V' gives 4 beats for 1 frame of 2 beats",
            id="more",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            FAULT,
            SimulationError,
            "'layer' reports an error in cycle 3: ",
            id="fault",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_refuses(timed, body, kind, message):
    with pytest.raises(SimulationError) as caught:
        timed(body, Trace.steady(2, 5), 2, 5)
    assert type(caught.value) is kind
    assert str(caught.value).startswith(message)
