"""A dataflow partition's model takes the node's place."""

import numpy as np
import pytest
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import BuildError
from brainsmith.execution.lowering.lower import lower
from brainsmith.execution.lowering.partitions import file_digest
from brainsmith.execution.lowering.runnable import runnable_copy
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
    assert program.files == {str(tmp_path / "inner.onnx"): file_digest(tmp_path / "inner.onnx")}


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
