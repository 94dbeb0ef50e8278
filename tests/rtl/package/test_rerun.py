"""Simulating a package from its own files: what a build's own simulation gives, and what is refused."""

import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainsmith.errors import BuildError, OutputError, SimulationError, SimulationStalledError
from brainsmith.rtl.package.reading import read_package
from brainsmith.rtl.package.rerun import simulate_package
from brainsmith.rtl.package.running import RunnablePackage
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.design_runs import run_design
from tests.plugin.installed import run_python
from tests.rtl.package.packed import FRAMES, ORDER


@pytest.fixture
def simulate(simulations):
    return lambda folder, *words, **options: simulate_package(read_package(folder), *words, **options)


@pytest.mark.slow
def test_the_golden_inputs_give_the_golden_outputs(folder, small, simulate):
    for seed in (None, 1):
        done = simulate(folder, seed=seed)
        assert (done.frames, done.compared, done.wrong) == (FRAMES, FRAMES, ())
        assert done.outputs["m_axis_0"].dtype == np.int16
        np.testing.assert_array_equal(done.outputs["m_axis_0"], small.golden["m_axis_0"])
        shares = [done.result.stalled_share(name) for name in ("s_axis_0", "m_axis_0")]
        assert all(share > 0.1 for share in shares) if seed else shares == [0, 0]
        assert seed or done.interval == pytest.approx(small.design.interval, rel=0.01)


