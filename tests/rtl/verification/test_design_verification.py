"""Whole designs against the golden model, with and without stalls; what would show nothing is refused."""

import json
from dataclasses import asdict, fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from brainsmith.errors import SimulationError, SimulationStalledError, VerificationError
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.simulation_plan import DATA_FOLDER, Memory
from brainsmith.rtl.verification import design_verification
from brainsmith.rtl.verification.design_verification import verify_design
from tests.rtl.verification.branches import BEATS, FORK, branches

FRAMES = np.random.default_rng(1).integers(0, 100, (60, BEATS))


@pytest.fixture
def verify(simulations, library):
    def run(design=None, inputs=FRAMES, golden=2 * FRAMES, **arguments):
        design = design or branches(library, 18)
        return verify_design(design, {"x": inputs}, {"y": golden}, **arguments)

    return run


def first_tensors(count):
    return {
        name: tensor[:count] for name, tensor in ({**dict.fromkeys("xabc", FRAMES), "y": 2 * FRAMES}).items()
    }


def altered(design, name, text):
    sources = tuple(RtlSource(name, text) if one.name == name else one for one in design.sources)
    assert sources != design.sources
    return replace(design, sources=sources)


@pytest.mark.slow
def test_the_whole_test_set_of_the_mlp(mlp, simulations):
    golden = mlp.frames
    done = verify_design(mlp.design, golden.inputs, golden.outputs, tensors=golden.tensors)
    assert (done.frames, done.mismatches, done.stalled_frames, done.stalled_mismatches) == (360, 0, 1080, 0)
    assert done.interval_cycles == pytest.approx(done.interval_estimate, rel=0.01)
    assert done.interval_estimate == 512
    assert done.interval_cycles < done.latency_cycles <= mlp.design.latency
    assert [run.seed for run in done.runs] == [1, 2, 3]
    assert min(done.stalled_shares.values()) >= 0.1
    assert done.runs[0].shares == pytest.approx({"input": 0.2, "output": 0.2}, abs=0.05)
    assert done.runs[2].cycles > 1.1 * done.runs[0].cycles  # the design fills up
    assert done.stalled_cycles == {
        end: sum(run.stalled[end] for run in done.runs) for end in ("input", "output")
    }
    plain = json.loads(json.dumps(asdict(done)))
    assert (plain["runs"][1]["seed"], plain["stalled_cycles"]) == (2, done.stalled_cycles)


def test_a_design_that_computes_what_it_should(verify):
    done = verify(seeds=(7,))
    assert (done.frames, done.stalled_frames, done.mismatches, done.stalled_mismatches) == (60, 60, 0, 0)
    assert done.interval_cycles == pytest.approx(32, abs=1)  # a frame is collected, then given
    assert min(done.stalled_shares.values()) >= 0.1
    none = verify(seeds=())
    assert (none.stalled_frames, none.runs, none.stalled_shares) == (0, (), {"input": 0.0, "output": 0.0})


def test_a_mismatch_names_frame_value_and_layer(verify, library):
    design = branches(library, 18)
    join = next(one for one in design.sources if one.name == "join_.v").text
    wrong = altered(design, "join_.v", join.replace("+ in1", "+ 1 + in1"))
    with pytest.raises(VerificationError) as caught:
        verify(wrong, tensors=first_tensors)
    right = 2 * FRAMES[0, 0]
    assert str(caught.value) == (
        "the RTL does not compute what the golden model computes: 60 of 60 frames differ, first frame 0 at output 'y' "
        f"[0]: {right + 1} instead of {right}\n"
        "layer 'join' (Join_rtl) is at fault: its inputs are right, and at 'sum' 112 of 112 values are wrong, first in "
        f"frame 0 at [0]: {right + 1} instead of {right}"
    )


def test_a_deadlock_is_explained(verify, library):
    with pytest.raises(SimulationStalledError, match=r"\n  give 'short' a deeper FIFO: "):
        verify(branches(library, 2))
    with pytest.raises(SimulationStalledError, match=r"^'branches' did not end within 100 cycles:\n"):
        verify(limit=100)


def test_pitfall_37_inputs_that_are_not_applied_are_noticed(verify):
    same = np.repeat(FRAMES[:1], 20, axis=0)
    with pytest.raises(VerificationError) as caught:
        verify(inputs=same, golden=2 * same)
    assert str(caught.value) == (
        "the inputs of all 20 frames are the same, so a simulation whose inputs were not applied would not be noticed\n"
        "  verify with inputs that differ and lead to different results"
    )
    with pytest.raises(VerificationError, match=r"^the golden outputs of all 60 frames are the same, so "):
        verify(golden=np.repeat(FRAMES[:1], 60, axis=0))


@pytest.mark.slow
def test_pitfall_37_a_design_that_does_not_look_at_its_inputs_is_noticed(verify, library):
    deaf = FORK.replace("out0_V_TDATA = in0_V_TDATA", "out0_V_TDATA = 7").replace(
        "out1_V_TDATA = in0_V_TDATA", "out1_V_TDATA = 8"
    )
    with pytest.raises(SimulationError) as caught:
        verify(
            altered(branches(library, 18), "fork_.v", deaf),
            tensors=first_tensors,
        )
    assert "all 960 beats of output 'm_axis_0' of 'branches' have the same value, 0x0f" in str(caught.value)
    assert "\nlayer 'fork' (Fork_rtl) is at fault: its inputs are right" in str(caught.value)


