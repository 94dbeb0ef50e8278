"""Pool, UpsampleNearestNeighbour, GlobalAccPool and LabelSelect one behind the other, as one circuit."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.execution.execute import Executor
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.stitch import stitch
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.design_runs import run_design
from brainsmith.rtl.verification.layers import verify_layers
from tests.backends.rtl.bench import PART, RTL

LAYERS = {
    "ConvolutionInputGenerator": {
        "ConvKernelDim": [2, 2], "IFMChannels": 6, "IFMDim": [6, 6], "OFMDim": [3, 3], "SIMD": 2, "M": 1,
        "Stride": [2, 2], "Dilation": [1, 1], "inputDataType": "INT4", "outputDataType": "INT4", "depthwise": 1,
    },
    "Pool": {
        "Function": "MaxPool", "Channels": 6, "PE": 2, "KernelSize": [2, 2], "OutImgDims": [3, 3],
        "InputDataType": "INT4", "OutputDataType": "INT4",
    },
    "UpsampleNearestNeighbour": {
        "SIMD": 3, "HI": 3, "WI": 3, "HO": 6, "WO": 3, "NumChannels": 6, "inputDataType": "INT4",
    },
    "GlobalAccPool": {"NumChannels": 6, "PE": 2, "inputDataType": "INT4", "numInputVectors": [1, 6, 3]},
    "LabelSelect": {"Labels": 6, "PE": 1, "K": 2, "inputDataType": "INT9", "numInputVectors": [1, 1, 1]},
}  # fmt: skip
SHAPES = ([1, 6, 6, 6], [1, 3, 3, 24], [1, 3, 3, 6], [1, 6, 3, 6], [1, 1, 1, 6], [1, 1, 1, 2])
KINDS = ("INT4", "INT4", "INT4", "INT4", "INT9", "UINT8")


def network():
    """Return the model; `t0` goes in and `t5` comes out."""
    nodes = [
        helper.make_node(f"{kernel}_rtl", [f"t{at}"], [f"t{at + 1}"], kernel, domain=RTL, backend="fpgadataflow", **rest)
        for at, (kernel, rest) in enumerate(LAYERS.items())
    ]  # fmt: skip
    tensors = [
        helper.make_tensor_value_info(f"t{at}", TensorProto.FLOAT, one) for at, one in enumerate(SHAPES)
    ]
    graph = helper.make_graph(nodes, "pooled", tensors[:1], tensors[-1:], value_info=tensors[1:-1])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(RTL, 1)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets))
    for at, kind in enumerate(KINDS):
        model.set_tensor_datatype(f"t{at}", DataType[kind])
    return model


@pytest.mark.slow
def test_a_network_of_them_computes_what_it_should_at_its_rate(tmp_path, simulations):
    model = generate_layers(network(), tmp_path, PART)
    design = stitch(model)
    x = np.random.default_rng(0).integers(-8, 8, (8, *SHAPES[0])).astype(np.float32)
    golden = Executor(model).run({"t0": x}, keep=None)
    sums = 2 * x.reshape(8, 3, 2, 3, 2, 6).max(axis=(2, 4)).sum(axis=(1, 2))
    expected = np.argsort(-sums, axis=1, kind="stable")[:, :2].reshape(8, *SHAPES[5])
    np.testing.assert_array_equal(golden["t5"], expected)

    checks = verify_layers(design, golden)
    assert [str(check) for check in checks if not check.right] == []

    deep = design.with_depths({link.name: 16 for link in design.links})
    simulator = build_simulator(plan_design(deep), quick=True)
    smooth = run_design(simulator, deep, {"t0": x})
    np.testing.assert_array_equal(smooth.outputs["t5"], expected)
    assert smooth.interval <= design.interval
    stalls = {name: Stalls.random(seed, 0.6) for seed, name in enumerate(("s_axis_0", "m_axis_0"))}
    np.testing.assert_array_equal(
        run_design(simulator, deep, {"t0": x}, stalls=stalls).outputs["t5"], expected
    )