@given(
    values=st.integers(1, 3).flatmap(
        lambda count: st.lists(st.integers(-8, 7), min_size=96 * count, max_size=96 * count)
    ),
    seed=st.none() | st.integers(0, 1 << 32),
    networks=st.booleans(),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_computes_what_the_design_does(values, seed, networks, small, simulate, build, tmp_path):
    folder = tmp_path / "accelerator"
    if not folder.exists():
        small.write(folder)
    frames = np.array(values).reshape(-1, 1, 4, 24)
    given_frames = frames.reshape(-1, 4, 24).transpose(0, 2, 1) if networks else frames
    found = simulate(folder, {"s_axis_0": given_frames}, seed=seed)
    constant = ["m_axis_0"]
    simulator = build(plan_design(small.design), quick=True)
    expected = run_design(simulator, small.design, {"x": frames}, constant=constant)
    np.testing.assert_array_equal(found.outputs["m_axis_0"], expected.outputs["y"])
    if seed is None:
        assert (found.interval, found.latency) == (expected.interval, expected.latency)


def test_only_golden_frames_are_compared(folder, small, simulate):
    inputs = small.golden["s_axis_0"].copy()
    inputs[1] = inputs[2]
    done = simulate(folder, {"s_axis_0": inputs.astype(float)}, frames=3)
    assert (done.frames, done.compared, done.wrong) == (3, 2, ())
    np.testing.assert_array_equal(done.outputs["m_axis_0"][1], small.golden["m_axis_0"][2])


def test_without_golden_vectors_it_is_simulated_all_the_same(folder, small, simulate):
    shutil.rmtree(folder / "golden")
    done = simulate(folder, {"s_axis_0": small.golden["s_axis_0"]})
    assert (done.compared, done.wrong) == (0, ())
    np.testing.assert_array_equal(done.outputs["m_axis_0"], small.golden["m_axis_0"])


@pytest.mark.slow
def test_a_changed_weight_is_simulated_and_seen(folder, simulate):
    memory = folder / "memory" / "MVAU_rtl_0_memblock.dat"
    first, _, rest = memory.read_text().partition("\n")
    memory.write_text(f"{int(first, 16) ^ 1:0{len(first)}x}\n{rest}")
    done = simulate(folder)
    assert done.compared == FRAMES
    assert len(done.wrong) > 0


@pytest.mark.slow
def test_waveforms_are_written(folder, simulate, tmp_path):
    done = simulate(folder, frames=1, trace=tmp_path / "waves.vcd")
    assert (done.frames, done.interval, done.wrong) == (1, None, ())
    text = (tmp_path / "waves.vcd").read_text()
    assert text.count("$var") > 100
    assert "s_axis_0_tdata" in text
    with pytest.raises(OutputError) as caught:
        simulate(folder, trace=tmp_path / "nowhere" / "waves.vcd")
    assert str(caught.value) == f"{tmp_path}/nowhere/waves.vcd: there is no such folder; make it first"


def test_equal_frames_may_have_equal_results(folder, simulate):
    for count in (1, 2):
        done = simulate(folder, {"s_axis_0": np.zeros((count, 4, 24), int)})
        assert not done.outputs["m_axis_0"].any()


@pytest.mark.slow
def test_results_may_be_equal_where_the_golden_ones_are(folder, simulate):
    memory = folder / "memory" / "MVAU_rtl_0_memblock.dat"
    lines = memory.read_text().splitlines()
    memory.write_text(
        "".join("0" * len(line) + "\n" for line in lines)
    )  # all weights are 0, and so are all results
    with pytest.raises(SimulationError, match=r"^all .* beats of output 'm_axis_0' .* have the same value"):
        simulate(folder)
    file = folder / "golden" / "m_axis_0.npy"
    np.save(file, np.zeros_like(np.load(file)))
    assert (done := simulate(folder)).compared == FRAMES
    assert done.wrong == ()


BAD = {
    "frames": (
        {"frames": 9},
        None,
        f"9 frames are asked for, and there are {FRAMES}: ask for 1 to {FRAMES}",
    ),
    "shape": (
        {},
        np.zeros((2, 96), int),
        "the input for stream s_axis_0 does not fit: it has the shape (2, 96), and (frames, 1, 4, 24) or (frames, 4, "
        "24) or (frames, 24, 4) is expected, with one frame or more",
    ),
    "range": (
        {},
        np.full((1, *ORDER.shape), 8),
        "the input for stream s_axis_0 does not fit: it has values from 8 to 8, and INT4, -8 to 7, is expected",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_is_refused(what, folder, simulate):
    options, values, message = BAD[what]
    with pytest.raises(SimulationError) as caught:
        simulate(folder, None if values is None else {"s_axis_0": values}, **options)
    assert str(caught.value) == message


def test_golden_inputs_that_were_changed_are_refused(folder, simulate):
    np.save(folder / "golden" / "s_axis_0.npy", np.zeros((2, 7)))
    with pytest.raises(
        SimulationError, match=r"^the golden input for stream s_axis_0 does not fit: it has the"
    ):
        simulate(folder)


def test_too_low_a_limit_says_what_is_pending(folder, simulate):
    with pytest.raises(SimulationStalledError) as caught:
        simulate(folder, limit=50)
    text = str(caught.value)
    assert text.startswith("'finn_design' did not end within 50 cycles:\n  input 's_axis_0' took ")
    assert text.endswith("\n  if it only needs longer: limit=CYCLES (brainsmith simulate: --limit CYCLES)")


@pytest.mark.slow
def test_a_design_that_stops_is_said(folder, simulate):
    top = folder / "hdl" / "finn_design.v"
    text, count = re.subn(r"assign m_axis_0_tvalid = .*;", "assign m_axis_0_tvalid = 0;", top.read_text())
    assert count == 1
    top.write_text(text)
    with pytest.raises(SimulationStalledError) as caught:
        simulate(folder)
    assert "\n  output 'm_axis_0' gave 0 of 128 beats, none at all\n" in str(caught.value)


STUCK_FIFO = """
module fifo #(int unsigned DEPTH, int unsigned DATA_WIDTH, RAM_STYLE = "auto") (
    input clk, rst, ivld, ordy, input [DATA_WIDTH-1:0] idat,
    output irdy, ovld, output [DATA_WIDTH-1:0] odat, output [31:0] count, maxcount
);
reg [3:0] fill = 0;
always @(posedge clk) if (!rst && ivld && irdy) fill <= fill + 1;
assign irdy = fill < 8, ovld = 0, odat = 0, count = fill, maxcount = fill;
endmodule
"""


@pytest.mark.slow
def test_a_packed_design_that_stops_is_explained(small, simulate, tmp_path):
    sources = tuple(
        replace(source, text=STUCK_FIFO) if source.name == "fifo.sv" else source
        for source in small.design.sources
    )
    broken = type(small)(replace(small.design, sources=sources), small.golden)
    with pytest.raises(SimulationStalledError) as caught:
        simulate(broken.write(tmp_path / "accelerator"))
    first, *lines = str(caught.value).splitlines()
    assert first == "'finn_design' did not end within 9,640 cycles:"
    assert lines[:2] == [
        "  input 's_axis_0' took 8 of 192 beats, the last one in cycle 7; one is offered and not taken",
        "  output 'm_axis_0' gave 0 of 128 beats, none at all",
    ]
    assert any("FIFO" in line and "s_axis_0" in line for line in lines[3:]), lines


def test_a_source_that_is_not_verilog_is_said(folder, simulate):
    (folder / "hdl" / "finn_design.v").write_text("module finn_design(;\n")
    with pytest.raises(SimulationError, match=r"^Verilator \(design 'finn_design'\) failed:\n.*syntax error"):
        simulate(folder)


def test_a_source_that_is_missing_from_the_list_is_said(folder, simulate):
    (folder / "filelist.f").write_text("hdl/none.v\n")
    with pytest.raises(BuildError, match=r"hdl/none.v cannot be read: .*\n  build the accelerator again$"):
        simulate(folder)


@pytest.mark.slow
def test_neither_finn_nor_qonnx_is_needed(folder, simulations, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    program = f"""
    import json, sys
    from pathlib import Path

    class Refuse:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in {{"finn", "qonnx", "onnx", "onnxruntime", "torch"}}:
                raise ImportError(name)

    sys.meta_path.insert(0, Refuse())
    from brainsmith.rtl.package.reading import read_package
    from brainsmith.rtl.package.rerun import simulate_package

    done = simulate_package(read_package(Path({str(tmp_path / "copy")!r})))
    print(json.dumps([done.compared, len(done.wrong), sorted(
        name for name in sys.modules if name.partition(".")[0] in {{"finn", "qonnx", "onnx"}}
    )]))
    """
    assert run_python(program) == [FRAMES, 0, []]


def test_an_output_that_is_always_golden_with_one_value_must_have_it_where_it_never_changes(small):
    (stream,) = small.design.outputs
    one = np.ones(stream.layout.shape, np.int64)
    package = RunnablePackage(SimpleNamespace(design=small.design), None, constant={stream.name: one})
    given = {}
    run = SimpleNamespace(outputs=given)
    for values, allowed in ((one, ()), (one - 1, [stream.name])):
        given[stream.layout.tensor] = np.stack([values] * 3)
        package._refuse_other_values(run, allowed)
    given[stream.layout.tensor] = np.stack([one, one - 1])
    package._refuse_other_values(run, ())
    given[stream.layout.tensor] = np.stack([one - 1] * 3)
    with pytest.raises(SimulationError) as caught:
        package._refuse_other_values(run, ())
    assert str(caught.value) == (
        f"output 'm_axis_0' of {small.design.top!r} never changes, and its value is not the one that it has in all "
        "golden frames, so the simulation proves nothing"
    )
