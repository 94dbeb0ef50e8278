"""Operators that move values between layers: what becomes of them, and that they compute the same."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_datatypes import InferDataTypes
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.build import build
from brainsmith.plugins import steps

GENERAL = "qonnx.custom_op.general"
IMAGE = (1, 6, 4, 8)
NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def whole(*values):
    return np.asarray(values, np.int64)


CASES = {
    "rows": ([("Slice", [whole(1), whole(4), whole(1)], {})], ["CropRTL"]),
    "channels": ([("Slice", [whole(2), whole(6), whole(3)], {})], ["CropRTL"]),
    "a turned image": ([("Transpose", [], {"perm": [0, 2, 1, 3]})], ["ShuffleRTL"]),
    "channels first": ([("Transpose", [], {"perm": [0, 3, 1, 2]})], ["ShuffleRTL"]),
    "rows and channels": (
        [("Reshape", [whole(1, 24, 8)], {}), ("Transpose", [], {"perm": [0, 2, 1]})], ["InnerShuffle_rtl"],
    ),
    "rows and channels with an axis of 1 between": (
        [("Reshape", [whole(1, 24, 1, 8)], {}), ("Transpose", [], {"perm": [0, 2, 3, 1]})], ["ShuffleRTL"],
    ),
    "depth to space": (
        [
            ("Reshape", [whole(1, 6, 4, 2, 2, 2)], {}), ("Transpose", [], {"perm": [0, 1, 4, 2, 5, 3]}),
            ("Reshape", [whole(1, 12, 8, 2)], {}),
        ],
        ["ShuffleRTL"],
    ),
    "space to depth": (
        [
            ("Reshape", [whole(1, 3, 2, 2, 2, 8)], {}), ("Transpose", [], {"perm": [0, 1, 3, 2, 4, 5]}),
            ("Reshape", [whole(1, 3, 2, 32)], {}),
        ],
        ["ShuffleRTL"],
    ),
    "a border of 5": ([("Pad", [whole(0, 1, 0, 0, 0, 0, 2, 0), np.float32(5)], {})], ["PadRTL"]),
    "more channels": ([("Pad", [whole(0, 0, 0, 1, 0, 0, 0, 2)], {})], ["PadRTL"]),
    "zeros between pixels": (
        [
            ("Reshape", [whole(1, 6, 1, 4, 1, 8)], {}), ("Pad", [whole(*[0] * 8, 1, 0, 1, 0)], {}),
            ("Reshape", [whole(1, 12, 8, 8)], {}),
        ],
        ["PadRTL"],
    ),
    "a larger image": ([("Resize", ["", np.asarray([1, 2, 3, 1], np.float32)], NEAREST)], ["UpsampleNearestNeighbour_rtl"]),
    "several": (
        [
            ("Slice", [whole(1, 1), whole(5, 3), whole(1, 2)], {}), ("Transpose", [], {"perm": [0, 2, 1, 3]}),
            ("Pad", [whole(0, 1, 1, 0, 0, 1, 1, 0), np.float32(-8)], {}),
        ],
        ["CropRTL", "ShuffleRTL", "PadRTL"],
    ),
}  # fmt: skip


def network(moves):
    """Return levels(moves(levels(x))) of an image of integers, channels last."""
    constants, nodes = [], []

    def constant(value):
        constants.append(numpy_helper.from_array(np.asarray(value), f"constant{len(constants)}"))
        return constants[-1].name

    def levels(source, result, layout):
        rows = constant(np.arange(-7, 8, dtype=np.float32)[None])
        nodes.append(
            helper.make_node(
                "MultiThreshold", [source, rows], [result], name=f"levels_{result}", domain=GENERAL, out_dtype="INT4",
                out_scale=1.0, out_bias=-8.0, data_layout=layout,
            )
        )  # fmt: skip

    levels("x", "t", "NHWC")
    tail = "t"
    for at, (op_type, operands, attributes) in enumerate(moves):
        names = [operand if isinstance(operand, str) else constant(operand) for operand in operands]
        nodes.append(helper.make_node(op_type, [tail, *names], [f"t{at}"], name=f"move{at}", **attributes))
        tail = f"t{at}"
    layout = "NWC" if moves[0][0] == "Reshape" and moves[0][1][0].size == 3 else "NHWC"
    levels(tail, "y", layout)
    ends = helper.make_tensor_value_info("x", TensorProto.FLOAT, IMAGE), onnx_output()
    graph = helper.make_graph(nodes, "moves", [ends[0]], [ends[1]], constants)
    opsets = [helper.make_opsetid("", 16), helper.make_opsetid(GENERAL, 1)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=9))
    model.set_tensor_datatype("x", DataType["INT4"])
    model = model.transform(InferShapes()).transform(InferDataTypes())
    for name in ("x", "t", *(f"t{at}" for at in range(len(moves))), "y"):
        if len(model.get_tensor_shape(name)) == len(IMAGE):
            model.set_tensor_layout(name, ["N", "H", "W", "C"])
    return model


def onnx_output():
    return helper.make_tensor_value_info("y", TensorProto.FLOAT, None)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in CASES])
def test_what_becomes_of_it(config, name):
    moves, layers = CASES[name]
    model = network(moves)
    x = np.random.default_rng(0).integers(-8, 8, IMAGE).astype(np.float32)
    expected = execute_onnx(model, {"x": x})["y"]
    for step in ("hardware_inference", "specialize", "fold"):
        model = steps[step](model, config)
    found = [node.op_type for node in model.graph.node]
    assert found == ["Thresholding_rtl", *layers, "Thresholding_rtl"]
    result = execute_onnx(model, {model.graph.input[0].name: x})[model.graph.output[0].name]
    np.testing.assert_array_equal(result.reshape(expected.shape), expected)


@pytest.mark.slow
def test_several_are_a_circuit(tmp_path):
    file, blueprint = tmp_path / "moves.onnx", tmp_path / "moves.yaml"
    network(CASES["several"][0]).save(str(file))
    blueprint.write_text(
        "hw_compiler:\n  target: {part: xczu7ev-ffvc1156-2-e, clock: 5 ns, fps: 1000}\n  kernels:\n"
        "    - {kernel: 'finn:Thresholding', backends: [rtl]}\n"
        "  steps: [hardware_inference, specialize, fold, estimate, rtl_codegen, rtl_stitch, rtl_size_fifos, rtl_simulate]\n"
    )
    assert build(file, blueprint, tmp_path / "out", produce="simulated", report=False).model
