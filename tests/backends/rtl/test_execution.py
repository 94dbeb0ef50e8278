"""Cores executed by FINN's own `exec_mode="rtlsim"`: streams of several widths, and constants that are no streams."""

import numpy as np
import pytest
from finn.transformation.fpgadataflow.prepare_rtlsim import PrepareRTLSim
from finn.transformation.fpgadataflow.set_exec_mode import SetExecMode
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp

from brainsmith.errors import BuildError
from brainsmith.rtl.simulation.finn_simulation import finn_simulation
from tests.backends.rtl import (
    test_duplicate_streams_rtl,
    test_elementwise_backend,
    test_label_select_rtl,
    test_lookup_rtl,
    test_streaming_concat_rtl,
    test_streaming_split_rtl,
)
from tests.backends.rtl.bench import golden_tensors, make_design, make_model

CASES = {
    "outputs": test_duplicate_streams_rtl.case(4, 2, 2),
    "inputs": test_streaming_concat_rtl.case([4, 2], ["INT4", "UINT5"], 2),
    "constant": test_elementwise_backend.case((1, 2, 4), "INT4", "INT4", 2, constant=(4,)),
    "table": test_lookup_rtl.case(3, 2),
    "labels of vectors": test_label_select_rtl.case(6, 2, 1, vectors=(3,)),
    "copies of vectors": test_duplicate_streams_rtl.case(4, 2, 2, vectors=(3,)),
    "parts of vectors": test_streaming_split_rtl.case([2, 4], "INT4", 2, (3,)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_finn_simulates_a_core(name, tmp_path, simulations, monkeypatch):
    monkeypatch.setenv("FINN_BUILD_DIR", str(tmp_path))
    model, _ = make_design([CASES[name]], tmp_path)
    golden = golden_tensors(model, [CASES[name]], 1, seed=2)
    fed = {tensor: values[0].astype(np.float32) for tensor, values in golden.items() if "_in" in tensor}
    with finn_simulation():
        prepared = model.transform(SetExecMode("rtlsim")).transform(PrepareRTLSim())
        found = execute_onnx(prepared, fed)
    for tensor, values in found.items():
        np.testing.assert_array_equal(values, golden[tensor][0])
    assert getCustomOp(prepared.graph.node[0]).get_nodeattr("cycles_rtlsim") > 0


@pytest.mark.parametrize(
    ("name", "beats"),
    [
        ("labels of vectors", 3),
        ("copies of vectors", {"out0": 6, "out1": 6}),
        ("parts of vectors", {"out0": 3, "out1": 6}),
    ],
)
def test_all_vectors_are_waited_for(name, beats):
    assert getCustomOp(make_model([CASES[name]]).graph.node[0]).get_number_output_values() == beats


def test_a_constant_before_a_stream_is_refused():
    case = test_elementwise_backend.case((1, 2, 4), "INT4", "INT4", 2, constant=(4,), first=True)
    model = make_model([case])
    layer = getCustomOp(model.graph.node[0])
    layer.set_nodeattr("exec_mode", "rtlsim")
    with pytest.raises(BuildError) as raised:
        layer.execute_node({}, model.graph)
    assert str(raised.value) == (
        "layer 'ElementwiseAddInt_rtl_0' cannot be executed with exec_mode 'rtlsim': its first input is a constant\n"
        "  exchange its inputs, or simulate it as part of a stitched design"
    )
