"""Scales and biases behind integers move into thresholds, and no value moves to another level."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.transforms.absorb_affine import absorb_affine
from brainsmith.transforms.graph_view import GraphView


def quantised(shape, chain, levels, outputs=1, datatype="INT8", layout=""):
    """Make integers -> chain -> as many MultiThresholds as there are outputs."""
    tensors = ["x", *(f"t{at}" for at in range(len(chain)))]
    nodes = [
        helper.make_node(op_type, [source, f"{target}_k"], [target], name=target)
        for (op_type, _), source, target in zip(chain, tensors[:-1], tensors[1:], strict=True)
    ]
    attributes = {"out_dtype": "UINT8", **({"data_layout": layout} if layout else {})}
    nodes += [
        helper.make_node(
            "MultiThreshold", [tensors[-1], "levels"], [f"y{at}"], name=f"q{at}",
            domain="qonnx.custom_op.general", **attributes,
        )
        for at in range(outputs)
    ]  # fmt: skip
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in tensors}
    given_out = [helper.make_tensor_value_info(f"y{at}", TensorProto.FLOAT, shape) for at in range(outputs)]
    graph = helper.make_graph(
        nodes, "test", [values["x"]], given_out, value_info=[values[name] for name in tensors[1:]]
    )
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    for (_, operand), target in zip(chain, tensors[1:], strict=True):
        model.set_initializer(f"{target}_k", np.asarray(operand, np.float32))
    model.set_initializer("levels", np.asarray(levels, np.float32))
    model.set_tensor_datatype("x", DataType[datatype])
    return model


def absorbed(model):
    after = ModelWrapper(model.model, make_deepcopy=True)
    changed = absorb_affine(GraphView(after), "x")
    return after, changed


def every_integer(shape, low=-128):
    values = np.resize(np.arange(low, low + 256), int(np.prod(shape)))
    return {"x": values.reshape(shape).astype(np.float32)}


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    per_channel=st.booleans(),
    rank=st.integers(2, 4),
    outputs=st.integers(1, 2),
    levels=st.integers(1, 15),
)
def test_every_integer_comes_to_the_level_that_it_had(seed, per_channel, rank, outputs, levels):
    rng = np.random.default_rng(seed)
    size = 3 if per_channel else 1
    chain = [
        ("Mul", [2.0**-8]),
        ("Mul", rng.uniform(0.1, 2.0, size)),
        ("Add", rng.normal(size=size)),
        ("Div", [float(rng.uniform(0.5, 2))]),
    ]
    shape = {2: (256, 3), 3: (1, 256, 3), 4: (1, 16, 16, 3)}[rank]
    model = quantised(shape, chain, np.sort(rng.normal(size=(1, levels))), outputs)
    after, changed = absorbed(model)
    assert (changed, [node.op_type for node in after.graph.node]) == (True, ["MultiThreshold"] * outputs)
    feeds = {"x": np.repeat(np.arange(-128, 128), 3).reshape(shape).astype(np.float32)}
    expected, found = execute_onnx(model, feeds), execute_onnx(after, feeds)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)
    thresholds = after.get_initializer(after.graph.node[0].input[1])
    datatype = after.get_tensor_datatype(after.graph.node[0].input[1])
    assert datatype.is_integer()
    assert all(datatype.allowed(value) for value in thresholds.reshape(-1))
    assert absorbed(after)[1] is False


def test_what_cannot_be_thresholds_stays():
    levels = [[0.0, 1.0]]
    negative = quantised((4, 3), [("Mul", [1.0, -1.0, 1.0])], levels)
    by_a_tensor = quantised((4, 3), [("Mul", np.ones((4, 3)))], levels)
    channels_first = quantised((1, 3, 4, 3), [("Mul", [1.0, 2.0, 3.0])], np.zeros((3, 2)), layout="NCHW")
    for model in (negative, by_a_tensor, channels_first):
        after, changed = absorbed(model)
        assert (changed, after.model) == (False, model.model)


def test_what_others_read_stays():
    model = quantised((4, 3), [("Mul", [0.5])], [[0.0, 1.0]])
    kept = [value for value in model.graph.value_info if value.name == "t0"]
    model.graph.value_info.remove(kept[0])
    model.graph.output.extend(kept)
    after, changed = absorbed(model)
    assert (changed, [node.op_type for node in after.graph.node]) == (True, ["Mul", "MultiThreshold"])
    feeds = {"x": np.arange(-6, 6).reshape(4, 3).astype(np.float32)}
    np.testing.assert_array_equal(execute_onnx(after, feeds)["y0"], execute_onnx(model, feeds)["y0"])
