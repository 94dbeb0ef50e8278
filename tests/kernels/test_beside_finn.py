"""Crop and Shuffle, of which FINN has a kernel of the same name: a blueprint's bare name means this project's."""

from types import SimpleNamespace

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.blueprint.resolve import resolve_blueprint
from brainsmith.plugin.collections import backends_of
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugins import steps

PART = "xczu7ev-ffvc1156-2-e"


def config(folder, *kernels):
    return SimpleNamespace(
        synth_clk_period_ns=5.0, fpga_part=PART, _resolve_fpga_part=lambda: PART, target_fps=400_000,
        output_dir=str(folder), kernel_preferences=dict.fromkeys(kernels, ("rtl",)),
    )  # fmt: skip


def network(*middle, shapes):
    """Make levels(...(levels(x))): what is in the middle lies between hardware layers."""
    names = ["x", *(f"t{at}" for at in range(len(shapes) - 2)), "y"]
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip(names, shapes, strict=True)
    ]
    levels = {"domain": "qonnx.custom_op.general", "out_dtype": "UINT2"}
    nodes = [helper.make_node("MultiThreshold", ["x", "steps"], ["t0"], name="first", **levels)]
    for at, (op_type, constant, attributes) in enumerate(middle):
        inputs = [f"t{at}", *([f"constant{at}"] if constant is not None else [])]
        nodes.append(helper.make_node(op_type, inputs, [f"t{at + 1}"], name=op_type, **attributes))
    nodes.append(helper.make_node("MultiThreshold", [names[-2], "steps"], ["y"], name="last", **levels))
    graph = helper.make_graph(nodes, "test", values[:1], values[-1:], value_info=values[1:-1])
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    for at, (_, constant, _) in enumerate(middle):
        if constant is not None:
            model.set_initializer(f"constant{at}", np.asarray(constant, np.int64))
    model.set_initializer("steps", np.asarray([[1, 2, 3]], np.float32))
    for name in names:
        model.set_tensor_datatype(name, DataType["INT4" if name == "x" else "UINT2"])
    return model


def transposed():
    shapes = [(8, 32), (8, 32), (8, 2, 16), (2, 8, 16), (2, 8, 16)]
    return network(("Reshape", (8, 2, 16), {}), ("Transpose", None, {"perm": (1, 0, 2)}), shapes=shapes)


def exchanged():
    return network(
        ("Transpose", None, {"perm": (0, 2, 1)}), shapes=[(2, 8, 3), (2, 8, 3), (2, 3, 8), (2, 3, 8)]
    )


def token():
    shapes = [(1, 8, 32), (1, 8, 32), (1, 1, 32), (1, 1, 32)]
    return network(("Gather", [3], {"axis": 1}), shapes=shapes)


@pytest.mark.parametrize("name", ["Crop", "Shuffle"])
def test_a_bare_name_in_a_blueprint_is_this_projects(tmp_path, name):
    registry, file = get_plugin_manager().all_records()[0], tmp_path / "one.yaml"
    file.write_text(f"hw_compiler:\n  kernels: [{name}]\n", encoding="utf-8")
    (use,) = resolve_blueprint(load_blueprint(file), registry).kernels
    assert (use.record.qualified, [one.name for one in use.backends]) == (
        f"brainsmith:{name}",
        [f"{name}RTL"],
    )
    file.write_text(f"hw_compiler:\n  kernels: ['finn:{name}']\n", encoding="utf-8")
    (use,) = resolve_blueprint(load_blueprint(file), registry).kernels
    assert use.record.qualified == f"finn:{name}"
    assert {one.framework for one in backends_of(registry, use.record)} <= {"finn"}


@pytest.mark.filterwarnings("ignore:Assuming 4D input is NCHW:UserWarning")
@pytest.mark.parametrize(
    ("model", "kernel", "own", "finns", "own_by_default"),
    [
        (transposed, "Shuffle", "ShuffleKernel", "Shuffle", ("ShuffleKernel", "brainsmith.kernels")),
        (exchanged, "Shuffle", "ShuffleKernel", "Shuffle", None),
        (token, "Crop", "CropKernel", "Crop", None),
    ],
    ids=["Shuffle", "Shuffle of the last two axes", "Crop"],
)
@pytest.mark.slow
def test_a_network_gets_it_that_names_it_or_where_finn_has_no_circuit(
    tmp_path, model, kernel, own, finns, own_by_default
):
    feeds = {"x": np.random.default_rng(0).integers(-8, 8, model().get_tensor_shape("x")).astype(np.float32)}
    expected = execute_onnx(model(), feeds)["y"]
    for listed, op_type, domain in (
        ((kernel,), own, "brainsmith.kernels"),
        ((f"brainsmith:{kernel}",), own, "brainsmith.kernels"),
        ((), *(own_by_default or (finns, "finn.custom_op.fpgadataflow"))),
        ((f"finn:{kernel}",), finns, "finn.custom_op.fpgadataflow"),
    ):
        after = steps.hardware_inference(model(), config(tmp_path, *listed))
        (moved,) = [node for node in after.graph.node if node.op_type != "Thresholding"]
        assert (moved.op_type, moved.domain) == (op_type, domain)
        inputs = {after.graph.input[0].name: feeds["x"]}
        np.testing.assert_array_equal(execute_onnx(after, inputs)[after.graph.output[0].name], expected)


@pytest.mark.parametrize(
    ("model", "kernel"),
    [(transposed, "Shuffle"), pytest.param(token, "Crop", marks=pytest.mark.slow)],
    ids=["Shuffle", "Crop"],
)
@pytest.mark.slow
def test_it_is_specialised_and_folded(tmp_path, model, kernel):
    cfg = config(tmp_path, kernel, "finn:Thresholding")
    cfg.target_fps = 12_000_000
    after = model()
    for name in ("hardware_inference", "specialize", "fold"):
        after = getattr(steps, name)(after, cfg)
    (moved,) = [node for node in after.graph.node if node.op_type != "Thresholding_rtl"]
    assert (moved.op_type, moved.domain) == (f"{kernel}RTL", "brainsmith.backends.rtl")
    assert {one.name: one.i for one in moved.attribute}["SIMD"] == 16  # of 256 values at 16 cycles a frame
