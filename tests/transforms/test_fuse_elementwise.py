"""Elementwise operators become one node that computes the same; what others read stays."""

import subprocess
import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_datatypes import InferDataTypes
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith import ops
from brainsmith.autodiff import functional as F
from brainsmith.autodiff.compiling.expression import Expression
from brainsmith.autodiff.tape.tensor import Tensor, apply_op
from brainsmith.errors import OpError
from brainsmith.execution.execute import Executor
from brainsmith.testing.small_models import dangling, make_model, op_types
from brainsmith.testing.transform_laws import apply_once
from brainsmith.transforms.fuse_elementwise import FuseElementwise

X = np.random.default_rng(0).normal(0, 2, (2, 3, 4)).astype(np.float32)
FUSED = "fused_elementwise"


def node(op_type, inputs, output, **attributes):
    return helper.make_node(op_type, inputs, [output], name=output, **attributes)


def fused(nodes, constants=None, outputs=("y",), inputs=None):
    """Fuse a model, and compare it with the one before."""
    model = make_model(nodes, inputs or {"x": X.shape}, outputs, constants)
    after, modified = apply_once(FuseElementwise(), model)
    feed = {
        name: X[tuple(slice(size) for size in shape)] for name, shape in (inputs or {"x": X.shape}).items()
    }
    wanted, found = execute_onnx(model, feed), execute_onnx(after, feed)
    for name in outputs:
        np.testing.assert_allclose(found[name], wanted[name], rtol=2e-6, atol=2e-6)
        assert found[name].dtype == wanted[name].dtype
    assert modified == (FUSED in op_types(after))
    return after


def expression_of(model, at=0):
    found = [one for one in model.graph.node if one.op_type == FUSED][at]
    return Expression.from_text(found.attribute[0].s.decode())


@pytest.mark.slow
def test_a_chain_between_two_others_becomes_one_node():
    after = fused(
        [
            node("Transpose", ["x"], "t", perm=[0, 2, 1]),
            node("Mul", ["t", "half"], "a"),
            node("Tanh", ["a"], "b"),
            node("Add", ["b", "row"], "c"),
            node("Transpose", ["c"], "y", perm=[0, 2, 1]),
        ],
        {"half": np.float32(0.5), "row": np.arange(3, dtype=np.float32)},
    )
    assert op_types(after) == ["Transpose", FUSED, "Transpose"]
    (one,) = [one for one in after.graph.node if one.op_type == FUSED]
    assert (one.name, one.domain, list(one.input), list(one.output)) == (
        "c",
        "brainsmith.ops",
        ["t", "row"],
        ["c"],
    )
    assert expression_of(after).text == (
        "inputs = 2; t0 = multiply(x0, float32(0.5)); t1 = tanh(t0); t2 = add(t1, x1); return t2"
    )
    assert after.get_opset_imports() == {"": 17, "brainsmith.ops": 1}
    assert [constant.name for constant in after.graph.initializer] == ["row"]


@pytest.mark.slow
def test_a_graph_that_forks_and_joins_becomes_one_node():
    after = fused([node("Sigmoid", ["x"], "s"), node("Mul", ["x", "s"], "m"), node("Add", ["m", "s"], "y")])
    assert op_types(after) == [FUSED]


@pytest.mark.slow
def test_comparisons_and_what_combines_them_become_one_node():
    nodes = [
        node("Greater", ["x", "low"], "above"),
        node("Less", ["x", "high"], "below"),
        node("And", ["above", "below"], "inside"),
        node("Equal", ["x", "low"], "edge"),
        node("Or", ["inside", "edge"], "taken"),
        node("Where", ["taken", "x", "low"], "y"),
    ]
    assert op_types(fused(nodes, {"low": np.float32(-0.5), "high": np.float32(1)})) == [FUSED]


