"""A batch that becomes 1: each sample alone gives what it gave among the others, or the batch stays."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.transforms.integer.batch_of_one import with_batch_of_one


def network(shape, *nodes, **constants):
    """Return a network of nodes (operator, further inputs, attributes), each reading the one before."""
    tail, made = "x", []
    for at, (op_type, others, attributes) in enumerate(nodes):
        inputs = [tail, *others]
        tail = f"t{at}"
        made.append(helper.make_node(op_type, inputs, [tail], name=f"n{at}", **attributes))
    graph = helper.make_graph(
        made,
        "batch",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(tail, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return ModelWrapper(model).transform(InferShapes())


def run(model, x):
    return execute_onnx(model, {"x": x})[model.graph.output[0].name]


FLOATS = np.random.default_rng(0).integers(-8, 8, (5, 3, 2, 2)).astype(np.float32)
OF_SHAPES = {"image": np.asarray([4, 3, -1]), "rows": np.asarray([8, -1]), "back": np.asarray([4, 2, 6])}
APART = {
    "convolution": [("Conv", ["w"], {}), ("Relu", [], {}), ("Flatten", [], {"axis": 1})],
    "pools": [("MaxPool", [], {"kernel_shape": [2, 2]}), ("GlobalAveragePool", [], {})],
    "reshapes": [
        ("Reshape", ["image"], {}),
        ("Transpose", [], {"perm": [0, 2, 1]}),
        ("Reshape", ["rows"], {}),
    ],
    "rows that are joined again": [("Reshape", ["rows"], {}), ("Relu", [], {}), ("Reshape", ["back"], {})],
    "an axis less": [("ReduceMean", [], {"axes": [2, 3], "keepdims": 1}), ("Squeeze", [], {})],
    "an axis more": [("Unsqueeze", ["last"], {}), ("Squeeze", ["last"], {}), ("Softmax", [], {"axis": 1})],
    "sizes": [("Resize", ["", "", "to"], {"mode": "nearest"})],
    "pads": [("Pad", ["amounts"], {}), ("Slice", ["one", "three", "axis"], {})],
    "rows": [("Flatten", [], {}), ("Gemm", ["g", "b"], {"transB": 1}), ("Concat", ["t1"], {"axis": 1})],
    "gathered": [("Gather", ["places"], {"axis": 1}), ("Add", ["each"], {})],
}
MORE = {
    "w": FLOATS[:, :, :1, :1],
    "last": np.asarray([4]),
    "to": np.asarray([4, 3, 4, 8]),
    "amounts": np.asarray([0, 0, 1, 0, 0, 0, 0, 2]),
    "one": np.asarray([1]),
    "three": np.asarray([3]),
    "axis": np.asarray([2]),
    "g": FLOATS[:2].reshape(2, 12),
    "b": np.ones((1, 2), np.float32),
    "places": np.asarray([2, 0]),
    "each": np.ones((2, 1, 1), np.float32),
    **OF_SHAPES,
}


@pytest.mark.parametrize("kind", APART)
def test_each_sample_gives_alone_what_it_gave_among_others(kind):
    model = network((4, 3, 4, 4) if kind == "pools" else (4, 3, 2, 2), *APART[kind], **MORE)
    before = model.model.SerializeToString()
    made, reason = with_batch_of_one(model)
    assert reason == ""
    assert model.model.SerializeToString() == before
    x = np.random.default_rng(1).integers(-8, 8, model.get_tensor_shape("x")).astype(np.float32)
    expected = run(model, x)
    found = np.concatenate([run(made, sample[None]) for sample in x])
    np.testing.assert_array_equal(found, expected)
    out = made.graph.output[0].name
    inferred = made.transform(InferShapes())
    assert made.get_tensor_shape(out) == inferred.get_tensor_shape(out)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (
            [("Transpose", [], {"perm": [1, 0, 2, 3]})],
            "(Transpose) does not give the samples in its first axis",
        ),
        ([("Transpose", [], {"perm": [3, 0, 1, 2]})], "(Transpose) moves the batch to another axis"),
        ([("Softmax", [], {"axis": 0})], "(Softmax) reads along the batch"),
        ([("Concat", ["x"], {"axis": 0})], "(Concat) reads along the batch"),
        ([("ReduceSum", [], {})], "(ReduceSum) does not give the samples in its first axis"),
        ([("Add", ["each"], {})], "(Add) has an operand for each sample"),
        ([("Flatten", [], {}), ("Gemm", ["g"], {"transA": 1})], "(Gemm) multiplies several samples"),
        ([("Slice", ["one", "three", "zero"], {})], "(Slice) does not give the samples in its first axis"),
        ([("Mod", ["each"], {"fmod": 1})], "(Mod) is not known to keep samples apart"),
    ],
)
def test_a_batch_whose_samples_meet_stays(nodes, reason):
    constants = {**MORE, "each": np.ones((4, 1, 1, 1), np.float32), "zero": np.asarray([0])}
    if reason.startswith("(Gemm"):
        constants["g"] = np.ones((4, 2), np.float32)
    model = network((4, 3, 2, 4), *nodes, **constants)
    made, found = with_batch_of_one(model)
    assert made.get_tensor_shape("x") == [4, 3, 2, 4]
    at = len(nodes) - 1
    assert found == f"its batch of 4 cannot be made 1, because node 'n{at}' {reason}"


def test_a_batch_of_one_stays_as_it_is():
    model = network((1, 3, 2, 2), ("Relu", [], {}))
    assert with_batch_of_one(model) == (model, "")
