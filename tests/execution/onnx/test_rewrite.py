"""Whole models: names, constants, annotations, old operator sets, and what is refused."""

import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.errors import BuildError, ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from tests.execution.onnx.rewritten import assert_rewritten_right, run_rewritten
from tests.execution.program.one_node import model_of
from tests.execution.program.single_node import QONNX, one_node


def network(opset=17, annotation="INT8"):
    """Return x -> Quant -> MatMul with quantised weights -> Mul by 0.5 -> Add, of which the sum is annotated."""
    random = np.random.default_rng(0)
    constants = {
        "weights": random.normal(0, 2, (6, 4)), "one": np.float32(1), "zero": np.float32(0), "bits": np.float32(3),
        "half": np.float32(0.5), "offset": np.float32(0.25),
    }  # fmt: skip
    quant = {"domain": QONNX, "signed": 1, "narrow": 0, "rounding_mode": "ROUND"}
    nodes = [
        helper.make_node("Quant", ["x", "one", "zero", "bits"], ["xq"], name="qx", **quant),
        helper.make_node("Quant", ["weights", "one", "zero", "bits"], ["wq"], name="qw", **quant),
        helper.make_node("MatMul", ["xq", "wq"], ["product"], name="multiply"),
        helper.make_node("Mul", ["product", "half"], ["halved"], name="halve"),
        helper.make_node("Add", ["halved", "offset"], ["y"], name="shift"),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", (1, 6)), ("y", (1, 4)))]
    held = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "network", ends[:1], ends[1:], held)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(QONNX, 1)]
    from qonnx.transformation.infer_shapes import InferShapes

    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=8)).transform(
        InferShapes()
    )
    if annotation:
        model.set_tensor_datatype("halved", DataType[annotation])
    return model


def inputs_of(runs=5, seed=1):
    return np.random.default_rng(seed).normal(0, 2, (runs, 1, 6)).astype(np.float32)


def test_tensors_keep_their_names():
    model = network(annotation=None)
    standard = rewrite(model)
    assert [spec.name for spec in standard.tensors] == ["x", "xq", "product", "halved", "y"]
    given = run_rewritten(model, {"x": inputs_of()}, keep=["product", "xq"])
    context = execute_onnx(model, {"x": inputs_of()[2]}, return_full_exec_context=True)
    for name in ("y", "product", "xq"):
        np.testing.assert_array_equal(given[name][2], context[name])


def test_what_is_written_is_standard_and_valid():
    standard = rewrite(network())
    proto = onnx.load_model_from_string(standard.content)
    onnx.checker.check_model(proto)
    assert {node.domain for node in proto.graph.node} == {""}
    assert [(opset.domain, opset.version) for opset in proto.opset_import] == [("", 17)]
    shape = proto.graph.input[0].type.tensor_type.shape
    assert [dim.dim_param or dim.dim_value for dim in shape.dim] == ["runs", 6]


def test_the_given_model_is_not_changed():
    model = network()
    before = model.model.SerializeToString(deterministic=True)
    rewrite(model)
    assert model.model.SerializeToString(deterministic=True) == before


def test_quantised_weights_are_constants():
    types = [node.op_type for node in onnx.load_model_from_string(rewrite(network()).content).graph.node]
    assert types.count("Round") == 2  # of x, and of the tensor that is annotated


