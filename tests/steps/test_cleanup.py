from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.util.basic import get_by_name

from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from brainsmith.plugins import transforms as tfm
from tests.steps.conftest import Graph, digits_model, integers


def test_shapes_and_datatypes_are_inferred_and_constants_folded(config):
    graph = Graph(1, 4)
    doubled = Graph(4)
    doubled.tail = graph.constant(integers(1, 4))
    graph.nodes, doubled.constants = doubled.nodes, graph.constants
    doubled.node("Mul", integers(2, 4))
    model = graph.node("Add", doubled.tail).model(1, 4)
    model = steps.cleanup(model, config)
    assert [node.op_type for node in model.graph.node] == ["Add"]
    assert model.check_all_tensor_shapes_specified()


def test_quantised_weights_keep_their_quantiser(config):
    model = steps.cleanup(digits_model("mlp"), config)
    assert len(model.get_nodes_by_op_type("Quant")) == 6
    assert model.get_tensor_datatype("image").name == "UINT5"


def test_the_names_of_the_model_are_kept(config):
    before = [node.name for node in digits_model("cnn").graph.node]
    after = [node.name for node in steps.cleanup(digits_model("cnn"), config).graph.node]
    assert sorted(before) == sorted(after)


def test_nodes_without_names_get_some(config):
    model = digits_model("mlp")
    model.graph.node[0].name = ""
    names = [node.name for node in steps.cleanup(model, config).graph.node]
    assert len(set(names)) == len(names)
    assert "" not in names


def test_what_an_exporter_left_to_defaults_is_written_out(config):
    graph = Graph(1, 1, 8, 8).quant(4)
    model = graph.node("Conv", graph.weights(integers(1, 2, 1, 3, 3))).model(1, 2, 6, 6)
    model = steps.cleanup(model, config)
    conv = model.get_nodes_by_op_type("Conv")[0]
    values = {
        name: get_by_name(conv.attribute, name) for name in ("kernel_shape", "strides", "dilations", "pads")
    }
    assert {name: list(value.ints) for name, value in values.items()} == {
        "kernel_shape": [3, 3],
        "strides": [1, 1],
        "dilations": [1, 1],
        "pads": [0, 0, 0, 0],
    }
    assert get_by_name(conv.attribute, "group").i == 1


@pytest.mark.parametrize("stride", [2, *(pytest.param(stride, marks=pytest.mark.slow) for stride in (1, 3))])
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("op_type", ["Conv", "MaxPool", "AveragePool"])
def test_padding_that_onnx_works_out_is_written_as_numbers(op_type, mode, stride, config):
    """TensorFlow's exporters write it; the steps read numbers."""
    graph = Graph(1, 2, 7, 8)
    weights = [graph.weights(integers(1, 3, 2, 3, 2))] if op_type == "Conv" else []
    graph.node(op_type, *weights, auto_pad=mode, kernel_shape=[3, 2], strides=[stride, stride])
    model = graph.model(datatype="INT4").transform(tfm.InferShapes())
    inputs = integers(2, 1, 2, 7, 8).astype(np.float32)
    (expected,) = execute_onnx(model, {model.graph.input[0].name: inputs}).values()
    model = steps.cleanup(model, config)
    (window,) = model.get_nodes_by_op_type(op_type)
    assert get_by_name(window.attribute, "auto_pad") is None
    assert get_by_name(window.attribute, "pads") is not None
    (result,) = execute_onnx(model, {model.graph.input[0].name: inputs}).values()
    np.testing.assert_array_equal(result, expected)


def test_windows_behind_quantisers_of_onnx_runtime_get_their_defaults_too(config):
    """ONNX infers no shapes behind nodes of ONNX Runtime's own domain, as it writes them for weights of 4 bits."""
    graph = Graph(1, 1, 8, 8).quant(4)
    tail, graph.tail = graph.tail, "integers"
    scale = graph.constant(0.5)
    for name, values in (("integers", integers(1, 2, 1, 3, 3)), ("zero", 0)):
        graph.constants.append(numpy_helper.from_array(np.asarray(values, np.int8), name))
    weights = graph.node("DequantizeLinear", scale, "zero", domain="com.microsoft").tail
    graph.tail = tail
    model = graph.node("Conv", weights).model(1, 2, 6, 6)
    model.model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    model = steps.cleanup(model, config)
    (conv,) = model.get_nodes_by_op_type("Conv")
    assert list(get_by_name(conv.attribute, "kernel_shape").ints) == [3, 3]


def test_older_domains_of_quantisers_are_read(config):
    model = digits_model("mlp")
    for node in model.get_nodes_by_op_type("Quant"):
        node.domain = "onnx.brevitas"
    model = steps.cleanup(model, config)
    assert {node.domain for node in model.get_nodes_by_op_type("Quant")} == {"qonnx.custom_op.general"}


@pytest.mark.slow
def test_twice_is_the_same_as_once(config):
    once = steps.cleanup(digits_model("cnn"), config).model.SerializeToString(deterministic=True)
    model = steps.cleanup(digits_model("cnn"), config)
    assert steps.cleanup(model, config).model.SerializeToString(deterministic=True) == once


@pytest.mark.slow
def test_the_epsilon_of_a_normalisation_stays_and_a_row_of_one_value_is_no_nan(config):
    model = Graph(1, 4).node("LayerNormalization", np.ones(4, np.float32)).model(1, 4)
    row = np.full((1, 4), 3.0, np.float32)
    model = model.transform(tfm.ExpandNorms())
    for step in (steps.cleanup, steps.qonnx_to_finn, steps.streamline):
        model = step(model, config)
        (result,) = execute_onnx(model, {model.graph.input[0].name: row}).values()
        assert np.array_equal(result, np.zeros((1, 4)))


