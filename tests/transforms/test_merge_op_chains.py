"""MergeOpChains: the chain is one operator, and the function is what it was."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.testing.small_models import make_model, op_types
from brainsmith.testing.transform_laws import apply_once, check_same_function
from brainsmith.transforms.merge_op_chains import MergeOpChains

EPS = np.finfo(np.float32).eps
FINITE = st.floats(0.125, 8, width=32) | st.floats(-8, -0.125, width=32)


def numbers(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def chain(op_type, shape, constants, swap=(), outputs=("y",), elem_type=TensorProto.FLOAT):
    """Make x op c0 op c1 ...; the tensors in between are t0, t1, ..., the last one is y."""
    nodes, name = [], "x"
    for place in range(len(constants)):
        output = "y" if place == len(constants) - 1 else f"t{place}"
        inputs = [f"c{place}", name] if place in swap else [name, f"c{place}"]
        nodes.append(helper.make_node(op_type, inputs, [output], name=f"n{place}"))
        name = output
    values = {f"c{place}": value for place, value in enumerate(constants)}
    return make_model(nodes, {"x": shape}, outputs, values, elem_type=elem_type)


@settings(max_examples=80, deadline=None)
@given(
    data=st.data(),
    op_type=st.sampled_from(["Mul", "Add"]),
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=4, min_dims=0, max_dims=3, max_side=3),
)
def test_arithmetic_of_any_shape(data, op_type, shapes):
    x_shape, *c_shapes = shapes.input_shapes
    assume(x_shape)
    constants = [data.draw(hnp.arrays(np.float32, shape, elements=FINITE)) for shape in c_shapes]
    swap = data.draw(st.sets(st.integers(0, 2)))
    model = chain(op_type, x_shape, constants, swap)
    feeds = {"x": numbers(x_shape)}
    # Three operators: 2 units in the last place for each merge; sums of 8 + 8 + 8 and a small x bound the
    # addends.
    tolerance = {"rtol": 4 * EPS} if op_type == "Mul" else {"atol": 4 * EPS * 32}
    after, modified = check_same_function(MergeOpChains(), model, feeds, **tolerance)
    assert modified == (len(after.graph.node) < 3)
    grows = [
        np.broadcast_shapes(*c_shapes[:2]) not in c_shapes[:2],
        np.broadcast_shapes(*c_shapes[1:]) not in c_shapes[1:],
    ]
    if not any(grows):
        assert len(after.graph.node) <= 2
    np.testing.assert_allclose(execute_onnx(after, feeds)["y"], execute_onnx(model, feeds)["y"], **tolerance)


@settings(max_examples=40, deadline=None)
@given(
    op_type=st.sampled_from(["Mul", "Add"]),
    values=st.lists(st.integers(-(2**31), 2**31 - 1), min_size=2, max_size=5),
    x=hnp.arrays(np.int32, (2, 3)),
)
def test_integers_wrap_exactly(op_type, values, x):
    model = chain(op_type, (2, 3), [np.asarray([v], np.int32) for v in values], elem_type=TensorProto.INT32)
    after, modified = check_same_function(MergeOpChains(), model, {"x": x})
    assert (modified, op_types(after)) == (True, [op_type])


def test_a_long_chain_becomes_one():
    model = chain("Mul", (2, 3), [np.float32([2]), np.float32([0.5, 1, 2]), np.float32(4), np.float32([[3]])])
    after, _ = check_same_function(MergeOpChains(), model, {"x": numbers((2, 3))}, rtol=6 * EPS)
    assert op_types(after) == ["Mul"]
    assert [node.name for node in after.graph.node] == ["n3"]
    np.testing.assert_array_equal(after.get_initializer(after.graph.node[0].input[1]), [[12, 24, 48]])


def test_constants_that_would_grow_into_a_matrix_stay():
    model = chain("Mul", (4, 4), [numbers((1, 4)), numbers((4, 1))])
    assert apply_once(MergeOpChains(), model)[1] is False


def test_a_constant_that_grows_the_data_is_merged():
    model = chain("Mul", (1, 3), [numbers((4, 1)), numbers((4, 3))])
    after, modified = check_same_function(MergeOpChains(), model, {"x": numbers((1, 3))}, rtol=2 * EPS)
    assert (modified, after.get_tensor_shape("y")) == (True, [4, 3])


@pytest.mark.parametrize(
    ("op_type", "values"), [("Mul", (1e30, 1e30)), ("Mul", (1e-30, 1e-12)), ("Add", (3e38, 3e38))]
)
def test_constants_that_leave_the_range_stay(op_type, values):
    model = chain(op_type, (2,), [np.float32([v]) for v in values])
    assert apply_once(MergeOpChains(), model)[1] is False


def test_a_later_constant_can_bring_an_earlier_one_back_into_range():
    model = chain("Mul", (2,), [np.float32([1e-30]), np.float32([1e-12]), np.float32([1e12])])
    after, modified = check_same_function(MergeOpChains(), model, {"x": np.float32([1e8, 3e9])}, rtol=4 * EPS)
    assert (modified, op_types(after)) == (True, ["Mul"])


def test_a_zero_factor_is_merged():
    model = chain("Mul", (2,), [np.float32([0, 1]), np.float32([3])])
    assert apply_once(MergeOpChains(), model)[1] is True


@settings(max_examples=30, deadline=None)
@given(op_type=st.sampled_from(["Mul", "Add"]), length=st.integers(2, 5), data=st.data())
def test_graph_outputs_in_between_stay(op_type, length, data):
    kept = data.draw(st.sets(st.integers(0, length - 2)))
    constants = [np.float32([value + 1.5]) for value in range(length)]
    model = chain(op_type, (2, 3), constants, outputs=[f"t{place}" for place in kept] + ["y"])
    after, _ = check_same_function(
        MergeOpChains(), model, {"x": numbers((2, 3))}, rtol=16 * EPS, atol=16 * EPS
    )
    assert len(after.graph.node) == len(kept) + 1


def test_a_fork_stays_and_its_branches_are_merged():
    nodes = [
        helper.make_node("Mul", ["x", "a"], ["t"]),
        helper.make_node("Mul", ["t", "b"], ["u"]),
        helper.make_node("Mul", ["u", "a"], ["y"]),
        helper.make_node("Mul", ["t", "a"], ["z"]),
    ]
    model = make_model(nodes, {"x": (2, 3)}, ["y", "z"], {"a": np.float32([3]), "b": np.float32([7])})
    after, modified = check_same_function(MergeOpChains(), model, {"x": numbers((2, 3))}, rtol=2 * EPS)
    assert (modified, len(after.graph.node)) == (True, 3)
    assert sorted(tensor.name for tensor in after.graph.initializer) == ["a", "a_merged"]


def test_a_square_is_no_chain():
    nodes = [helper.make_node("Mul", ["x", "a"], ["t"]), helper.make_node("Mul", ["t", "t"], ["y"])]
    model = make_model(nodes, {"x": (2,)}, ["y"], {"a": np.float32([3])})
    assert apply_once(MergeOpChains(), model)[1] is False


def test_two_operators_with_the_same_constant():
    nodes = [helper.make_node("Add", ["x", "a"], ["t"]), helper.make_node("Add", ["a", "t"], ["y"])]
    model = make_model(nodes, {"x": (2,)}, ["y"], {"a": np.float32([3])})
    after, _ = check_same_function(MergeOpChains(), model, {"x": numbers((2,))}, atol=8 * EPS)
    assert [tensor.name for tensor in after.graph.initializer] == ["a_merged"]


@pytest.mark.parametrize(
    ("op_type", "values", "datatype"),
    [
        ("Mul", ([3, -2], [2, 2]), "INT4"),
        ("Mul", ([3, 2], [5, 2]), "UINT4"),
        ("Mul", ([-3, 30], [1, 10]), "INT10"),
        ("Add", ([1, 0], [0, 0]), "BINARY"),
        ("Add", ([1, 1], [-2, -2]), "INT1"),
    ],
)
def test_integer_annotations_combine(op_type, values, datatype):
    model = chain(op_type, (2,), [np.asarray(value, np.float32) for value in values])
    for name in ("c0", "c1"):
        model.set_tensor_datatype(name, DataType["INT8"])
    for name in ("x", "t0", "y"):
        model.set_tensor_datatype(name, DataType["INT16"])
    after, _ = check_same_function(MergeOpChains(), model, {"x": np.float32([5, -7])})
    constant = after.graph.node[0].input[1]
    assert after.get_tensor_datatype(constant) == DataType[datatype]
    assert after.get_tensor_datatype("y") == DataType["INT16"]
    assert all(DataType[datatype].allowed(value) for value in after.get_initializer(constant))


def test_a_float_constant_makes_the_combination_float():
    model = chain("Mul", (2,), [np.float32([2]), np.float32([0.3])])
    model.set_tensor_datatype("c0", DataType["INT4"])
    after, _ = apply_once(MergeOpChains(), model)
    assert after.get_tensor_datatype(after.graph.node[0].input[1]) == DataType["FLOAT32"]


def test_element_types_that_cannot_be_combined_here_stay():
    model = chain("Mul", (2,), [np.float32([2]), np.float32([3])], elem_type=TensorProto.FLOAT)
    for tensor in model.graph.initializer:
        tensor.CopyFrom(helper.make_tensor(tensor.name, TensorProto.BFLOAT16, [1], [2.0]))
    assert MergeOpChains().apply(model)[1] is False


def reshapes(shape, first, second, allowzero=(0, 0)):
    nodes = [
        helper.make_node("Reshape", ["x", "a"], ["t"], allowzero=allowzero[0]),
        helper.make_node("Reshape", ["t", "b"], ["y"], allowzero=allowzero[1]),
    ]
    constants = {"a": np.asarray(first, np.int64), "b": np.asarray(second, np.int64)}
    return make_model(nodes, {"x": shape}, ["y"], constants)


@st.composite
def shape_for(draw, shape):
    """Draw a shape to reshape this one to: a factorisation, with 0 and -1 where they may stand."""
    size, lengths = int(np.prod(shape)), []
    while size > 1 and len(lengths) < 3:
        length = draw(st.sampled_from([d for d in range(1, size + 1) if size % d == 0]))
        lengths.append(length)
        size //= length
    lengths.append(size)
    concrete, stated = tuple(lengths), list(lengths)
    for place, length in enumerate(lengths):
        if place < len(shape) and shape[place] == length and draw(st.booleans()):
            stated[place] = 0
    if draw(st.booleans()):
        stated[draw(st.integers(0, len(stated) - 1))] = -1
    return stated, concrete


@settings(max_examples=150, deadline=None)
@given(data=st.data(), shape=st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_reshapes_with_copied_and_inferred_dimensions(data, shape):
    first, between = data.draw(shape_for(shape))
    second, last = data.draw(shape_for(between))
    model = reshapes(shape, first, second)
    after, modified = check_same_function(MergeOpChains(), model, {"x": numbers(shape)})
    assert (modified, op_types(after)) == (True, ["Reshape"])
    assert tuple(after.get_tensor_shape("y")) == last


def test_a_copied_dimension_that_is_not_known_stays():
    model = reshapes(("n", 6), [-1, 3], [0, 3, 1])
    after, modified = MergeOpChains().apply(model)
    assert (modified, op_types(after)) == (False, ["Reshape", "Reshape"])


def test_a_dynamic_batch_is_kept():
    model = reshapes(("n", 6), [0, 2, 3], [0, 6])
    after, modified = MergeOpChains().apply(model)
    assert (modified, after.get_initializer("b").tolist()) == (True, [0, 6])
    assert after.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "n"


@pytest.mark.parametrize("allowzero", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_empty_tensors(allowzero):
    first = [3, 0] if allowzero[0] else [0, 3]
    second = [0, 5] if allowzero[1] else [3, 0] if allowzero[0] else [0, 1, 3]
    _, modified = check_same_function(
        MergeOpChains(), reshapes((0, 3), first, second, allowzero), {"x": numbers((0, 3))}
    )
    assert modified == (allowzero != (1, 0))


def test_a_fork_between_reshapes_stays():
    nodes = [
        helper.make_node("Reshape", ["x", "a"], ["t"]),
        helper.make_node("Reshape", ["t", "b"], ["y"]),
        helper.make_node("Relu", ["t"], ["z"]),
    ]
    constants = {"a": np.asarray([6], np.int64), "b": np.asarray([3, 2], np.int64)}
    assert apply_once(MergeOpChains(), make_model(nodes, {"x": (2, 3)}, ["y", "z"], constants))[1] is False


@settings(max_examples=60, deadline=None)
@given(data=st.data(), rank=st.integers(1, 5))
def test_transposes_compose(data, rank):
    perms = data.draw(st.lists(st.none() | st.permutations(range(rank)), min_size=2, max_size=4))
    names = ["x", *(f"t{place}" for place in range(1, len(perms))), "y"]
    nodes = [
        helper.make_node("Transpose", [source], [output], **({"perm": perm} if perm else {}))
        for source, output, perm in zip(names[:-1], names[1:], perms, strict=True)
    ]
    shape = tuple(range(2, 2 + rank))
    after, modified = check_same_function(
        MergeOpChains(), make_model(nodes, {"x": shape}, ["y"]), {"x": numbers(shape)}
    )
    assert (modified, op_types(after)) == (True, ["Transpose"])


def test_the_inner_reader_of_a_branch_keeps_the_chain():
    branch = helper.make_graph(
        [helper.make_node("Identity", ["t0"], ["inner"])],
        "branch",
        [],
        [helper.make_tensor_value_info("inner", TensorProto.FLOAT, [2])],
    )
    model = chain("Mul", (2,), [np.float32([3]), np.float32([5])])
    model.set_initializer("choice", np.asarray(True))
    model.graph.node.append(helper.make_node("If", ["choice"], ["z"], then_branch=branch, else_branch=branch))
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [2]))
    assert apply_once(MergeOpChains(), model)[1] is False
