"""Windows that go from RTL to RTL are executed in the order in which they move."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.execution.execute import Executor
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.stitch import stitch
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.design_runs import run_design
from brainsmith.rtl.verification.layers import verify_layers

DOMAIN = "finn.custom_op.fpgadataflow"
PART = "xczu7ev-ffvc1156-2-e"


def pooled(window, pool, simd=2, pe=2, kind="INT4", channels=4):
    """Return a model that takes the greatest values of 2 x 2 pixels, `w` between the two layers."""
    common = {"backend": "fpgadataflow"}
    first = helper.make_node(
        f"ConvolutionInputGenerator_{window}", ["x"], ["w"], name="window", domain=f"{DOMAIN}.{window}",
        ConvKernelDim=[2, 2], IFMChannels=channels, IFMDim=[6, 6], OFMDim=[3, 3], SIMD=simd, M=1, Stride=[2, 2],
        Dilation=[1, 1], inputDataType=kind, outputDataType=kind, depthwise=1, **common,
    )  # fmt: skip
    second = helper.make_node(
        f"Pool_{pool}", ["w"], ["y"], name="pool", domain=f"{DOMAIN}.{pool}", Function="MaxPool", Channels=channels,
        PE=pe, KernelSize=[2, 2], OutImgDims=[3, 3], InputDataType=kind, OutputDataType=kind, **common,
    )  # fmt: skip
    shapes = {"x": [1, 6, 6, channels], "w": [1, 3, 3, 4 * channels], "y": [1, 3, 3, channels]}
    x, w, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in shapes.items())
    graph = helper.make_graph([first, second], "pooled", [x], [y], value_info=[w])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(f"{DOMAIN}.rtl", 1)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets))
    for name in shapes:
        model.set_tensor_datatype(name, DataType[kind])
    return model


def images(frames=5, channels=4, bipolar=False):
    """Return images, and the greatest values of their 2 x 2 pixels."""
    values = np.random.default_rng(0).integers(-8, 8, (frames, 1, 6, 6, channels))
    values = np.where(values < 0, -1, 1) if bipolar else values
    return values.astype(np.float32), values.reshape(frames, 1, 3, 2, 3, 2, channels).max(axis=(3, 5))


@pytest.mark.parametrize(("window", "pool"), [("rtl", "rtl"), ("rtl", "hls"), ("hls", "rtl"), ("hls", "hls")])
def test_pooling_is_the_same_for_all_backends(window, pool):
    x, expected = images()
    np.testing.assert_array_equal(Executor(pooled(window, pool)).run({"x": x})["y"], expected)


def test_windows_of_rtl_come_as_many_channels_at_a_time_as_it_takes():
    x, _ = images()
    given = Executor(pooled("rtl", "rtl")).run({"x": x}, keep=frozenset("w"))["w"]
    pixels = x.reshape(5, 1, 3, 2, 3, 2, 2, 2).transpose(0, 1, 2, 4, 6, 3, 5, 7)
    np.testing.assert_array_equal(given, pixels.reshape(given.shape))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["INT4", "BIPOLAR"])
def test_layers_and_circuit_compute_what_is_executed(kind, tmp_path, simulations):
    model = generate_layers(pooled("rtl", "rtl", kind=kind), tmp_path / "code", PART)
    design = stitch(model)
    x, expected = images(bipolar=kind == "BIPOLAR")
    golden = Executor(model).run({"x": x}, keep=None)
    np.testing.assert_array_equal(golden["y"], expected)
    checks = verify_layers(design, golden)
    assert [str(check) for check in checks if not check.right] == []
    simulator = build_simulator(plan_design(design), quick=True)
    np.testing.assert_array_equal(run_design(simulator, design, {"x": x}).outputs["y"], expected)