def test_float_errors_of_whole_tensors_are_rounded_away():
    model = model_of("Mul", {"x": (1, 3), "c": np.array(0.1, np.float32)}, datatypes={"y": "INT8"})
    x = np.float32([[[30, 70, -20.01]]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = execute_onnx(model, {"x": x[0]})["y"]
    assert run_rewritten(model, {"x": x})["y"][0].tolist() == wanted.tolist() == [[3, 7, -2]]


def test_what_is_not_what_it_is_annotated_as_is_refused():
    model = network()
    x = np.zeros((2, 1, 6), np.float32)
    run_rewritten(model, {"x": x})
    with pytest.raises(BuildError) as caught:
        run_rewritten(model, {"x": inputs_of()})
    assert (
        str(caught.value)
        == "tensor 'halved' is annotated as INT8, but holds a value that is 0.5 from the nearest whole number"
    )
    narrow = model_of("Mul", {"x": (1, 2), "c": np.array(0.5, np.float32)}, datatypes={"y": "INT3"})
    with pytest.raises(BuildError) as caught:
        run_rewritten(narrow, {"x": np.float32([[[2, 6]], [[2, 10]]])})
    assert str(caught.value) == "tensor 'y' is annotated as INT3, but holds 5"


def test_annotations_that_qonnx_is_told_not_to_hold_tensors_to(monkeypatch):
    monkeypatch.setenv("SANITIZE_QUANT_TENSORS", "0")
    model = model_of(
        "Mul", {"x": (1, 2), "c": np.array(0.5, np.float32)}, datatypes={"x": "INT3", "y": "INT3"}
    )
    assert run_rewritten(model, {"x": np.float32([[[2.5, 70]]])})["y"].tolist() == [[[1.25, 35]]]


def test_inputs_that_are_not_what_they_are_annotated_as_are_refused():
    model = model_of("Relu", {"x": (1, 2)}, datatypes={"x": "UINT4"})
    assert run_rewritten(model, {"x": np.float32([[[1.001, 15]]])})["y"].tolist() == [[[1, 15]]]
    with pytest.raises(BuildError) as caught:
        run_rewritten(model, {"x": np.float32([[[1.25, 3]]])})
    assert (
        str(caught.value)
        == "tensor 'x' is annotated as UINT4, but holds a value that is 0.25 from the nearest whole number"
    )
    with pytest.raises(BuildError) as caught:
        run_rewritten(model, {"x": np.float32([[[16, -1]]])})
    assert str(caught.value) == "tensor 'x' is annotated as UINT4, but holds 16"


@pytest.mark.parametrize("opset", [9, 11, 13, 18])
def test_operator_sets(opset):
    assert_rewritten_right(network(opset, None), x=inputs_of())


def test_an_output_that_is_a_constant():
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["c"], ["z"])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 2)) for name in "xyz"]
    constant = numpy_helper.from_array(np.float32([[1, 2]]), "c")
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], [constant])
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    assert_rewritten_right(model, mixed=True, x=np.float32([[[1, -1]], [[2, 3]]]))
    assert rewrite(model).mixed == "output 'z' is a constant"


def test_a_shape_that_the_graph_computes():
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "first"], ["batch"], axis=0),
        helper.make_node("Concat", ["batch", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", (2, 3, 4)), ("y", (2, 12)))
    ]
    held = [
        numpy_helper.from_array(np.array([value], np.int64), name)
        for name, value in (("first", 0), ("rest", -1))
    ]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], held)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model = ModelWrapper(onnx.shape_inference.infer_shapes(proto))
    assert_rewritten_right(model, x=np.random.default_rng(0).normal(size=(3, 2, 3, 4)).astype(np.float32))


def test_an_operator_without_a_plan_is_refused():
    model = one_node("GenericPartition", {"x": (1, 2)}, {"y": (1, 2)}, model="inner.onnx")
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value) == (
        "node 'node' (GenericPartition) cannot be written with standard ONNX operators: operator "
        f"GenericPartition of domain {QONNX} has no form in standard ONNX"
    )


def test_a_node_without_a_name_is_told_by_its_output():
    model = one_node("GenericPartition", {"x": (1, 2)}, {"y": (1, 2)}, model="inner.onnx")
    model.graph.node[0].name = ""
    with pytest.raises(ModelError, match=r"^node 'y' "):
        rewrite(model)


def test_weights_that_are_not_what_they_are_annotated_as_are_refused():
    model = model_of("MatMul", {"x": (1, 2), "w": np.full((2, 2), 5, np.float32)}, datatypes={"w": "INT2"})
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value) == (
        "the model cannot be written with standard ONNX operators: tensor 'w' is annotated as INT2, but holds 5"
    )


def test_a_constant_that_cannot_be_computed_is_refused():
    model = model_of("MatMul", {"x": (1, 2), "w": np.ones((2, 2), np.float32)})
    model.graph.node.insert(0, helper.make_node("Add", ["w", "u"], ["v"], name="bad"))
    model.graph.initializer.append(numpy_helper.from_array(np.ones((3, 3), np.float32), "u"))
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    text = str(caught.value)
    assert "bad" in text or "shapes cannot be inferred" in text
