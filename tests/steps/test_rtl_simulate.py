"""rtl_simulate: golden inputs as the build has them, frames and figures as files, and what it refuses."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import BuildError, SimulationError, VerificationError
from brainsmith.execution.generated_inputs import generated_inputs
from brainsmith.plugins import steps
from brainsmith.rtl.simulation.simulation_plan import Memory
from brainsmith.rtl.verification.parts import SINGLE, WHOLE, Parts
from brainsmith.steps import reduced_circuit
from brainsmith.steps.design_files import hand_over, take_design
from brainsmith.steps.golden_frames import GoldenFrames, whole
from brainsmith.steps.host_ends import PARENT
from brainsmith.steps.reduced_circuit import Reduced
from brainsmith.steps.rtl_simulate import _trace, _with_origin, _with_reduced
from tests.steps.conftest import integers


def report_of(tmp_path):
    return json.loads((tmp_path / "report" / "rtl_simulation.json").read_text())


@pytest.mark.slow
def test_golden_inputs_are_simulated_and_written(stitched, config, tmp_path, heard):
    images = integers(3, 40, 8, low=-8)
    np.save(tmp_path / "x.npy", images)
    config.verify_input_npy = tmp_path / "x.npy"
    assert steps.rtl_simulate(stitched, config) is stitched
    report = report_of(tmp_path)
    assert (report["frames"], report["stalled_frames"], report["random"]) == (40, 120, False)
    assert (report["mismatches"], report["stalled_mismatches"]) == (0, 0)
    assert set(report) == {
        "frames", "mismatches", "stalled_frames", "stalled_mismatches", "stalled_cycles", "stalled_shares",
        "interval_cycles", "interval_estimate", "latency_cycles", "latency_estimate", "cycles", "cycles_per_second",
        "runs", "random", "layers", "generated_frames", "constant_layers", "constant_outputs",
    }  # fmt: skip
    # The estimate is that with FIFOs, which take two cycles each; this design has wires.
    assert (report["latency_cycles"], report["latency_estimate"]) == (45, 58)
    assert report["generated_frames"] > 10
    assert min(report["stalled_shares"].values()) >= 0.1
    design = take_design(stitched, config)
    assert [layer["layer"] for layer in report["layers"]] == [
        layer.name for layer in design.layers if layer.kernel != "memstream"
    ]
    given = np.load(tmp_path / "rtl" / "golden" / "s_axis_0.npy")
    assert (given.dtype, given.shape) == (np.int8, (40, *design.inputs[0].layout.shape))
    np.testing.assert_array_equal(given.reshape(40, 8), images)
    results = np.load(tmp_path / "rtl" / "golden" / "m_axis_0.npy")
    golden = GoldenFrames(stitched, design, config)
    np.testing.assert_array_equal(results, golden.outputs[design.outputs[0].layout.tensor])
    assert not (tmp_path / "rtl" / "trace.vcd").exists()
    said = {work for line in heard for work in line.split("; ")}
    assert {f"each layer alone: {done} of 2 runs" for done in range(3)} <= said
    assert {f"the whole design: {done} of 4 runs" for done in range(4)} <= said


@pytest.mark.slow
def test_random_inputs_limits_frames_and_a_trace(stitched, config, tmp_path):
    steps.rtl_simulate(stitched, config, seeds=0, frames=12, trace=True)
    report = report_of(tmp_path)
    assert (report["frames"], report["stalled_frames"], report["random"], report["runs"]) == (12, 0, True, [])
    assert "s_axis_0_tdata" in (tmp_path / "rtl" / "trace.vcd").read_text()
    with pytest.raises(SimulationError, match=r"did not end within 20 cycles"):
        steps.rtl_simulate(stitched, config, limit=20)


@pytest.mark.slow
def test_a_trace_of_a_frame_whose_results_are_equal(stitched, config, tmp_path):
    design = take_design(stitched, config)
    zeros = tuple(replace(one, text=re.sub("[0-9a-fA-F]", "0", one.text)) for one in design.memories)
    _trace(replace(design, memories=zeros), GoldenFrames(stitched, design, config, 1), tmp_path / "trace.vcd")
    assert "s_axis_0_tdata" in (tmp_path / "trace.vcd").read_text()


@pytest.mark.slow
def test_a_design_that_computes_something_else_is_refused_and_its_layer_named(stitched, config, tmp_path):
    design = take_design(stitched, config)
    flipped = tuple(
        Memory(one.name, _flipped(one.text)) if one.name.startswith("MVAU") else one
        for one in design.memories
    )
    wrong = hand_over(stitched, config, replace(design, memories=flipped))
    with pytest.raises(VerificationError) as caught:
        steps.rtl_simulate(wrong, config)
    head, line = str(caught.value).splitlines()
    assert head == "layers of the RTL do not compute what the golden model computes:"
    assert line.startswith("  layer 'MVAU_rtl_0' (MVAU_rtl) alone is wrong: ")
    assert not (tmp_path / "report" / "rtl_simulation.json").exists()


def _flipped(text):
    first, _, rest = text.partition("\n")
    return f"{int(first, 16) ^ 1:0{len(first)}x}\n{rest}"


def test_what_cannot_be_simulated_is_said_before_anything_is_built(stitched, config, tmp_path):
    for arguments, problem in (
        ({"seeds": -1}, "seeds of rtl_simulate must be a number of runs, 0 or more, not -1"),
        ({"limit": 0}, "limit of rtl_simulate must be a whole number, 1 or more, not 0"),
        ({"frames": "all"}, "frames of rtl_simulate must be a whole number, 1 or more, not 'all'"),
    ):
        with pytest.raises(BuildError) as caught:
            steps.rtl_simulate(stitched, config, **arguments)
        assert str(caught.value) == problem
    config.verify_input_npy = tmp_path / "x.npy"
    with pytest.raises(
        BuildError, match=r"x.npy does not exist; verify_input_npy names a file, or is None for random"
    ):
        steps.rtl_simulate(stitched, config)
    np.save(tmp_path / "x.npy", np.full((4, 8), 300))
    with pytest.raises(BuildError) as caught:
        steps.rtl_simulate(stitched, config)
    assert str(caught.value) == (
        f"tensor {take_design(stitched, config).inputs[0].layout.tensor!r} holds values from 300 to 300, and its stream "
        "carries whole numbers from -128 to 127: give golden inputs that the model's input datatype allows"
    )


def test_values_that_are_not_whole_are_refused(stitched, config):
    layout = take_design(stitched, config).inputs[0].layout
    with pytest.raises(BuildError, match=r"holds values from 0.5 to 0.5"):
        whole(np.full((2, *layout.shape), 0.5), layout)


def test_a_circuit_that_is_slower_than_its_estimate_is_said(stitched, config, caplog, tmp_path):
    design = take_design(stitched, config)
    faster = replace(
        design, layers=tuple(replace(layer, cycles=layer.cycles // 2) for layer in design.layers)
    )
    steps.rtl_simulate(hand_over(stitched, config, faster), config, seeds=0)
    measured, estimate = report_of(tmp_path)["interval_cycles"], faster.interval
    assert caplog.messages[-1] == (
        f"the circuit needs {measured:.1f} cycles per frame, {100 * (measured / estimate - 1):.0f} % more than the "
        f"estimate of {estimate}: FIFOs that are too small slow layers down; run the step rtl_size_fifos first, or "
        "give it more frames"
    )


@pytest.mark.slow
def test_what_the_host_computes_before_the_circuit_is_computed(stitched, config, tmp_path):
    images = integers(5, 6, 8)
    np.save(tmp_path / "x.npy", images)
    config.verify_input_npy = tmp_path / "x.npy"
    design = take_design(stitched, config)
    tensor = design.inputs[0].layout.tensor
    np.testing.assert_array_equal(GoldenFrames(stitched, design, config).inputs[tensor].reshape(6, 8), images)
    parent = ModelWrapper(str(tmp_path / PARENT))
    given = parent.graph.input[0].name
    parent.graph.node.insert(0, helper.make_node("Neg", ["raw"], [given], name="neg"))
    shape = parent.get_tensor_shape(given)
    parent.graph.input[0].name = "raw"
    parent.set_tensor_shape(given, shape)
    parent.save(str(tmp_path / PARENT))
    golden = GoldenFrames(stitched, design, config, frames=4)
    np.testing.assert_array_equal(golden.inputs[tensor].reshape(4, 8), -images[:4])
    assert len(golden.outputs[design.outputs[0].layout.tensor]) == 4
    carried = golden.tensors(2)
    assert set(carried) == {link.layout.tensor for link in design.links if link.layout}
    assert {len(values) for values in carried.values()} == {2}


def test_one_of_several_partitions_cannot_be_verified(stitched, config, tmp_path):
    parent = ModelWrapper(str(tmp_path / PARENT))
    (node,) = parent.get_nodes_by_op_type("StreamingDataflowPartition")
    parent.graph.node.append(node)
    parent.graph.node[-1].output[:] = ["other"]
    parent.save(str(tmp_path / PARENT))
    with pytest.raises(BuildError) as caught:
        GoldenFrames(stitched, take_design(stitched, config), config)
    assert str(caught.value) == (
        "the model is one of 2 dataflow partitions of a larger one, which cannot be verified"
    )


@pytest.mark.parametrize(
    ("interval", "asked", "frames"),
    [(64, None, 32), (1_000_000, None, 10), (50_000_000, None, 4), (50_000_000, 1, 1), (64, 40, 40)],
)
def test_a_design_whose_frames_take_long_gets_fewer_random_ones(stitched, config, interval, asked, frames):
    config.verify_input_npy = None
    design = take_design(stitched, config)
    first, *others = design.layers
    design = replace(design, layers=(replace(first, cycles=interval), *others))
    made = GoldenFrames(stitched, design, config, asked, generate=True)
    assert (made.random, made.golden) == (True, frames)


def test_generated_frames_hold_both_ends_of_the_range_behind_the_golden_ones(stitched, config, tmp_path):
    design = take_design(stitched, config)
    images = integers(3, 40, 8, low=-1, high=1)  # a narrow part of the range
    np.save(tmp_path / "x.npy", images)
    config.verify_input_npy = tmp_path / "x.npy"
    frames = GoldenFrames(stitched, design, config, generate=True)
    (tensor,) = frames.inputs
    np.testing.assert_array_equal(frames.inputs[tensor][: frames.golden].reshape(40, 8), images)
    made = frames.inputs[tensor][frames.golden :]
    low, high = design.inputs[0].layout.span
    assert len(made) == frames.generated > 10
    assert any((frame == low).all() for frame in made)
    assert any((frame == high).all() for frame in made)
    assert all(len(stack) == frames.golden + frames.generated for stack in frames.outputs.values())
    every = generated_inputs(stitched, tensor)
    assert every.thresholds > 0
    np.testing.assert_array_equal(made.reshape(len(made), -1), every.few(32).reshape(len(made), -1))
    np.testing.assert_array_equal(every.few(32)[[0, -1]], every.stack[[0, -1]])
    assert _with_origin("it differs", frames) == (
        "it differs\n  frames from 40 on are generated (extremes, patterns, values around thresholds), beside the golden "
        "inputs"
    )
    alone = GoldenFrames(stitched, design, config)
    assert (alone.generated, _with_origin("it differs", alone)) == (0, "it differs")


@pytest.mark.slow
def test_a_circuit_that_takes_too_long_is_simulated_in_parts(stitched, config, tmp_path, caplog):
    from brainsmith.build.circuit_summary import circuit_lines
    from brainsmith.build.circuits import in_parts, read_circuit

    steps.rtl_simulate(stitched, config, frames=2, frame_seconds=0)
    assert in_parts(tmp_path)
    report = report_of(tmp_path)
    assert (report["frames"], report["mismatches"], report["interval_cycles"]) == (None, None, None)
    assert (
        report["parts"]["text"].startswith("each of ")
        and "alone on the activations of 2 frames, 0 of " in report["parts"]["text"]
    )
    assert all(layer["wrong"] == 0 and layer["cycles"] for layer in report["layers"])
    assert report["parts"]["reduced"] is None
    assert report["parts"]["uncovered"][-1] == (
        "nor was it for a smaller image: there is no smaller image: the circuit does not take one image, but (1, 8)"
    )
    assert "simulating a frame of the whole circuit would take about 0 s" in caplog.text
    (line,) = (words for name, words in circuit_lines(read_circuit(tmp_path)) if name == "circuit")
    assert line == f"in parts: {report['parts']['text']}"


@pytest.mark.parametrize("reason", [None, "there is no smaller image"])
def test_what_a_smaller_image_leaves_open_is_said(monkeypatch, reason):
    """Which simulation that is, and what it shows, other tests see; here, what is said of it."""
    shown = Reduced((4, 4), (16, 16), 4, 4, 576.0, 576, 900)

    def verified(*_arguments):
        if reason:
            raise BuildError(reason)
        return shown

    monkeypatch.setattr(reduced_circuit, "verify_reduced", verified)
    done, reduced = _with_reduced(
        Parts(1, (), (), (WHOLE, SINGLE)), None, None, SimpleNamespace(inputs={}), None, 1.0, 1
    )
    if reason:
        assert reduced is None
        assert done.uncovered == (WHOLE, SINGLE, f"nor was it for a smaller image: {reason}")
    else:
        assert reduced == shown
        assert done.uncovered == (
            "the whole circuit was simulated at once for a smaller image only: whether its FIFOs are deep enough for "
            "the full one, and the rate and the latency there, are not shown",
        )


def test_the_limit_of_a_frame_is_a_time(stitched, config):
    with pytest.raises(BuildError) as caught:
        steps.rtl_simulate(stitched, config, frame_seconds=-1)
    assert str(caught.value) == "frame_seconds of rtl_simulate must be a number of seconds, 0 or more, not -1"