@pytest.mark.slow
def test_a_node_that_reads_one_tensor_twice_still_does(config):
    graph = Graph(1, 4).quant(4)
    graph.node("Mul", graph.tail)
    model = graph.node("Add", graph.tail).model(1, 4)
    for node in model.graph.node:
        node.name = ""
    inputs = np.asarray([[1, -2, 3, 0]], np.float32)
    (expected,) = execute_onnx(
        model.transform(tfm.InferShapes()), {model.graph.input[0].name: inputs}
    ).values()
    for step in (steps.cleanup, steps.qonnx_to_finn):
        model = step(model, config)
        assert any(node.input[0] == node.input[1] for node in model.graph.node if len(node.input) == 2)
        (result,) = execute_onnx(model, {model.graph.input[0].name: inputs}).values()
        assert np.array_equal(result, expected)


@settings(max_examples=60)
@given(
    op_type=st.sampled_from(["Conv", "MaxPool"]),
    automatic=st.sampled_from(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"]),
    size=st.integers(3, 8),
    kernel=st.integers(1, 3),
    stride=st.integers(1, 3),
    dilation=st.integers(1, 2),
)
def test_padding_that_onnx_computes_is_written_out_as_it_computes_it(
    op_type, automatic, size, kernel, stride, dilation
):
    dilation = dilation if automatic == "NOTSET" else 1  # ONNX Runtime has no other
    covered = dilation * (kernel - 1) + 1
    assume(covered <= size)
    result = -(-size // stride) if automatic.startswith("SAME") else (size - covered) // stride + 1
    assume(op_type == "Conv" or "SAME" not in automatic or size - (result - 1) * stride - covered < 2)
    graph = Graph(1, 1, size, size)
    weights = [integers(1, 1, 1, kernel, kernel)] if op_type == "Conv" else []
    model = graph.node(
        op_type,
        *weights,
        auto_pad=automatic,
        kernel_shape=[kernel] * 2,
        strides=[stride] * 2,
        dilations=[dilation] * 2,
    ).model(1, 1, result, result)
    x = np.random.default_rng(0).integers(-8, 8, (1, 1, size, size)).astype(np.float32)
    output = model.graph.output[0].name
    expected = execute_onnx(model, {"in": x})[output]
    cleaned = steps.cleanup(model, SimpleNamespace())
    (node,) = cleaned.graph.node
    assert not get_by_name(node.attribute, "auto_pad") or automatic in ("VALID", "NOTSET")
    assert len(get_by_name(node.attribute, "pads").ints) == 4
    assert np.array_equal(execute_onnx(cleaned, {"in": x})[cleaned.graph.output[0].name], expected)


def test_padding_of_pools_that_leave_out_values_stays_as_onnx_runtime_reads_it():
    graph = Graph(1, 1, 6, 6)
    model = graph.node("MaxPool", auto_pad="SAME_UPPER", kernel_shape=[1, 1], strides=[3, 3]).model(
        1, 1, 2, 2
    )
    x = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6)
    cleaned = steps.cleanup(model, SimpleNamespace())
    name, given = cleaned.graph.output[0].name, model.graph.output[0].name
    (expected,) = execute_onnx(model, {"in": x})[given]
    assert expected.tolist() == [[[7, 10], [25, 28]]]  # not 0, 3, 18 and 21
    assert np.array_equal(execute_onnx(cleaned, {"in": x})[name][0], expected)
    assert np.array_equal(Executor(cleaned).run({"in": x[None]})[name].reshape(expected.shape), expected)


def test_what_nobody_reads_goes(config):
    graph = Graph(1, 1, 4, 4).quant(4)
    read = graph.tail
    graph.node("Hardmax")
    graph.tail = read
    model = graph.node("MaxPool", kernel_shape=[2, 2], strides=[2, 2]).model(1, 1, 2, 2)
    model.graph.node[-1].output.append("places")
    model = steps.cleanup(model, config)
    assert [node.op_type for node in model.graph.node] == ["Quant", "MaxPool"]
    assert len(model.graph.node[-1].output) == 1


@pytest.mark.parametrize("version", [9, 10, 11])
def test_operators_of_older_versions_are_brought_to_one_that_layers_have(version, config):
    """An Upsample of version 9, whose mode is left to its default, had no datatype and no layer."""
    graph = Graph(1, 2, 1, 1).quant(4)
    enlarge, scales = "Upsample" if version == 9 else "Resize", np.array([1, 1, 2, 2], np.float32)
    operands = (
        [graph.constant(scales)]
        if version < 11
        else [graph.constant(np.zeros(0, np.float32)), graph.constant(scales)]
    )
    more = {} if version < 11 else {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    graph.node(enlarge, *operands, **more)
    graph.node("Squeeze", axes=[0])
    model = graph.model(2, 2, 2)
    for each in model.model.opset_import:
        each.version = version if not each.domain else each.version
    names = [node.name for node in model.graph.node]
    after = steps.cleanup(model, config)
    assert after.get_opset_imports()[""] == 13
    assert [node.op_type for node in after.graph.node] == ["Quant", "Resize", "Squeeze"]
    assert [node.name for node in after.graph.node] == names
    assert after.get_tensor_datatype(after.graph.node[1].output[0]).name == "INT4"
    sample = {model.graph.input[0].name: np.array([[[[1.0]], [[-3.0]]]], np.float32)}
    found = execute_onnx(after, sample)[after.graph.output[0].name]
    np.testing.assert_array_equal(found, np.repeat([1.0, -3.0], 4).reshape(2, 2, 2))