@pytest.mark.slow
def test_a_tensor_that_is_read_elsewhere_stays():
    after = fused(
        [
            node("Exp", ["x"], "e"),
            node("Neg", ["e"], "n"),
            node("Abs", ["n"], "a"),
            node("Sqrt", ["a"], "y"),
            node("Transpose", ["n"], "z", perm=[2, 1, 0]),
        ],
        outputs=("y", "z", "e"),
    )
    assert op_types(after) == ["Exp", "Neg", FUSED, "Transpose"]


@pytest.mark.slow
def test_what_broadcasts_later_is_computed_in_its_own_shape():
    after = fused(
        [
            node("Exp", ["r"], "e"),
            node("Neg", ["e"], "n"),
            node("Mul", ["x", "n"], "m"),
            node("Abs", ["m"], "y"),
        ],
        inputs={"x": X.shape, "r": (1, 3, 1)},
    )
    assert [list(one.output) for one in after.graph.node] == [["n"], ["y"]]


def test_what_is_no_function_of_single_elements_stays():
    nodes = [
        node("Softmax", ["x"], "a"),
        node("Relu", ["a"], "b"),
        node("ReduceSum", ["b"], "c", keepdims=1),
        node("Exp", ["c"], "y"),
    ]
    model = make_model(nodes, {"x": X.shape}, ["y"])
    assert apply_once(FuseElementwise(), model) == (model, False) or op_types(model) == [
        one.op_type for one in nodes
    ]


def test_integers_stay():
    nodes = [node("Div", ["x", "x"], "a"), node("Mul", ["a", "x"], "y")]
    model = make_model(nodes, {"x": (2, 3)}, ["y"], elem_type=TensorProto.INT32)
    assert apply_once(FuseElementwise(), model)[1] is False


@pytest.mark.slow
def test_all_functions_of_onnx_that_are_taken_agree():
    nodes = []
    ones = {
        "Abs": {}, "Neg": {}, "Relu": {}, "Tanh": {}, "Sigmoid": {}, "Erf": {}, "Round": {}, "Floor": {}, "Ceil": {},
        "Sign": {}, "Sin": {}, "Cos": {}, "Elu": {"alpha": 0.7}, "LeakyRelu": {"alpha": 0.2}, "Softplus": {},
        "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
    }  # fmt: skip
    parts = []
    for op_type, attributes in ones.items():
        nodes.append(node(op_type, ["x"], op_type, **attributes))
        nodes.append(node("Mul", [op_type, "scale"], f"{op_type}_scaled"))
        parts.append(f"{op_type}_scaled")
    nodes.append(node("Abs", ["x"], "positive"))
    nodes.append(node("Max", ["positive", "small"], "above"))
    for op_type in ("Log", "Sqrt", "Reciprocal"):
        nodes.append(node(op_type, ["above"], op_type))
        parts.append(op_type)
    nodes += [
        node("Clip", ["x", "low", ""], "Clip"),
        node("Clip", ["x", "low", "high"], "Clip2"),
        node("Pow", ["above", "scale"], "Pow"),
        node("Greater", ["x", "low"], "is_high"),
        node("Not", ["is_high"], "is_low"),
        node("Where", ["is_low", "x", "above"], "Where"),
        node("Min", ["x", "high"], "Min"),
        node("Div", ["x", "above"], "Div"),
        node("Sub", ["x", "above"], "Sub"),
        node("Sum", [*parts, "Clip", "Clip2", "Pow", "Where", "Min", "Div", "Sub"], "y"),
    ]
    numbers = {"scale": 1.5, "small": 0.25, "low": -0.5, "high": 0.75}
    after = fused(nodes, {name: np.float32(value) for name, value in numbers.items()})
    assert op_types(after) == [FUSED]


