import importlib.resources

import numpy as np
import pytest
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_datatypes import InferDataTypes
from qonnx.transformation.infer_shapes import InferShapes
from qonnx.transformation.lower_convs_to_matmul import LowerConvsToMatMul

from brainsmith.errors import BuildError
from brainsmith.execution.execute import Executor
from tests.build import graphs


def plain(model, stack):
    model = model.transform(InferShapes())
    name = model.graph.output[0].name
    return np.stack([execute_onnx(model, {"x": sample})[name] for sample in stack])


@pytest.mark.parametrize("model", [graphs.quant_mlp(), graphs.quant_cnn()], ids=["mlp", "cnn"])
@pytest.mark.slow
def test_equals_plain_execution_bit_for_bit(model):
    stack = graphs.samples(model)[:, None]
    result = Executor(model).run({"x": stack})
    assert list(result) == [model.graph.output[0].name]
    np.testing.assert_array_equal(result[model.graph.output[0].name], plain(model, stack))


@pytest.mark.slow
def test_a_node_that_scrambles_batches_runs_sample_by_sample():
    model = graphs.quant_cnn().transform(InferShapes()).transform(InferDataTypes())
    model = model.transform(LowerConvsToMatMul())
    assert "Im2Col" in [node.op_type for node in model.graph.node]
    stack = graphs.samples(model)[:, None]
    np.testing.assert_array_equal(Executor(model).run({"x": stack})["y"], plain(model, stack))


def test_more_samples_than_are_run_together(monkeypatch):
    model = graphs.quant_cnn()
    stack = graphs.samples(model)[:, None]
    whole = Executor(model).run({"x": stack})["y"]
    monkeypatch.setattr("brainsmith.execution.program.lower.CHUNK", 7)
    np.testing.assert_array_equal(Executor(model).run({"x": stack})["y"], whole)


def test_a_single_sample_and_a_second_stack():
    model = graphs.quant_mlp()
    executor = Executor(model)
    stack = graphs.samples(model)[:, None]
    whole = executor.run({"x": stack})["m1"]
    np.testing.assert_array_equal(executor.run({"x": stack[3:4]})["m1"], whole[3:4])


def test_a_twin_shares_the_constants_and_prepares_its_nodes_itself():
    model = graphs.quant_mlp()
    stack = graphs.samples(model)[:, None]
    first = Executor(model)
    whole = first.run({"x": stack})["m1"]
    twin = first.twin()
    assert twin.program.constants is first.program.constants
    assert twin.program._calls == [None] * len(first.program.instructions)
    assert None not in first.program._calls
    np.testing.assert_array_equal(twin.run({"x": stack})["m1"], whole)


def test_an_executor_that_has_its_program_holds_no_model():
    executor = Executor(graphs.quant_mlp())
    before = executor.shape("a1"), executor.order(), executor.signature
    assert executor.program.constants
    assert not [held for held in vars(executor).values() if isinstance(held, ModelWrapper)]
    assert executor._lowered._read is None
    assert (executor.shape("a1"), executor.order(), executor.signature) == before


def test_keep_returns_intermediate_tensors():
    model = graphs.quant_mlp()
    stack = graphs.samples(model)[:2, None]
    result = Executor(model).run({"x": stack}, keep=frozenset(["a1"]))
    assert sorted(result) == ["a1", "m1"]
    assert result["a1"].shape == (2, 1, 8)
    assert {"x", "a0", "m0", "a1", "m1"} == set(Executor(model).run({"x": stack}, keep=None))


def test_the_model_is_not_changed():
    model = graphs.quant_mlp()
    before = model.model.SerializeToString(deterministic=True)
    Executor(model).run({"x": graphs.samples(model)[:, None]})
    assert model.model.SerializeToString(deterministic=True) == before


def test_a_node_that_cannot_run_is_named():
    model = graphs.quant_mlp().transform(InferShapes())
    model.graph.node[-1].op_type = "NoSuchOp"
    with pytest.raises(BuildError, match=r"^node 'matmul1' \(NoSuchOp\) cannot be executed: "):
        Executor(model).run({"x": graphs.samples(model)[:, None]})


def test_rounds_tensors_to_their_annotation_as_qonnx_does():
    from qonnx.core.datatype import DataType

    model = graphs.quant_mlp().transform(InferShapes())
    model.set_tensor_datatype("x", DataType["INT8"])
    stack = np.full((3, 1, 6), 3.0 + 1e-5, np.float32)
    np.testing.assert_array_equal(Executor(model).run({"x": stack})["m1"], plain(model, stack))
    with pytest.raises(
        BuildError,
        match=r"^tensor 'x' is annotated as INT8, but holds a value that is 0\.5 from the nearest whole number$",
    ):
        Executor(model).run({"x": np.full((3, 1, 6), 3.5, np.float32)})


