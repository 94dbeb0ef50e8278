import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.execution.fallback.node_runners import CustomRunner, StandardRunner, make_runner


def one_node(op_type, in_shape, out_shape, domain="", **attributes):
    node = helper.make_node(op_type, ["x"], ["y"], name="n", domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, in_shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, out_shape)],
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("qonnx.custom_op.general", 1)]
    model = ModelWrapper(helper.make_model(graph, ir_version=9, opset_imports=opsets))
    model.set_tensor_datatype("x", DataType["INT8"])
    return model


def stack(shape, samples=6):
    return np.random.default_rng(0).integers(-8, 8, (samples, *shape)).astype(np.float32)


def run(model, values):
    runner = make_runner(model, model.graph.node[0], {})
    return runner, runner.run({"x": values})["y"]


def expected(model, values):
    return np.stack([execute_onnx(model, {"x": sample})["y"] for sample in values])


def test_a_standard_node_that_mixes_samples_goes_one_by_one():
    model = one_node("Softmax", [1, 4], [1, 4], axis=0)
    values = stack((1, 4))
    runner, result = run(model, values)
    assert type(runner) is StandardRunner
    assert runner._batched is False
    np.testing.assert_array_equal(result, np.ones((6, 1, 4), np.float32))


def test_a_standard_node_that_takes_batches():
    model = one_node("Relu", [1, 4], [1, 4])
    values = stack((1, 4))
    runner, result = run(model, values)
    assert runner._batched
    np.testing.assert_array_equal(result, np.maximum(values, 0))


def test_a_batch_size_in_an_attribute_follows_the_batch():
    model = one_node("BipolarQuant", [1, 4], [1, 4], "qonnx.custom_op.general", numInputVectors=[1, 2])
    runner = make_runner(model, model.graph.node[0], {})
    assert type(runner) is CustomRunner
    for batch, first in ((1, 1), (6, 6)):
        (attribute,) = runner._operation(batch).onnx_node.attribute
        assert list(attribute.ints) == [first, 2]
    assert list(model.graph.node[0].attribute[0].ints) == [1, 2]


@pytest.mark.parametrize("first", [np.zeros((3, 1, 4), np.float32), np.ones((3, 1, 4), np.float32)])
@pytest.mark.parametrize(
    ("op_type", "attributes"),
    [("LpNormalization", {"axis": 0}), ("MeanVarianceNormalization", {"axes": [0, 1]})],
)
def test_samples_that_are_alike_do_not_hide_that_a_node_mixes_them(op_type, attributes, first):
    model = one_node(op_type, [1, 4], [1, 4], **attributes)
    runner, _ = run(model, first)
    values = stack((1, 4))
    np.testing.assert_array_equal(runner.run({"x": values})["y"], expected(model, values))


def test_samples_at_the_ends_do_not_hide_that_a_node_mixes_those_between():
    model = one_node("CumSum", [1, 2], [1, 2])
    model.graph.node[0].input.append("axis")
    model.set_initializer("axis", np.asarray(0, np.int64))
    runner = make_runner(model, model.graph.node[0], {"axis": np.asarray(0, np.int64)})
    values = np.asarray([0, 1, -1, 0], np.float32)[:, None, None].repeat(2, 2)
    np.testing.assert_array_equal(runner.run({"x": values})["y"], values)


def test_whether_a_batch_is_rounded_as_its_samples_is_not_decided_by_samples_that_are_alike():
    model = one_node("Relu", [1, 4], [1, 4])
    runner, _ = run(model, np.zeros((3, 1, 4), np.float32))
    assert runner._batched is None
    runner.run({"x": stack((1, 4))})
    assert runner._batched


def test_an_operation_of_another_project_goes_sample_by_sample(monkeypatch):
    from qonnx.custom_op.general.bipolar_quant import BipolarQuant

    model = one_node("BipolarQuant", [1, 4], [1, 4], "qonnx.custom_op.general")
    model.graph.node[0].input.append("scale")
    model.set_initializer("scale", np.ones((), np.float32))
    constants = {"scale": np.ones((), np.float32)}
    own = make_runner(model, model.graph.node[0], constants)
    own.run({"x": stack((1, 4))})
    assert own._batched
    monkeypatch.setattr(BipolarQuant, "__module__", "theirs.operations")
    other = make_runner(model, model.graph.node[0], constants)
    other.run({"x": stack((1, 4))})
    assert other._batched is False