@pytest.mark.slow
def test_an_op_is_fused_with_what_is_around_it_and_is_needed_no_more(tmp_path):
    ops.register_example_custom_ops()
    x = Tensor(X[:1])
    y = ops.execute_custom_op("swish", [x * 2]) + 1
    model = ops.export_onnx({"y": y}, {"x": x})
    after, modified = FuseElementwise().apply(model)
    ops.save_model(after, tmp_path / "m.onnx")
    assert (modified, op_types(after)) == (True, [FUSED])
    assert ops.check_ops(after) == []
    program = (
        "import sys, numpy as np\n"
        "from qonnx.core.modelwrapper import ModelWrapper\n"
        "from qonnx.core.onnx_exec import execute_onnx\n"
        "model = ModelWrapper(sys.argv[1])\n"
        "np.save(sys.argv[3], execute_onnx(model, {'x': np.load(sys.argv[2])})['y'])\n"
    )
    np.save(tmp_path / "x.npy", x.numpy())
    paths = [str(tmp_path / name) for name in ("m.onnx", "x.npy", "y.npy")]
    done = subprocess.run(
        [sys.executable, "-c", program, *paths], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), y.numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_an_op_that_reduces_stays():
    ops.register_example_custom_ops()
    x = Tensor(X[0])
    y = ops.execute_custom_op(
        "layer_norm", [apply_op(ops.get_custom_op("mish"), [x]), np.float32(1), np.float32(0)]
    )
    model = ops.export_onnx({"y": y}, {"x": x})
    after, modified = FuseElementwise().apply(model)
    assert (modified, op_types(after)) == (False, ["mish", "layer_norm"])


@pytest.mark.slow
def test_it_runs_in_stacks_and_its_shapes_and_datatypes_are_inferred():
    nodes = [node("Mul", ["x", "c"], "a"), node("Floor", ["a"], "y")]
    model = make_model(nodes, {"x": (1, 3, 4)}, ["y"], {"c": np.ones((3, 1), np.float32) * 2})
    after, _ = FuseElementwise().apply(ModelWrapper(model.model, make_deepcopy=True))
    stack = np.stack([X[:1], X[1:], X[:1] + 1])
    np.testing.assert_array_equal(Executor(after).run({"x": stack})["y"], np.floor(2 * stack))
    after.graph.output[0].type.tensor_type.ClearField("shape")
    inferred = after.transform(InferShapes()).transform(InferDataTypes())
    assert inferred.get_tensor_shape("y") == [1, 3, 4]
    assert inferred.get_tensor_datatype("y").name == "FLOAT32"


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["Add", "Mul", "Sub", "Max", "Neg", "Abs", "Tanh", "Relu", "Sigmoid", "Transpose"]),
        st.integers(0, 9),
        st.integers(0, 9),
    ),
    min_size=2,
    max_size=9,
)


@pytest.mark.compiles
@settings(max_examples=40, deadline=None)
@given(steps=STEPS, kept=st.sets(st.integers(1, 9)))
def test_a_fused_graph_computes_the_same(steps, kept):
    nodes, names = [], ["x"]
    for at, (op_type, first, second) in enumerate(steps):
        operands = [names[first % len(names)]]
        if op_type in ("Add", "Mul", "Sub", "Max"):
            operands.append([*names, "row", "half"][second % (len(names) + 2)])
        attributes = {"perm": [0, 1]} if op_type == "Transpose" else {}
        nodes.append(node(op_type, operands, f"v{at}", **attributes))
        names.append(f"v{at}")
    outputs = sorted({names[-1], *(names[at] for at in kept if at < len(names))})
    constants = {"row": np.float32([0.5, -1, 2]), "half": np.float32([0.5])}
    model = make_model(nodes, {"x": (2, 3)}, outputs, constants)
    # ONNX's own inference does not know the new nodes, so what is declared behind them is not compared with it.
    after, modified = FuseElementwise().apply(ModelWrapper(model.model, make_deepcopy=True))
    assert modified == (FUSED in op_types(after))
    assert FuseElementwise().apply(ModelWrapper(after.model, make_deepcopy=True))[1] is False
    assert dangling(after) == dangling(model)
    wanted, found = execute_onnx(model, {"x": X[0, :2, :3]}), execute_onnx(after, {"x": X[0, :2, :3]})
    for name in outputs:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "node 'y' (fused_elementwise) has no attribute 'expression'"),
        (
            {"expression": "inputs = 2; t0 = add(x0, x1); return t0"},
            "node 'y' (fused_elementwise) has 1 input and 1 output, its expression 2 and 1",
        ),
        (
            {"expression": "inputs = 1; t0 = system(x0); return t0"},
            "node 'y' (fused_elementwise): the text of an expression must have a call of a known function as step 0: "
            "'inputs = 1; t0 = system(x0); return t0'",
        ),
    ],
)
def test_a_node_that_is_none_is_said(attributes, message):
    made = node(FUSED, ["x"], "y", domain="brainsmith.ops", **attributes)
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    graph = helper.make_graph(
        [made], "g", [value], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])]
    )
    with pytest.raises(OpError) as raised:
        execute_onnx(ModelWrapper(helper.make_model(graph)), {"x": X[0, 0, :2]})
    assert str(raised.value) == message


