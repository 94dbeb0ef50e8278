"""A dataflow partition's model takes the node's place."""

import numpy as np
import pytest
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import BuildError
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.store.reads import file_digest
from tests.build import graphs


@pytest.fixture
def parent(tmp_path):
    inner = graphs.quant_mlp().transform(InferShapes())
    inner.save(str(tmp_path / "inner.onnx"))
    nodes = [
        helper.make_node("Neg", ["image"], ["x"], name="first"),
        helper.make_node(
            "GenericPartition", ["x"], ["part"], name="p", domain="qonnx.custom_op.general",
            model=str(tmp_path / "inner.onnx"),
        ),
        helper.make_node("Neg", ["part"], ["y"], name="last"),
    ]  # fmt: skip
    shapes = {
        name: inner.get_tensor_shape(own)
        for name, own in (("image", "x"), ("x", "x"), ("part", "m1"), ("y", "m1"))
    }
    values = {name: helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()}
    graph = helper.make_graph(
        nodes, "parent", [values["image"]], [values["y"]], value_info=[values["x"], values["part"]]
    )
    return ModelWrapper(helper.make_model(graph))


def test_its_instructions_are_there_and_its_tensors_are_its_own(parent, tmp_path):
    program = lower(runnable_copy(parent))
    stack = graphs.samples(graphs.quant_mlp())[:, None]
    inner = lower(runnable_copy(graphs.quant_mlp())).run({"x": -stack})["m1"]
    found = program.run({"image": stack}, None)
    np.testing.assert_array_equal(found["y"], -inner)
    assert set(found) == {"image", "x", "part", "y"}
    assert program.files == {str(tmp_path / "inner.onnx"): file_digest(str(tmp_path / "inner.onnx"))}


def test_a_model_in_place_of_its_file(parent):
    other = graphs.quant_mlp().transform(InferShapes())
    other.graph.node[-1].op_type = "NoSuchOp"
    with pytest.raises(BuildError) as caught:
        lower(runnable_copy(parent), inner=other).run({"image": graphs.samples(other)[:2, None]})
    assert str(caught.value).startswith(
        "node 'p' (GenericPartition) cannot be executed: node 'matmul1' (NoSuchOp) cannot be executed: "
    )


def test_what_it_holds_is_checked(parent):
    inner = graphs.quant_mlp().transform(InferShapes())
    inner.set_tensor_datatype("x", DataType["INT4"])
    with pytest.raises(BuildError) as caught:
        lower(runnable_copy(parent), inner=inner).run({"image": np.full((2, 1, 6), 9, np.float32)})
    assert str(caught.value) == (
        "node 'p' (GenericPartition) cannot be executed: tensor 'x' is annotated as INT4, but holds -9"
    )


def test_a_file_that_is_not_there(parent, tmp_path):
    (tmp_path / "inner.onnx").unlink()
    with pytest.raises(BuildError, match=r"^node 'p' \(GenericPartition\) cannot be executed: .*inner\.onnx"):
        lower(runnable_copy(parent))


def scaled_by(factor, path):
    values = [helper.make_tensor_value_info(name, 1, [1, 2]) for name in ("x", "y")]
    scale = helper.make_tensor("scale", 1, [], [factor])
    node = helper.make_node("Mul", ["x", "scale"], ["y"], name="scaled")
    ModelWrapper(helper.make_model(helper.make_graph([node], "part", values[:1], values[1:], [scale]))).save(
        path
    )


def chain_of(*parts, name):
    """Return a model of partitions that all have one name, or none."""
    tensors = [f"t{at}" for at in range(len(parts) + 1)]
    nodes = [
        helper.make_node(
            "GenericPartition", [x], [y], name=name, domain="qonnx.custom_op.general", model=part
        )
        for x, y, part in zip(tensors, tensors[1:], parts, strict=False)
    ]
    values = [helper.make_tensor_value_info(tensor, 1, [1, 2]) for tensor in tensors]
    graph = helper.make_graph(nodes, "chain", values[:1], values[-1:], value_info=values[1:-1])
    return ModelWrapper(helper.make_model(graph))


@pytest.mark.parametrize("name", ["", "p"])
def test_partitions_of_one_name_have_their_own_tensors(name, tmp_path):
    parts = [str(tmp_path / f"by{factor}.onnx") for factor in (2, 3)]
    for factor, part in zip((2, 3), parts, strict=True):
        scaled_by(factor, part)
    program = lower(runnable_copy(chain_of(*parts, name=name)))
    assert program.run({"t0": np.ones((2, 1, 2), np.float32)})["t2"].tolist() == [[[6, 6]]] * 2


def test_a_relative_path_is_kept_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scaled_by(2, "part.onnx")
    program = lower(runnable_copy(chain_of("part.onnx", name="p")))
    assert program.files == {"part.onnx": file_digest("part.onnx")}
