"""What tidies a graph changes nothing that it computes, whoever wrote the graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import ModelError
from brainsmith.plugins import transforms as tfm
from brainsmith.testing.small_models import make_model, op_types
from tests.transforms.graphs_of_others import graphs, inputs_of, malformed, outputs_of
from tests.transforms.quantised_nets import Net, every_integer, run

TIDYING = (
    "FoldConstants",
    "GiveReadableTensorNames",
    "GiveUniqueNodeNames",
    "GiveUniqueParameterTensors",
    "InferDataTypes",
    "InferShapes",
    "RemoveIdentityOps",
    "RemoveStaticGraphInputs",
    "RemoveUnusedTensors",
    "SortGraph",
)
OURS = (
    "FoldConstants",
    "GiveReadableTensorNames",
    "InferDataTypes",
    "RemoveIdentityOps",
    "RemoveUnusedTensors",
    "SortGraph",
)


@pytest.mark.parametrize("name", [*TIDYING, *(f"qonnx:{name}" for name in OURS)])
@settings(max_examples=25, deadline=None)
@given(model=graphs())
def test_the_graph_computes_the_same_before_and_after(name, model):
    expected = outputs_of(model)
    once = model.transform(tfm[name](), cleanup=False)
    assert malformed(once) == []
    for before, after in zip(expected, outputs_of(once), strict=True):
        assert before.shape == after.shape
        assert np.array_equal(before, after, equal_nan=True)
    twice = once.transform(tfm[name](), cleanup=False)
    assert twice.model.SerializeToString() == once.model.SerializeToString()


def chain(*nodes, constants=None, outputs=("y",), inputs=None):
    """Nodes in a row from x to y; each is an operator and its other inputs."""
    made = []
    for at, (op_type, *more) in enumerate(nodes):
        source = "x" if at == 0 else f"t{at - 1}"
        result = "y" if at == len(nodes) - 1 else f"t{at}"
        made.append(helper.make_node(op_type, [source, *more], [result], name=f"n{at}"))
    return make_model(made, inputs or {"x": (2, 4)}, list(outputs), constants)


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ("Add", np.float32(0)),
        ("Add", np.zeros((2, 4), np.float32)),
        ("Add", np.float32(-0.0)),
        ("Sub", np.zeros((1, 4), np.float32)),
        ("Mul", np.ones(4, np.float32)),
        ("Div", np.ones((), np.float32)),
        ("Pad", np.zeros(4, np.int64)),
    ],
)
def test_what_computes_nothing_is_removed(node, value):
    model = chain(("Relu",), (node, "c"), ("Relu",), constants={"c": value})
    after, modified = tfm.RemoveIdentityOps().apply(model)
    assert (modified, op_types(after)) == (True, ["Relu", "Relu"])


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ("Add", np.float32(1e-5)),  # the epsilon of a normalisation
        ("Add", np.float32(1e-40)),
        ("Mul", np.float32(1 + 2**-23)),
        ("Div", np.asarray([1, 1, 1, 1.000001], np.float32)),
        ("Add", np.zeros((3, 2, 4), np.float32)),  # makes three of one
        ("Pad", np.asarray([0, 0, 0, 1])),
    ],
)
def test_what_is_only_nearly_an_identity_stays(node, value):
    model = chain(("Relu",), (node, "c"), ("Relu",), constants={"c": value})
    after, modified = tfm.RemoveIdentityOps().apply(model)
    assert (modified, op_types(after)) == (False, ["Relu", node, "Relu"])


def quantised_twice(between, scale=0.25, **second):
    net = Net(1, 4).quant(0.25).node(between)
    return net.quant(scale, **second).model()


@pytest.mark.parametrize("between", ["Flatten", "Identity", "Squeeze"])
def test_a_quantiser_that_repeats_the_one_before_goes(between):
    model = quantised_twice(between)
    expected = run(model, every_integer(model))
    changed = model.transform(tfm.RemoveIdentityOps())
    assert op_types(changed).count("Quant") == 1
    np.testing.assert_array_equal(run(changed, every_integer(model)), expected)


@pytest.mark.parametrize(
    "model",
    [
        quantised_twice("Flatten", 0.5),
        quantised_twice("Flatten", [0.25, 0.25, 0.25, 0.25]),
        quantised_twice("Flatten", zero=1.0),
        quantised_twice("Flatten", bits=3),
        quantised_twice("Flatten", narrow=1),
        quantised_twice("Flatten", mode="FLOOR"),
        quantised_twice("Relu"),
    ],
)
def test_a_quantiser_behind_another_one_stays(model):
    assert op_types(model.transform(tfm.RemoveIdentityOps())).count("Quant") == 2


def test_a_tolerance_is_one_that_somebody_asked_for():
    model = chain(("Relu",), ("Add", "c"), ("Relu",), constants={"c": np.float32(1e-4)})
    for transform in (tfm.RemoveIdentityOps, tfm.qonnx.RemoveIdentityOps):
        assert op_types(model.transform(transform())) == ["Relu", "Add", "Relu"]
        assert op_types(model.transform(transform(atol=1e-3))) == ["Relu", "Relu"]


def test_a_constant_in_front_is_an_operand_too_where_the_order_does_not_matter():
    nodes = [helper.make_node(kind, ["one", "x"], [kind]) for kind in ("Mul", "Div")]
    nodes += [helper.make_node("Relu", [kind], [f"y{kind}"]) for kind in ("Mul", "Div")]
    model = make_model(nodes, {"x": (2, 4)}, ["yMul", "yDiv"], {"one": np.float32(1)})
    assert op_types(model.transform(tfm.RemoveIdentityOps())) == ["Div", "Relu", "Relu"]


def test_names_at_the_ends_of_the_graph_stay():
    model = chain(("Identity",), ("Relu",), ("Identity",))
    after = model.transform(tfm.RemoveIdentityOps())
    assert [(n.op_type, list(n.input), list(n.output)) for n in after.graph.node] == [("Relu", ["x"], ["y"])]
    alone = chain(("Identity",))
    assert op_types(alone.transform(tfm.RemoveIdentityOps())) == ["Identity"]


def test_an_annotation_that_only_the_removed_tensor_had_stays():
    model = chain(("Relu",), ("Identity",), ("Relu",))
    model.set_tensor_datatype("t1", DataType["UINT4"])
    after = model.transform(tfm.RemoveIdentityOps())
    assert after.get_tensor_datatype(after.graph.node[1].input[0]) == DataType["UINT4"]


def test_tensors_are_named_after_their_nodes():
    nodes = [
        helper.make_node("Mul", ["x", "c"], ["a"], name="Mul_0"),
        helper.make_node("Mul", ["a", "a"], ["b"], name="Mul_1"),
        helper.make_node("Add", ["b", "c"], ["d"], name="Add_0"),
        helper.make_node("Relu", ["d"], ["y"]),
    ]
    model = make_model(nodes, {"x": (2,)}, ["y", "b"], {"c": np.float32([3])})
    model.set_tensor_datatype("b", DataType["INT8"])
    after = model.transform(tfm.GiveReadableTensorNames(), cleanup=False)
    assert [(list(node.input), list(node.output)) for node in after.graph.node] == [
        (["global_in", "Mul_0_param0"], ["Mul_0_out0"]),
        (["Mul_0_out0", "Mul_0_out0"], ["global_out_1"]),
        (["global_out_1", "Mul_0_param0"], ["Add_0_out0"]),
        (["Add_0_out0"], ["global_out"]),
    ]
    assert after.get_tensor_datatype("global_out_1") == DataType["INT8"]


def test_an_initializer_that_is_a_graph_input_too_is_no_input():
    model = chain(("Add", "c"), constants={"c": np.float32([3])}, inputs={"c": (1,), "x": (2, 4)})
    assert [value.name for value in inputs_of(model.transform(tfm.GiveReadableTensorNames()))] == [
        "global_in"
    ]
    unused = chain(("Relu",), constants={"c": np.float32([3])}, inputs={"c": (1,), "x": (2, 4)})
    after = unused.transform(tfm.RemoveUnusedTensors(), cleanup=False)
    assert [value.name for value in after.graph.input] == ["x"]


def test_nodes_in_a_circle_are_refused():
    model = chain(("Add", "t1"), ("Relu",), ("Relu",), constants={"t9": np.float32(0)}, outputs=("y",))
    with pytest.raises(ModelError) as caught:
        model.transform(tfm.SortGraph())
    assert str(caught.value) == "the graph has a cycle: n0, n1"


def test_a_quantiser_behind_a_cycle_of_flattens_ends():
    model = chain(("Flatten",), ("Flatten",), ("Relu",), constants={"one": np.float32(1)})
    quant = helper.make_node("Quant", ["t0", *["one"] * 3], ["q"], domain="qonnx.custom_op.general")
    model.graph.node.append(quant)
    model.graph.node[0].input[0] = "t1"
    with pytest.raises(ModelError, match=r"^the graph has a cycle: n0, n1$"):
        tfm.RemoveIdentityOps().apply(model)


def test_what_is_connected_to_nothing_is_dropped_and_a_constant_output_is_not():
    nodes = [
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Constant", [], ["z"], value_float=1.0),
        helper.make_node("Constant", [], ["unread"], value_float=1.0),
    ]
    model = make_model(nodes, {"x": (2,)}, ["y", "z"])
    after = model.transform(tfm.SortGraph())
    assert [list(node.output) for node in after.graph.node] == [["y"], ["z"]]


def test_finns_streamline_keeps_a_product_of_a_tensor_with_itself():
    nodes = [
        helper.make_node("Mul", ["x", "c"], ["a"]),
        helper.make_node("Mul", ["a", "a"], ["b"]),
        helper.make_node("Add", ["b", "b"], ["y"]),
    ]
    model = make_model(nodes, {"x": (1, 4)}, ["y"], {"c": np.float32([3])})
    after = model.transform(tfm.finn.Streamline())
    assert malformed(after) == []
    for before, found in zip(outputs_of(model), outputs_of(ModelWrapper(after.model)), strict=True):
        np.testing.assert_array_equal(before, found)


MOVES = (
    "MoveAffinePastJoinConcat",
    "MoveLinearPastFork",
    "MoveTransposePastFork",
    "MoveTransposePastJoinAdd",
    "MoveTransposePastJoinConcat",
)
"""FINN's moves that the step streamline uses where there are branches."""


@pytest.mark.parametrize("name", MOVES)
@settings(max_examples=40, deadline=None)
@given(model=graphs())
def test_finns_moves_past_forks_and_joins_compute_the_same(name, model):
    model = model.transform(tfm.GiveUniqueParameterTensors())
    after = model.transform(tfm.finn[name]())
    assert malformed(after) == []
    for before, found in zip(outputs_of(model), outputs_of(after), strict=True):
        np.testing.assert_allclose(found, before, rtol=1e-5, atol=1e-5)


def test_finns_move_past_a_concat_of_one_tensor_ends():
    """FINN's own says each time that it moved something."""
    nodes = [
        helper.make_node("Add", ["x", "c"], ["a"]),
        helper.make_node("Concat", ["a", "a", "a"], ["y"], axis=1),
    ]
    model = make_model(nodes, {"x": (1, 4)}, ["y", "a"], {"c": np.float32([0])})
    after, modified = tfm.finn.MoveAffinePastJoinConcat().apply(model)
    assert (malformed(after), modified) == ([], False)
