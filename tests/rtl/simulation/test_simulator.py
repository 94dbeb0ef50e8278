"""What the simulator counts, and what it refuses to believe."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from brainsmith.errors import OutputError, SimulationError, SimulationStalledError
from brainsmith.rtl.simulation import simulator as module
from brainsmith.rtl.simulation.beats import pack, unpack
from brainsmith.rtl.simulation.ports import Interface, Stream
from brainsmith.rtl.simulation.simulation_plan import DATA_FOLDER, Memory
from brainsmith.rtl.simulation.simulator import default_limit
from brainsmith.rtl.simulation.stalls import Stalls
from tests.rtl import designs
from tests.rtl.designs import stream_design

COUNT = 40
BEATS = pack(np.arange(COUNT)[:, None], 8)


@pytest.fixture
def passing(build):
    """A design without any delay: what is counted is the drivers' own doing."""
    return build(stream_design(designs.PASS))


def run(simulator, beats=BEATS, count=COUNT, **arguments):
    return simulator.run({"in0_V": beats}, {"out0_V": count}, **arguments)


def test_every_beat_takes_one_cycle_where_nothing_holds_back(passing):
    result = run(passing)
    assert result.cycles == COUNT
    for traffic in result.streams.values():
        assert traffic.moved_at.tolist() == list(range(COUNT))
        assert (traffic.stalled, traffic.waited, traffic.surplus) == (0, 0, 0)
    np.testing.assert_array_equal(result.streams["out0_V"].words, BEATS)
    assert result.streams["out0_V"].frames(4) == [(0, 9), (10, 19), (20, 29), (30, 39)]
    with pytest.raises(ValueError, match=r"^40 beats are not 3 equal frames$"):
        result.streams["out0_V"].frames(3)


def test_a_run_says_how_many_beats_it_has_given(passing, heard):
    count = 3000
    beats = pack(np.arange(count)[:, None] % 256, 8)
    assert run(passing, beats, count).cycles == count
    shown = [f"simulating {passing.plan.top!r}: {done} of 3,000 beats" for done in ("0", "1,000", "3,000")]
    assert (heard[0], heard[1]) == tuple(shown[:2])  # the first look is after 1,000 cycles


def test_how_often_it_is_looked_at_changes_nothing(passing, monkeypatch):
    stalls = {"in0_V": Stalls.random(1, 0.3), "out0_V": Stalls.random(2, 0.3)}
    whole = run(passing, stalls=stalls)
    monkeypatch.setattr(module, "_FIRST_SLICE", 1)
    monkeypatch.setattr(module, "SLICE", 3)
    parts = run(passing, stalls=stalls)
    assert parts.cycles == whole.cycles
    for name, traffic in whole.streams.items():
        assert parts.streams[name].moved_at.tolist() == traffic.moved_at.tolist()


def test_a_periodic_stall_is_counted_where_it_happens(passing):
    fed = run(passing, stalls={"in0_V": Stalls.pattern([0, 1, 1, 1])})
    assert fed.cycles == 4 * COUNT - 3
    assert (fed.streams["in0_V"].stalled, fed.streams["in0_V"].waited) == (3 * (COUNT - 1), 0)
    assert (fed.streams["out0_V"].stalled, fed.streams["out0_V"].waited) == (0, 3 * (COUNT - 1))
    emptied = run(passing, stalls={"out0_V": Stalls.pattern([0, 1, 1, 1])})
    assert emptied.cycles == 4 * COUNT - 3
    assert (emptied.streams["out0_V"].stalled, emptied.streams["out0_V"].waited) == (3 * (COUNT - 1), 0)
    assert (emptied.streams["in0_V"].stalled, emptied.streams["in0_V"].waited) == (0, 3 * (COUNT - 1))
    assert emptied.stalled_share("out0_V") == 3 * (COUNT - 1) / (4 * COUNT - 3)