@pytest.mark.slow
def test_softplus_of_the_infinities_is_what_it_tends_to():
    x = np.float32([-np.inf, -1, 0, 1, np.inf, np.nan])
    model = make_model([node("Softplus", ["x"], "s"), node("Neg", ["s"], "y")], {"x": (6,)}, ["y"])
    after, _ = apply_once(FuseElementwise(), model)
    found = execute_onnx(after, {"x": x})["y"]
    np.testing.assert_allclose(
        found, -np.float32([0, 0.3132617, 0.6931472, 1.3132617, np.inf, np.nan]), rtol=1e-6
    )


@pytest.mark.slow
def test_a_power_has_the_type_of_its_base():
    nodes = [
        node("Pow", ["x", "p"], "a"),
        node("Tanh", ["a"], "b"),
        node("MatMul", ["b", "w"], "y"),
    ]
    constants = {"p": np.float64(3), "w": np.ones((4, 2), np.float32)}
    fused(nodes, constants)


@pytest.mark.slow
def test_an_op_in_a_fused_graph_keeps_to_its_rule_of_dtype():
    wide = ops.CustomOpBuilder("wide", 1).forward(lambda inputs: inputs[0] * np.float64(1.7)).build()
    ops.register_custom_op(wide)
    try:
        x = Tensor(X)
        y = F.matmul(F.tanh(apply_op(wide, [x])), Tensor(np.ones((4, 2), np.float32)))
        model = ops.export_onnx({"y": y}, {"x": x})
        after, modified = apply_once(FuseElementwise(), model)
    finally:
        ops.unregister_custom_op("wide")
    found = execute_onnx(after, {"x": X})["y"]
    assert (modified, FUSED in op_types(after), found.dtype) == (True, True, np.float32)
    np.testing.assert_allclose(found, y.numpy(), rtol=2e-6, atol=2e-6)


def test_a_float16_constant_of_one_element_is_an_input():
    half = TensorProto.FLOAT16
    graph = helper.make_graph(
        [node("Mul", ["x", "c"], "a"), node("Abs", ["a"], "y")],
        "half",
        [helper.make_tensor_value_info("x", half, [3])],
        [helper.make_tensor_value_info("y", half, [3])],
        [numpy_helper.from_array(np.float16([1.5]), "c")],
    )
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    after, modified = apply_once(FuseElementwise(), model.transform(InferShapes()))
    assert (modified, op_types(after)) == (True, [FUSED])
    found = execute_onnx(after, {"x": np.float16([-1, 0, 2])})["y"]
    np.testing.assert_array_equal(found, np.float16([1.5, 0, 3]))


@pytest.mark.slow
def test_a_long_chain_becomes_several_nodes_and_stays_so():
    names = ["x", *(f"t{at}" for at in range(598)), "y"]
    nodes = [node("Abs" if at % 2 else "Neg", [names[at]], names[at + 1]) for at in range(599)]
    model = make_model(nodes, {"x": X.shape}, ("y",))
    after = model.transform(FuseElementwise())
    assert op_types(after) == [FUSED] * 3
