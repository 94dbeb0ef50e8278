"""FoldConstants: nodes of constants alone become initializers. That the graph computes the same is tested beside."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import ModelError
from brainsmith.testing.small_models import make_model, op_types
from brainsmith.transforms.fold_constants import FoldConstants


def folded(nodes, constants=None, outputs=("y",), **named):
    """Fold a graph with the input x of two rows and four columns."""
    model = make_model(nodes, {"x": (2, 4)}, list(outputs), constants, **named)
    return model.transform(FoldConstants())


def test_every_output_of_a_node_is_computed():
    nodes = [
        helper.make_node("Split", ["c"], ["a", "b"], axis=0),
        helper.make_node("Add", ["x", "a"], ["t"]),
        helper.make_node("Add", ["t", "b"], ["y"]),
    ]
    model = folded(nodes, {"c": np.float32([1, 2])}, opset=11)
    assert op_types(model) == ["Add", "Add"]
    assert [model.get_initializer(node.input[1]).tolist() for node in model.graph.node] == [[1], [2]]


def test_a_chain_is_computed_at_once_and_a_known_shape_is_constant():
    nodes = [
        helper.make_node("Shape", ["x"], ["dims"]),
        helper.make_node("Cast", ["dims"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceProd", ["numbers"], ["count"], keepdims=0),
        helper.make_node("Div", ["x", "count"], ["y"]),
    ]
    model = folded(nodes)
    assert op_types(model) == ["Div"]
    assert model.get_initializer(model.graph.node[0].input[1]) == 8


def test_quantisers_are_kept_unless_they_are_meant():
    quant = helper.make_node(
        "Quant", ["w", "scale", "zero", "bits"], ["q"], domain="qonnx.custom_op.general", signed=1, narrow=0,
        rounding_mode="ROUND",
    )  # fmt: skip
    constants = {
        "w": np.float32([-20, 1.4, 2.6, 20]),
        "scale": np.float32(1),
        "zero": np.float32(0),
        "bits": np.float32(4),
    }
    nodes = [quant, helper.make_node("Add", ["x", "q"], ["y"])]

    def model():
        made = make_model(nodes[1:], {"x": (2, 4), "q": (4,)}, ["y"], constants)
        made.graph.node.insert(0, quant)
        del made.graph.input[1]
        return made.transform(InferShapes())

    assert op_types(model().transform(FoldConstants())) == ["Quant", "Add"]
    after = model().transform(FoldConstants(exclude_op_types=[]))
    assert op_types(after) == ["Add"]
    assert after.get_initializer("q").tolist() == [-8, 1, 3, 7]


@pytest.mark.parametrize("op_type", ["RandomUniform", "RandomNormal"])
def test_what_is_random_is_not_computed(op_type):
    nodes = [helper.make_node(op_type, [], ["r"], shape=[4]), helper.make_node("Add", ["x", "r"], ["y"])]
    assert op_types(folded(nodes)) == [op_type, "Add"]


def test_an_output_of_the_graph_stays_one_of_a_node():
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["c"], ["z"])]
    assert op_types(folded(nodes, {"c": np.float32([1])}, ["y", "z"])) == ["Relu", "Neg"]


def test_a_node_that_cannot_be_computed_is_named():
    nodes = [
        helper.make_node("Reshape", ["c", "dims"], ["r"], name="impossible"),
        helper.make_node("Add", ["x", "r"], ["y"]),
    ]
    model = make_model(nodes, {"x": (2, 4)}, ["y"], {"c": np.float32([1, 2, 3, 4]), "dims": np.int64([4])})
    model.set_initializer("dims", np.int64([5]))
    with pytest.raises(ModelError) as caught:
        FoldConstants().apply(model)
    text = "node 'impossible' (Reshape) depends on constants alone, but cannot be computed: "
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)
