"""FINN's own `exec_mode="rtlsim"`, unmodified, without Vivado."""

import numpy as np
import pytest
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.errors import SimulationError
from brainsmith.rtl.simulation.finn_simulation import compile_sim_obj, finn_simulation
from tests.rtl import finn_layers

LAYERS = {
    "dwc": lambda folder, rng: finn_layers.width_converter(folder),
    "thresholding": finn_layers.thresholding,
    "mvu": finn_layers.matrix_vector,
    "swg": lambda folder, rng: finn_layers.sliding_window(folder),
    "fmpadding": lambda folder, rng: finn_layers.padding(folder),
}


@pytest.mark.parametrize(
    "name", ["mvu", *(pytest.param(name, marks=pytest.mark.slow) for name in LAYERS if name != "mvu")]
)
@pytest.mark.slow
def test_finn_simulates_its_layers(name, tmp_path, simulations):
    layer = LAYERS[name](tmp_path / "code", np.random.default_rng(1))
    frames = layer.random_input(np.random.default_rng(2), 2)
    expected = layer.expected(frames)
    with finn_simulation():
        layer.node.prepare_rtlsim(behav=False)
        layer.node.set_nodeattr("exec_mode", "rtlsim")
        for frame, wanted in zip(frames, expected, strict=True):
            found = execute_onnx(layer.model, {"x": frame.astype(np.float32)})["y"]
            np.testing.assert_array_equal(found.reshape(wanted.shape), wanted)
    cycles, estimate = layer.node.get_nodeattr("cycles_rtlsim"), layer.node.get_exp_cycles()
    assert cycles > 0
    if estimate:
        assert abs(cycles - estimate) <= 20 + estimate // 10


def test_finns_names_are_as_before_afterwards(simulations):
    import finn.xsi

    before = dict(vars(finn.xsi))
    with pytest.raises(KeyError), finn_simulation():
        raise KeyError
    assert dict(vars(finn.xsi)) == before


def test_what_is_not_served_is_said(tmp_path):
    with pytest.raises(SimulationError, match=r"^x: FINN's simulation of all FIFOs \(fifosim\) needs Vivado"):
        compile_sim_obj("x", [], tmp_path, fifosim=True)
    with pytest.raises(
        SimulationError, match=r"^x: the generated files must lie in one folder, not in \[\]$"
    ):
        compile_sim_obj("x", [], tmp_path)
