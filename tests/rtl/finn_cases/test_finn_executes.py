"""FINN's own `exec_mode="rtlsim"`, node by node as its tests use it, for layers that other tests do not execute so.

Width converters, thresholding, MVAU, windows and padding are in `tests/rtl/simulation/test_finn_simulation.py`.
"""

import numpy as np
import pytest
from finn.transformation.fpgadataflow.convert_to_hw.requant import InferRequantLayer
from finn.transformation.fpgadataflow.prepare_ip import PrepareIP
from finn.transformation.fpgadataflow.prepare_rtlsim import PrepareRTLSim
from finn.transformation.fpgadataflow.set_exec_mode import SetExecMode
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp
from qonnx.transformation.general import GiveUniqueNodeNames

from brainsmith.errors import SimulationError
from brainsmith.rtl.simulation.finn_simulation import finn_simulation
from tests.rtl.finn_cases import test_crop, test_pad1d, test_select_token
from tests.rtl.finn_cases.cases import Case, make_model, specialised

CASES = {
    "crop": lambda: test_crop.make_case(((1, 16, 48), 1, (4, 5, 6)), 8, "INT8"),
    "select_token": lambda: test_select_token.make_case((-1, 2), "INT6"),
    "pad1d": lambda: test_pad1d.make_case((2, 2, 1), ("INT6", (-1, -2, -3, -4), (5, 6, 7, 8))),
    "requant": lambda: make_requant("internal_decoupled"),
}
PART = "xczu7ev-ffvc1156-2-e"
CHANNELS = 16


def make_requant(memory):
    """Thresholds at equal distances, which FINN replaces by a multiplication; those of each channel are different."""
    steps = DataType["UINT8"].get_num_possible_values() - 1
    widths = 0.25 + np.arange(CHANNELS)[:, None] / 32
    thresholds = (widths * (np.arange(steps) + 0.5)).astype(np.float32)
    node = helper.make_node(
        "MultiThreshold",
        ["x", "t"],
        ["y"],
        domain="qonnx.custom_op.general",
        out_dtype="UINT8",
        data_layout="NC",
    )
    shape = {"x": (1, CHANNELS)}, {"y": (1, CHANNELS)}
    golden = make_model(node, *shape, {"x": "INT8", "y": "UINT8"}, {"t": thresholds})
    for name in "xy":
        golden.set_tensor_layout(name, ["N", "C"])
    layer = specialised(golden.transform(InferRequantLayer()), PART, "Requant_rtl", PE=4, mem_mode=memory)
    return Case(golden, layer, PART, tolerance=15)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_finn_executes_a_layer(name, simulations, tmp_path, monkeypatch):
    monkeypatch.setenv("FINN_BUILD_DIR", str(tmp_path))
    case = CASES[name]()
    frame = case.random_frame(np.random.default_rng(1))
    with finn_simulation():
        model = prepared(case)
        found = execute_onnx(model, dict(frame))[model.graph.output[0].name]
    expected = case.expected(frame)
    np.testing.assert_array_equal(found.reshape(expected.shape), expected)
    node = getCustomOp(model.graph.node[0])
    assert abs(node.get_nodeattr("cycles_rtlsim") - node.get_exp_cycles()) <= case.tolerance


def test_requant_that_computes_its_constants_is_rejected(simulations, tmp_path, monkeypatch):
    """It derives them from `shortreal` parameters, which Verilator takes for `real`: better no result than a wrong one."""
    monkeypatch.setenv("FINN_BUILD_DIR", str(tmp_path))
    case = make_requant("internal_embedded")
    with finn_simulation(), pytest.raises(SimulationError, match="'derive_PARAMS'"):
        execute_onnx(prepared(case), case.random_frame(np.random.default_rng(1)))


def prepared(case):
    """Do what FINN's tests do before they execute a layer."""
    model = case.layer.transform(GiveUniqueNodeNames()).transform(PrepareIP(case.part, 5))
    return model.transform(SetExecMode("rtlsim")).transform(PrepareRTLSim())
