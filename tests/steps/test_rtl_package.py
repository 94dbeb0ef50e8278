"""rtl_package: the folder of an accelerator, from the design and what the steps before it left."""

import json

import numpy as np
import pytest

from brainsmith.errors import BuildError
from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from brainsmith.rtl.package.frame_order import FrameOrder
from brainsmith.rtl.package.reading import read_package
from brainsmith.steps.design_files import take_design
from brainsmith.steps.rtl_package import _network_frames


def test_without_a_simulation_the_golden_vectors_are_the_hardware_models(stitched, config, tmp_path):
    before = stitched.model.SerializeToString()
    assert steps.rtl_package(stitched, config) is stitched
    assert stitched.model.SerializeToString() == before
    package = read_package(tmp_path)
    assert package.design == take_design(stitched, config)
    assert (package.orders, package.changed) == ({}, ())
    inputs, outputs = package.golden("s_axis_0"), package.golden("m_axis_0")
    assert (inputs.shape, inputs.dtype, outputs.dtype) == ((8, 1, 8), np.int8, np.int8)
    (name,) = Executor(stitched).inputs
    expected = Executor(stitched).run({name: inputs.astype(np.float32)})
    np.testing.assert_array_equal(outputs, *expected.values())
    text = (tmp_path / "accelerator" / "README.md").read_text()
    assert "random inputs (seed 1), and what the hardware model of the network computes for them" in text
    assert "Not in it, and left to the host: after it Mul. `host.json` lists" in text
    assert "the circuit was not simulated" in text
    assert "BSD" in (tmp_path / "accelerator" / "licenses" / "FINN.txt").read_text()


def test_what_was_simulated_is_packed_and_told(stitched, config, tmp_path):
    given = np.random.default_rng(3).integers(-8, 8, (5, 8))
    golden = {"s_axis_0": given[:4].reshape(4, 1, 8), "m_axis_0": np.arange(24).reshape(4, 1, 6) % 16 - 8}
    (tmp_path / "rtl" / "golden").mkdir()
    for name, values in golden.items():
        np.save(tmp_path / "rtl" / "golden" / f"{name}.npy", values)
    np.save(tmp_path / "x.npy", given)
    config.verify_input_npy = str(tmp_path / "x.npy")
    (tmp_path / "report").mkdir(exist_ok=True)
    for name, report in (
        ("rtl_simulation", {"interval_cycles": 8.0, "latency_cycles": 41, "frames": 4, "stalled_frames": 12}),
        ("rtl_synthesis", {"family": "xcup", "lut": 512, "dsp": 4}),
    ):
        (tmp_path / "report" / f"{name}.json").write_text(json.dumps(report))
    steps.rtl_package(stitched, config)
    package = read_package(tmp_path)
    assert package.orders == {"s_axis_0": FrameOrder((8,), (0,))}
    for name, values in golden.items():
        np.testing.assert_array_equal(package.golden(name), values)
    text = (tmp_path / "accelerator" / "README.md").read_text()
    assert (
        "4 frames of inputs and outputs, one `.npy` file for each stream: those with which the circuit"
        in text
    )
    assert (
        "A frame every 8 cycles, which are 25,000,000 frames per second at 200 MHz; latency 41 cycles" in text
    )
    assert "| LUT | DSP |\n| --- | --- |\n| 512 | 4 |" in text


@pytest.mark.slow
def test_a_damaged_report_of_a_step_before_is_refused(stitched, config, tmp_path):
    file = tmp_path / "report" / "rtl_simulation.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text('{"frames": 4')
    with pytest.raises(BuildError) as caught:
        steps.rtl_package(stitched, config)
    assert str(caught.value).startswith(f"{file} cannot be read as the report of a step: ")


@pytest.mark.slow
def test_no_file_of_the_package_names_the_output_folder(stitched, config, tmp_path):
    steps.rtl_package(stitched, config)
    for path in (tmp_path / "accelerator").rglob("*"):
        assert path.is_dir() or str(tmp_path).encode() not in path.read_bytes(), path


def test_golden_vectors_that_are_cut_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 8)))
    whole = (tmp_path / "x.npy").read_bytes()
    for size in (0, 40, len(whole) - 1):
        (tmp_path / "x.npy").write_bytes(whole[:size])
        with pytest.raises(BuildError) as caught:
            _network_frames(tmp_path / "x.npy")
        first, last = str(caught.value).splitlines()
        assert first.startswith(f"{tmp_path}/x.npy cannot be read: ")
        assert last == "  verify_input_npy must name an .npy file"


def test_golden_vectors_of_some_streams_only_are_refused(stitched, config, tmp_path):
    (tmp_path / "rtl" / "golden").mkdir()
    np.save(tmp_path / "rtl" / "golden" / "s_axis_0.npy", np.zeros((1, 1, 8)))
    with pytest.raises(BuildError) as caught:
        steps.rtl_package(stitched, config)
    assert str(caught.value) == (
        f"{tmp_path}/rtl/golden has no golden vectors of m_axis_0: run the step rtl_simulate again"
    )
    assert not (tmp_path / "accelerator").exists()


def test_a_model_without_a_design_is_refused(dense, config):
    with pytest.raises(
        BuildError, match=r"^the model has no stitched design: run the step rtl_stitch first$"
    ):
        steps.rtl_package(dense(), config)