@pytest.mark.parametrize(
    ("datatype", "value", "text"),
    [
        ("INT6", 32, "32"),
        ("INT6", -33.00001, "-33"),
        ("UINT8", -1, "-1"),
        ("BIPOLAR", 0, "0"),
        ("TERNARY", 2, "2"),
        ("INT32", 2.0**33, "8589934592"),
        ("INT8", np.inf, "inf"),
        ("INT8", np.nan, "nan"),
    ],
)
def test_refuses_values_that_their_annotation_does_not_hold(datatype, value, text):
    from qonnx.core.datatype import DataType

    model = graphs.quant_mlp().transform(InferShapes())
    model.set_tensor_datatype("x", DataType[datatype])
    stack = np.ones((3, 1, 6), np.float32)
    stack[1, 0, 2] = value
    with pytest.raises(BuildError) as caught:
        Executor(model).run({"x": stack})
    assert str(caught.value) == f"tensor 'x' is annotated as {datatype}, but holds {text}"


@pytest.mark.parametrize(("bias", "moved"), [(0.0, False), (0.0, True), (-1.0, False)])
def test_counts_whose_offset_comes_later_are_annotated_as_what_they_become(bias, moved):
    from qonnx.core.datatype import DataType

    threshold = helper.make_node(
        "MultiThreshold", ["x", "t"], ["counts"], name="levels", domain="qonnx.custom_op.general",
        out_dtype="INT2", out_bias=bias,
    )  # fmt: skip
    nodes = [threshold, helper.make_node("Transpose", ["counts"], ["row"], name="move", perm=[1, 0])]
    values = [helper.make_tensor_value_info(name, 1, [1, 2]) for name in "xy"]
    nodes.append(helper.make_node("Add", ["row" if moved else "counts", "offset"], ["y"], name="add"))
    if moved:
        values[1] = helper.make_tensor_value_info("y", 1, [2, 1])
    model = ModelWrapper(helper.make_model(helper.make_graph(nodes, "signed", values[:1], values[1:])))
    model.set_initializer("t", np.asarray([[1, 2, 3]], np.float32))
    model.set_initializer("offset", np.asarray(-2, np.float32))
    model = model.transform(InferShapes())
    for name in ("counts", "row"):
        model.set_tensor_datatype(name, DataType["INT2"])
    stack = np.asarray([[[0, 9]]], np.float32)
    if bias == 0:
        assert Executor(model).run({"x": stack})["y"].ravel().tolist() == [-2, 1]
    else:
        with pytest.raises(BuildError, match=r"^tensor 'counts' is annotated as INT2, but holds 2$"):
            Executor(model).run({"x": stack})


def test_a_node_with_graphs_inside():
    from onnx import numpy_helper

    def branch(name, value):
        tensor = numpy_helper.from_array(np.full((1, 3), value, np.float32))
        node = helper.make_node("Constant", [], [name], value=tensor)
        return helper.make_graph([node], name, [], [helper.make_tensor_value_info(name, 1, [1, 3])])

    model = graphs.quant_mlp()
    model.graph.output[0].name = "y"
    model.set_initializer("zero", np.asarray(0, np.float32))
    model.graph.node.extend(
        [
            helper.make_node("ReduceSum", ["m1"], ["sum"], name="sum", keepdims=0),
            helper.make_node("Greater", ["sum", "zero"], ["flag"], name="greater"),
            helper.make_node(
                "If", ["flag"], ["y"], name="if", then_branch=branch("t", 1.0), else_branch=branch("e", 2.0)
            ),
        ]
    )
    model = model.transform(InferShapes())
    stack = graphs.samples(model)[:6, None]
    result = Executor(model).run({"x": stack})["y"]
    assert set(result.ravel()) == {1.0, 2.0}
    np.testing.assert_array_equal(result, plain(model, stack))


@pytest.mark.slow
def test_a_real_network_from_the_qonnx_wheel():
    folder = importlib.resources.files("qonnx") / "data/onnx/bsd300x3-espcn/subpixel"
    model = ModelWrapper(str(folder / "quant_model.onnx")).transform(InferShapes())
    name, out = model.graph.input[0].name, model.graph.output[0].name
    stack = np.random.default_rng(0).random((2, *model.get_tensor_shape(name))).astype(np.float32)
    expected = np.stack([execute_onnx(model, {name: sample})[out] for sample in stack])
    np.testing.assert_array_equal(Executor(model).run({name: stack})[out], expected)
