"""A backend that computes something else than its kernel, or at another pace, is told; a right one passes."""

from dataclasses import replace

import numpy as np
import pytest

from brainsmith.errors import BuildError, PluginNotFoundError
from brainsmith.plugin.manager import reset_plugin_system
from brainsmith.rtl.cores.checking import KernelCheck
from brainsmith.rtl.verification.layers import LayerCheck
from brainsmith.scaffold.new_plugin import new_plugin
from brainsmith.testing import check_backend
from brainsmith.testing.backend_laws import judge_circuit, judge_program

RIGHT = KernelCheck(LayerCheck("R_0", "RectifyRTL", 64, 512, 0, 0, 0, 0, None), 4.0, 4)
SMALL = {"VECTORS": 1, "CHANNELS": 4, "BITS": 4, "PE": 2}


def test_a_circuit_is_judged_by_its_values_and_its_cycles():
    judge_circuit("RectifyRTL", RIGHT)
    with pytest.raises(AssertionError) as caught:
        judge_circuit("RectifyRTL", replace(RIGHT, layer=replace(RIGHT.layer, missing=2)))
    assert str(caught.value).startswith("RectifyRTL: layer 'R_0' (RectifyRTL) alone is wrong: ")
    with pytest.raises(AssertionError) as caught:
        judge_circuit("RectifyRTL", replace(RIGHT, interval=6.0))
    assert str(caught.value) == (
        "RectifyRTL: 6 cycles from frame to frame without stalls, and its kernel states 4"
    )


def test_a_program_is_judged_by_its_values():
    golden = np.zeros((3, 1, 2))
    judge_program("RectifyHLS", "y", golden, golden.astype(np.float32))
    found = golden.copy()
    found[1, 0, 1] = 5
    with pytest.raises(AssertionError) as caught:
        judge_program("RectifyHLS", "y", golden, found)
    assert str(caught.value) == (
        "RectifyHLS: output 'y' of 3 frames differs: 1 value of 6, first at [1, 0, 1]: 0.0 by the kernel, 5.0 by the C++"
    )


def test_a_backend_that_is_not_there_is_named():
    with pytest.raises(PluginNotFoundError, match="no backend named 'PadRTX'"):
        check_backend("PadRTX")


@pytest.mark.parametrize(("name", "lacking"), [("PadRTL", "StreamKernel"), ("MatMulHLS", "StreamKernel")])
def test_a_backend_whose_streams_are_not_said_is_refused(name, lacking):
    with pytest.raises(BuildError) as caught:
        check_backend(name)
    assert str(caught.value) == (
        f"check_backend cannot try brainsmith:{name}: its class does not derive from {lacking}, so how it is fed is"
        " not known\n  check_cases tries nodes of any RTL backend"
    )


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A project with a kernel and a backend in each language; those that tests edit."""
    (tmp_path / ".brainsmith").mkdir()
    monkeypatch.chdir(tmp_path)
    reset_plugin_system()
    for name in ("RectifyRTL", "RectifyHLS"):
        new_plugin("backend", name, tmp_path)
    return tmp_path / "plugins"


def edit(file, before, after):
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, after))


@pytest.mark.slow
def test_what_new_writes_passes_and_a_wrong_core_does_not(begun, simulations):
    assert "RectifyRTL" in check_backend("RectifyRTL", attributes=SMALL)
    edit(begun / "rectify_core.sv", "in_data[i][BITS-1] ? '0", "in_data[i][0] ? '0")
    with pytest.raises(AssertionError, match=r"^RectifyRTL: layer '\w+' \(RectifyRTL\) alone is wrong: "):
        check_backend("RectifyRTL", attributes=SMALL)


@pytest.mark.slow
def test_a_core_that_loses_beats_when_its_output_stalls_does_not_pass(begun, simulations):
    edit(begun / "rectify_core.sv", "out_ready || !out_valid", "1'b1")
    with pytest.raises(AssertionError, match=r"^RectifyRTL: "):
        check_backend("RectifyRTL", attributes=SMALL)


@pytest.mark.slow
def test_a_core_of_another_pace_than_its_kernel_states_does_not_pass(begun, simulations):
    edit(begun / "rectify.py", '"VECTORS * CHANNELS // PE"', '"2 * VECTORS * CHANNELS // PE"')
    edit(
        begun / "rectify_rtl.py",
        "one_by_one(self.get_exp_cycles())",
        "one_by_one(self.get_exp_cycles() // 2)",
    )
    with pytest.raises(
        AssertionError, match="2 cycles from frame to frame without stalls, and its kernel states 4"
    ):
        check_backend("RectifyRTL", attributes=SMALL)


@pytest.mark.slow
def test_hls_is_compiled_and_run(begun):
    assert check_backend("RectifyHLS", attributes=SMALL).startswith("RectifyHLS: 64 frames of ")
    edit(begun / "rectify_core.hpp", "if (x > 0)", "if (x > 1)")
    with pytest.raises(
        AssertionError, match=r"differs: \d+ values of 256, first at .*: 1\.0 by the kernel, 0\.0 by"
    ):
        check_backend("RectifyHLS", attributes=SMALL)


@pytest.mark.parametrize("given", [5, None, KernelCheck])
def test_what_is_no_name_of_a_backend_is_an_error(given):
    with pytest.raises(TypeError) as caught:
        check_backend(given)
    assert str(caught.value) == (
        f"check_backend takes the name of a backend, such as 'acme:RectifyRTL', not {given!r}"
    )