LOADED = """
module fork_(input ap_clk, input ap_rst_n,
    input [7:0] in0_V_TDATA, input in0_V_TVALID, output in0_V_TREADY,
    output [7:0] out0_V_TDATA, output out0_V_TVALID, input out0_V_TREADY,
    output [7:0] out1_V_TDATA, output out1_V_TVALID, input out1_V_TREADY);
reg [7:0] table_ [0:255];
initial $readmemh("{folder}/table.dat", table_);
assign out0_V_TDATA = table_[in0_V_TDATA];
assign out1_V_TDATA = table_[in0_V_TDATA];
assign in0_V_TREADY = out0_V_TREADY & out1_V_TREADY;
assign out0_V_TVALID = in0_V_TVALID & out1_V_TREADY;
assign out1_V_TVALID = in0_V_TVALID & out0_V_TREADY;
endmodule
"""


@pytest.fixture
def loading(library):
    return altered(branches(library, 18), "fork_.v", LOADED.format(folder=DATA_FOLDER))


@pytest.mark.slow
def test_pitfall_37_weights_that_are_not_loaded_are_noticed(verify, loading):
    with pytest.raises(SimulationError, match=r"table.dat:0: \$readmem file not found"):
        verify(loading)


@pytest.mark.slow
def test_pitfall_37_weights_that_are_loaded_in_part_are_noticed(verify, loading):
    table = Memory("table.dat", "\n".join(f"{value:02x}" for value in range(256)))
    assert verify(replace(loading, memories=(table,)), seeds=()).mismatches == 0
    with pytest.raises(SimulationError) as caught:
        verify(
            replace(loading, memories=(Memory("table.dat", "00\n"),)),
            tensors=first_tensors,
        )
    assert "layer 'fork' (Fork_rtl) is at fault" in str(caught.value)


@pytest.mark.slow
def test_pitfall_37_outputs_that_never_change_are_noticed(verify, library):
    join = next(one for one in branches(library, 18).sources if one.name == "join_.v").text
    dead = altered(branches(library, 18), "join_.v", join.replace("in0_V_TDATA + in1_V_TDATA", "0"))
    with pytest.raises(
        SimulationError, match=r"have the same value, 0x00, so the simulation shows nothing\n"
    ):
        verify(dead)


def never_changing(count):
    return first_tensors(count) | {"y": np.zeros_like(FRAMES[:count])}


@pytest.mark.slow
def test_an_output_that_is_rightly_constant_is_accepted_only_where_all_links_are_right(verify, library):
    join = next(one for one in branches(library, 18).sources if one.name == "join_.v").text
    zero = altered(branches(library, 18), "join_.v", join.replace("in0_V_TDATA + in1_V_TDATA", "0"))
    arguments = {"golden": 0 * FRAMES, "tensors": never_changing, "constant": ("y",), "seeds": (1,)}
    done = verify(zero, **arguments)
    assert (done.frames, done.mismatches, done.stalled_frames) == (60, 0, 60)
    with pytest.raises(
        VerificationError, match=r"^the RTL does not compute what the golden model computes: 60 of 60 "
    ):
        verify(**arguments)
    deaf = FORK.replace("out1_V_TDATA = in0_V_TDATA", "out1_V_TDATA = 8")
    with pytest.raises(VerificationError) as caught:
        verify(altered(zero, "fork_.v", deaf), **arguments)
    head, line = str(caught.value).splitlines()
    assert head == "the RTL gives the golden outputs, and does not compute what the golden model computes:"
    assert line.startswith("layer 'fork' (Fork_rtl) is at fault: its inputs are right, and at ")


def test_what_is_wrong_behind_right_outputs_is_said(library, monkeypatch):
    found = SimpleNamespace(kind="layer")
    monkeypatch.setattr(design_verification, "explain", lambda *given, **named: found)
    bench = design_verification._Bench(
        **dict.fromkeys(each.name for each in fields(design_verification._Bench))
        | {"design": branches(library, 18)}
    )
    with pytest.raises(VerificationError) as caught:
        bench.compare_links()
    assert str(caught.value) == (
        f"the RTL gives the golden outputs, and does not compute what the golden model computes:\n{found}"
    )


def test_too_few_frames_to_hold_the_ends_back_are_said(verify, monkeypatch):
    monkeypatch.setattr("brainsmith.rtl.verification.design_verification.LEAST_SHARE", 0.999)
    with pytest.raises(VerificationError) as caught:
        verify(seeds=(1,), limit=10**7)
    assert str(caught.value).startswith(
        "random stalls stop the design's inputs and outputs in too few cycles (input "
    )
    assert str(caught.value).endswith(
        "99.90 % are needed), so they prove nothing\n  verify with more than 60 frames"
    ) or str(caught.value).endswith(
        "100 % are needed), so they prove nothing\n  verify with more than 60 frames"
    )