def test_custom_bits_say_when_beats_move(passing):
    result = run(passing, stalls={"out0_V": Stalls.pattern([1, 0, 0, 1, 1])})
    assert result.streams["out0_V"].moved_at.tolist() == [5 * (n // 2) + 1 + n % 2 for n in range(COUNT)]


def test_random_stalls_follow_the_seed(passing):
    stalls = lambda seed: {"in0_V": Stalls.random(seed, 0.3), "out0_V": Stalls.random(seed + 1, 0.3)}  # noqa: E731
    first, again, other = (run(passing, stalls=stalls(seed)) for seed in (1, 1, 7))
    moved = [list(result.streams["out0_V"].moved_at) for result in (first, again, other)]
    assert moved[0] == moved[1] != moved[2]
    assert all(0.1 < result.stalled_share("in0_V") < 0.5 for result in (first, other))


@pytest.mark.slow
def test_wide_words_arrive_whole(build):
    simulator = build(stream_design(designs.PASS, width=611))
    values = np.random.default_rng(0).integers(-(2**12), 2**12, (50, 47))
    words = pack(values, 13, 611)
    assert words.shape == (50, 77)
    result = simulator.run({"in0_V": words}, {"out0_V": 50}, stalls={"out0_V": Stalls.random(3, 0.5)})
    np.testing.assert_array_equal(unpack(result.streams["out0_V"].words, 13, 47, signed=True), values)


@pytest.mark.slow
def test_a_stalled_design_says_what_is_pending_where(build):
    with pytest.raises(SimulationStalledError) as caught:
        run(build(stream_design(designs.STUCK)), estimate=20)
    assert str(caught.value) == (
        "'layer' did not end within 1,200 cycles:\n"
        "  input 'in0_V' took 5 of 40 beats, the last one in cycle 4; one is offered and not taken\n"
        "  output 'out0_V' gave 3 of 40 beats, the last one in cycle 2\n"
        "  if it only needs longer: limit=CYCLES (brainsmith simulate: --limit CYCLES)"
    )


def test_the_limit_can_be_set(build, passing):
    with pytest.raises(SimulationStalledError, match=r"^'layer' did not end within 39 cycles:"):
        run(passing, limit=COUNT - 1)
    assert run(passing, limit=COUNT).cycles == COUNT


def test_the_limit_follows_the_estimate_and_the_stalls():
    assert default_limit({"a": BEATS}, {"b": 7}, {}, estimate=500) == 6000
    assert default_limit({"a": BEATS}, {"b": 7}, {}, estimate=None) == 5000
    halved = {"a": Stalls.pattern([0, 1]), "b": Stalls.random(0, 0.5)}
    assert default_limit({"a": BEATS}, {"b": 7}, halved, estimate=500) == 24000


def test_too_few_output_beats_are_an_error(passing):
    with pytest.raises(
        SimulationStalledError, match=r"output 'out0_V' gave 40 of 41 beats, the last one in cycle 39"
    ):
        run(passing, count=COUNT + 1)


@pytest.mark.slow
def test_inputs_that_are_not_consumed_are_an_error(build):
    with pytest.raises(SimulationStalledError, match=r"input 'in0_V' took 20 of 40 beats"):
        run(build(stream_design(designs.DOUBLED)))


def test_beats_that_nobody_asked_for_are_an_error(build):
    simulator = build(stream_design(designs.DOUBLED.replace("out0_V_TREADY & half", "out0_V_TREADY | 1'b1")))
    inputs = np.repeat(BEATS, 2, axis=0)
    with pytest.raises(SimulationError) as caught:
        simulator.run({"in0_V": inputs}, {"out0_V": COUNT}, stalls={"out0_V": Stalls()})
    assert str(caught.value) == (
        "'layer' offers more than the 40 beats that were asked for at output 'out0_V'\n"
        "  ask for all of them; surplus=... names outputs that may do so"
    )
    assert (
        simulator.run({"in0_V": inputs}, {"out0_V": COUNT}, surplus=["out0_V"]).streams["out0_V"].surplus
        == COUNT
    )


def test_pitfall_37_outputs_that_never_change_are_an_error(build):
    simulator = build(stream_design(designs.ZEROS))
    with pytest.raises(SimulationError) as caught:
        run(simulator)
    assert str(caught.value) == (
        "all 40 beats of output 'out0_V' of 'layer' have the same value, 0x00, so the simulation shows nothing\n"
        "  look at what the design loads (no memory); constant=... names outputs that may be so"
    )
    assert not run(simulator, constant=["out0_V"]).streams["out0_V"].words.any()
    assert run(simulator, beats=np.zeros_like(BEATS)).cycles == COUNT  # nothing changed at the input either


def test_pitfall_37_memories_that_are_not_found_are_an_error(build):
    memory = Memory("t.dat", "\n".join(f"{255 - n:02x}" for n in range(256)))
    body = designs.LOADED.format(file=f"{DATA_FOLDER}/t.dat")
    result = run(build(stream_design(body, memories=(memory,))))
    np.testing.assert_array_equal(result.streams["out0_V"].words, 255 - BEATS)
    missing = build(stream_design(body.replace(f"{DATA_FOLDER}/t.dat", "/proc/version"), memories=(memory,)))
    with pytest.raises(SimulationError) as caught:
        run(missing)
    assert str(caught.value).splitlines() == [
        "'layer' reports an error in cycle 0:",
        "  /proc/version: not opened: a simulation reads only the memories of its plan",
        "  /proc/version:0: $readmem file not found",
        "  memory contents in the plan: t.dat; plan_simulation(..., generated=FOLDER) adds a folder's",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        '$error("too much")',
        "$finish",
        pytest.param("$stop", marks=pytest.mark.slow),
        pytest.param('$fatal(1, "too much")', marks=pytest.mark.slow),
    ],
)
def test_a_design_that_reports_an_error_ends_the_simulation(statement, build):
    body = f"{designs.PASS}\nalways @(posedge ap_clk) if (in0_V_TVALID && in0_V_TDATA == 7) {statement};"
    with pytest.raises(SimulationError) as caught:
        run(build(stream_design(body)))
    assert str(caught.value).startswith("'layer' reports an error in cycle 8:\n")
    assert "too much" in str(caught.value) or "(" not in statement


@pytest.mark.slow
def test_what_a_design_prints_is_kept_and_not_shown(build, capfd):
    body = (
        f'{designs.PASS}\nalways @(posedge ap_clk) if (in0_V_TVALID && in0_V_TDATA == 7) $display("seven");'
    )
    assert run(build(stream_design(body))).messages == "seven\n"
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_other_outputs_have_their_last_value(build):
    plan = stream_design(
        f"{designs.PASS}\nreg [39:0] n = 0; assign moved = n;\nalways @(posedge ap_clk) if (in0_V_TVALID) n <= n + 1;"
    )
    text = plan.sources[0].text.replace("input ap_clk", "input ap_clk, output [39:0] moved")
    source = type(plan.sources[0])("layer.v", text)
    assert run(build(type(plan)("layer", (source,)))).values == {"moved": COUNT}


def test_all_that_does_not_fit_a_request_is_named_at_once(passing, tmp_path):
    with pytest.raises(SimulationError) as caught:
        passing.run(
            {"in1_V": BEATS, "in0_V": np.zeros((3, 2), np.uint8)}, {}, stalls={"x": Stalls()}, idle=["y"],
            trace=tmp_path / "wave.vcd",
        )  # fmt: skip
    assert str(caught.value) == (
        "the simulation of 'layer' cannot be run as asked:\n"
        "  there is no stream 'y' to leave idle; the streams are in0_V, out0_V\n"
        "  there is no stream 'x' to stall; the streams are in0_V, out0_V\n"
        "  there is no input 'in1_V'; known are in0_V\n"
        "  output 'out0_V' is not given; idle=... names streams that are not used\n"
        "  input 'in0_V' takes rows of 1 byte (pack(values, bits, 8)), not uint8 (3, 2)\n"
        "  it was built without waveforms: plan_simulation(..., trace=True)"
    )


def test_beats_that_do_not_fit_their_port_are_refused(build):
    simulator = build(stream_design(designs.PASS, width=5))
    with pytest.raises(
        SimulationError, match=r"input 'in0_V' has 5 bits, and its beats have bits set beyond them"
    ):
        run(simulator)
    with pytest.raises(SimulationError, match=r"input 'in0_V' has no beats, so nothing would be simulated"):
        run(simulator, beats=BEATS[:0])


@pytest.mark.slow
def test_waveforms_are_written_on_request(build, tmp_path):
    simulator = build(stream_design(designs.PASS, trace=True))
    result = run(simulator, trace=tmp_path / "wave.vcd")
    text = (tmp_path / "wave.vcd").read_text()
    assert "in0_V_TDATA" in text
    assert text.count("b00100111 ") >= 1  # the last beat, 39
    assert run(simulator).cycles == result.cycles
    with pytest.raises(OutputError, match=r"nowhere/wave.vcd: there is no such folder; make it first"):
        run(simulator, trace=tmp_path / "nowhere" / "wave.vcd")


def test_waveforms_that_cannot_be_written_are_an_error(build, tmp_path):
    simulator = build(stream_design(designs.PASS, trace=True))
    with pytest.raises(OutputError) as caught:
        run(simulator, trace=Path("/dev/full"))
    assert str(caught.value) == "/dev/full: the waveforms cannot be written: No space left on device"
    many = np.tile(BEATS, (2000, 1))  # more than the writer's buffer, so that it fails during the run
    with pytest.raises(OutputError) as caught:
        run(simulator, many, len(many), trace=Path("/dev/full"))
    assert str(caught.value) == "/dev/full: the waveforms cannot be written: No space left on device"
    (tmp_path / "wave.vcd").mkdir()
    with pytest.raises(OutputError) as caught:
        run(simulator, trace=tmp_path / "wave.vcd")
    assert str(caught.value) == f"{tmp_path / 'wave.vcd'}: the waveforms cannot be written: Is a directory"
    assert run(simulator).cycles == COUNT


@pytest.mark.slow
def test_a_design_with_other_names_is_driven_as_said(build, library):
    from brainsmith.rtl.simulation.simulation_plan import plan_simulation

    streams = (Stream("in", "idat", "ivld", "irdy"), Stream("out", "odat", "ovld", "ordy"))
    interface = Interface(streams, clock="clk", reset="rst", reset_is_low=False)
    plan = plan_simulation("fifo", ["fifo/hdl/fifo.sv"], library, parameters={"DEPTH": 16, "DATA_WIDTH": 8})
    with pytest.raises(
        SimulationError, match=r"^the ports of 'fifo' are not those of a FINN layer \(ap_clk, "
    ):
        build(plan)
    fifo = build(plan, interface=interface)
    result = fifo.run({"in": BEATS}, {"out": COUNT}, stalls={"out": Stalls.pattern([0, 1, 1, 1])})
    np.testing.assert_array_equal(result.streams["out"].words, BEATS)
    assert result.values["maxcount"] == 16


def test_runs_do_not_depend_on_each_other(build):
    simulator = build(stream_design(designs.STUCK))
    for _ in range(2):  # the design counts beats for ever; each run begins with a fresh one
        assert simulator.run({"in0_V": BEATS[:3]}, {"out0_V": 3}).cycles == 3


@pytest.mark.parametrize("doubled", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_second_clock_runs_twice_as_fast_if_asked(build, doubled):
    body = """
    reg [7:0] fast = 0, slow = 0, seen = 0;
    always @(posedge ap_clk2x) fast <= !ap_rst_n ? 0 : fast + 1;
    always @(posedge ap_clk) slow <= !ap_rst_n ? 0 : slow + 1;
    assign out0_V_TDATA = fast - slow;
    assign out0_V_TVALID = in0_V_TVALID;
    assign in0_V_TREADY = out0_V_TREADY;
    """
    plan = stream_design(body)
    source = type(plan.sources[0])(
        "layer.v", plan.sources[0].text.replace("input ap_clk,", "input ap_clk, input ap_clk2x,")
    )
    plan = type(plan)("layer", (source,))
    streams = build(plan).interface.streams
    simulator = build(plan, interface=Interface(streams, double_clock="ap_clk2x", doubled=doubled))
    found = run(simulator, constant=["out0_V"]).streams["out0_V"].words[:, 0].astype(int)
    assert set(np.diff(found)) == ({1} if doubled else {0})


@pytest.mark.slow
def test_one_kernel_runs_two_million_cycles_a_second(build, library, tmp_path):
    from tests.rtl import finn_layers

    layer = finn_layers.thresholding(tmp_path / "code", np.random.default_rng(1))
    frames = layer.random_input(np.random.default_rng(2), 20_000)
    beats = layer.input_beats(frames)
    simulator = build(layer.plan(library), quick=False)
    begin = (
        time.process_time()
    )  # on a busy machine a second of the clock may be a tenth of one of the processor
    result = simulator.run({"in0_V": beats}, {"out0_V": len(beats)}, idle=["in1_V"])
    assert result.cycles / (time.process_time() - begin) > 500_000  # benchmarks measure the real figure


ENDLESS = """
import numpy as np
from brainsmith.rtl.simulation.simulator_build import build_simulator
from tests.rtl.designs import STUCK, stream_design
simulator = build_simulator(stream_design(STUCK), quick=True)
print("ready", flush=True)
simulator.run({"in0_V": np.arange(40, dtype=np.uint8)[:, None]}, {"out0_V": 40}, limit=10**12)
"""


@pytest.mark.slow
def test_a_long_simulation_can_be_interrupted(build, simulations):
    build(stream_design(designs.STUCK))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=10)
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_inputs_outside_of_streams_keep_a_value(build):
    plan = stream_design(designs.PASS.replace("in0_V_TDATA;", "in0_V_TDATA + add;", 1))
    text = plan.sources[0].text.replace("input ap_clk", "input [3:0] add, input ap_clk")
    simulator = build(type(plan)("layer", (type(plan.sources[0])("layer.v", text),)))
    for value in (0, 9):
        found = run(simulator, held={"add": value}).streams["out0_V"].words
        np.testing.assert_array_equal(found, BEATS + value)
    np.testing.assert_array_equal(run(simulator).streams["out0_V"].words, BEATS)
    with pytest.raises(SimulationError) as caught:
        run(simulator, held={"add": 16, "sub": 1, "ap_clk": 1})
    assert str(caught.value) == (
        "the simulation of 'layer' cannot be run as asked:\n"
        "  input 'add' has 4 bits, and cannot be held at 16\n"
        "  there is no input 'sub' to hold at a value\n"
        "  there is no input 'ap_clk' to hold at a value"
    )


LOOK = """
reg [7:0] held = 0; reg full = 0;
assign in0_V_TREADY = !full;
assign out0_V_TDATA = held;
assign out0_V_TVALID = full;
always @(posedge ap_clk) if (!ap_rst_n) full <= 0;
    else if (full) full <= !out0_V_TREADY;
    else if (in0_V_TVALID) begin full <= 1; held <= in0_V_TDATA + 1; end
assign look_data = in0_V_TDATA; assign look_valid = in0_V_TVALID; assign look_ready = in0_V_TREADY;
assign back_data = out0_V_TDATA; assign back_valid = out0_V_TVALID; assign back_ready = out0_V_TREADY;
"""
LOOKED_AT = (
    Stream("look", "look_data", "look_valid", "look_ready"),
    Stream("back", "back_data", "back_valid", "back_ready"),
)


@pytest.fixture
def looked_at(build):
    """A register that takes a beat in one cycle and gives it in the next; both of its ends can be watched."""
    plan = stream_design(LOOK)
    ports = ", ".join(
        f"output [7:0] {name}_data, output {name}_valid, output {name}_ready" for name in ("look", "back")
    )
    text = plan.sources[0].text.replace("input ap_clk", f"{ports}, input ap_clk")
    return build(type(plan)("layer", (type(plan.sources[0])("layer.v", text),)))


def test_streams_inside_of_a_design_are_watched(looked_at):
    rooms = dict.fromkeys(LOOKED_AT, COUNT)
    result = run(looked_at, watched=rooms, window=range(10, 14))
    look, back = result.watched["look"], result.watched["back"]
    np.testing.assert_array_equal(look.words, BEATS)
    np.testing.assert_array_equal(back.words, BEATS + 1)
    assert look.moved_at.tolist() == list(range(0, 2 * COUNT, 2))
    assert back.moved_at.tolist() == list(range(1, 2 * COUNT, 2))
    assert (look.moved, look.blocked, look.starved) == (COUNT, COUNT - 1, 0)
    assert (back.moved, back.blocked, back.starved, back.phase) == (COUNT, 0, COUNT, "moved")
    assert look.phases.tolist() == [1, 2, 1, 2]  # moved, blocked: places in PHASES
    assert back.phases.tolist() == [3, 1, 3, 1]
    held = run(looked_at, watched=rooms, stalls={"out0_V": Stalls.pattern([0, 1, 1, 1])})
    assert held.watched["back"].blocked == held.streams["out0_V"].stalled > 0
    plain = run(looked_at)
    assert (plain.watched, plain.cycles) == ({}, result.cycles)


def test_no_more_beats_are_kept_than_there_is_room_for(looked_at):
    result = run(looked_at, watched={LOOKED_AT[0]: 3})
    look = result.watched["look"]
    assert (look.moved, len(look.words), look.moved_at.tolist()) == (COUNT, 3, [0, 2, 4])


def test_what_cannot_be_watched_is_named(passing):
    with pytest.raises(SimulationError) as caught:
        run(passing, watched={Stream("look", "out0_V_TDATA", "look_valid", "in0_V_TVALID"): 1})
    assert str(caught.value) == (
        "the simulation of 'layer' cannot be run as asked:\n"
        "  stream 'look' cannot be watched: there is no output 'look_valid'\n"
        "  stream 'look' cannot be watched: there is no output 'in0_V_TVALID'"
    )


def test_a_run_that_fails_is_a_result_if_it_is_not_judged(build):
    stuck = run(build(stream_design(designs.STUCK)), estimate=20, judge=False)
    assert (stuck.outcome, stuck.cycles, len(stuck.streams["out0_V"].words)) == ("limit", 1200, 3)
    assert str(stuck.problem).startswith("'layer' did not end within 1,200 cycles:\n")
    zeros = run(build(stream_design(designs.ZEROS)), judge=False)
    assert (zeros.outcome, str(zeros.problem)[:17]) == ("complete", "all 40 beats of o")
    assert run(build(stream_design(designs.PASS)), judge=False).problem is None
