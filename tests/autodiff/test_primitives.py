"""Every primitive: equal to numpy, its rules true, its gradient the derivative, in many shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.autodiff.calls import call_op, promised
from brainsmith.autodiff.checking.gradcheck import gradcheck
from brainsmith.autodiff.functional import erf
from brainsmith.autodiff.op import attributes_of
from brainsmith.autodiff.primitives import elementwise as e
from brainsmith.autodiff.primitives import gathers as c
from brainsmith.autodiff.primitives import movements as s
from brainsmith.autodiff.primitives import normalisations as n
from brainsmith.autodiff.primitives import products as p
from brainsmith.autodiff.primitives.elementwise import ELEMENTWISE as E
from brainsmith.autodiff.primitives.onnx_form import OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive, sum_to
from brainsmith.autodiff.primitives.reductions import REDUCTIONS as R
from brainsmith.errors import GradientError, OpError
from brainsmith.ops import compile_op

FEW = settings(max_examples=15, deadline=None)
SIZES = st.lists(st.integers(1, 3), min_size=0, max_size=3)
REAL = (-2.0, 2.0)
POSITIVE = (0.3, 3.0)

UNARY = [
    (E["neg"], np.negative, REAL),
    (E["exp"], np.exp, REAL),
    (E["expm1"], np.expm1, REAL),
    (E["log"], np.log, POSITIVE),
    (E["log1p"], np.log1p, POSITIVE),
    (E["sqrt"], np.sqrt, POSITIVE),
    (E["abs"], np.abs, REAL),
    (E["sin"], np.sin, REAL),
    (E["cos"], np.cos, REAL),
    (E["tanh"], np.tanh, REAL),
    (E["sigmoid"], lambda x: 1 / (1 + np.exp(-x)), REAL),
    (E["erf"], erf, REAL),
    (E["relu"], lambda x: np.maximum(x, 0), REAL),
]
BINARY = [
    (E["add"], np.add, REAL),
    (E["sub"], np.subtract, REAL),
    (E["mul"], np.multiply, REAL),
    (E["div"], np.divide, POSITIVE),
    (E["pow"], np.power, POSITIVE),
    (E["maximum"], np.maximum, REAL),
    (E["minimum"], np.minimum, REAL),
]
WITHOUT = [E["round"], E["floor"], E["sign"], c.ARGMAX, E["greater"], E["less_equal"], E["logical_not"]]


def ids(cases):
    return [case[0].name for case in cases]


def drawn(seed, shape, between):
    return np.random.default_rng(seed).uniform(*between, shape)


@st.composite
def broadcasting(draw):
    """Two shapes that broadcast, either of which may be shorter or have ones."""
    whole = draw(SIZES)
    return [
        tuple(draw(st.sampled_from([size, 1])) for size in whole)[draw(st.integers(0, len(whole))) :]
        for _ in "ab"
    ]


def check(op, inputs, expected, **attributes):
    """The op gives what numpy gives, in the shape and dtype that its rules say, and has that gradient."""
    found = call_op(op, inputs, attributes)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    shapes, dtypes = [x.shape for x in inputs], [x.dtype for x in inputs]
    assert promised(op, shapes, dtypes, attributes_of(op, attributes)) == ((found.shape,), (found.dtype,))
    if op.has_gradient and found.size:
        try:
            gradcheck(op, inputs, attributes=attributes)
        except GradientError as error:  # all that was drawn lies at a kink
            assert "could not be checked" in str(error)


@pytest.mark.parametrize(("op", "expected", "between"), UNARY, ids=ids(UNARY))
@FEW
@given(seed=st.integers(0, 99), shape=SIZES)
def test_an_elementwise_function_of_one_input(op, expected, between, seed, shape):
    x = drawn(seed, shape, between)
    check(op, [x], expected(x))


@pytest.mark.parametrize(("op", "expected", "between"), BINARY, ids=ids(BINARY))
@FEW
@given(seed=st.integers(0, 99), shapes=broadcasting())
def test_an_elementwise_function_of_two_inputs_that_broadcast(op, expected, between, seed, shapes):
    a, b = drawn(seed, shapes[0], between), drawn(seed + 1000, shapes[1], between)
    check(op, [a, b], expected(a, b))


@pytest.mark.parametrize("op", [case[0] for case in UNARY + BINARY], ids=ids(UNARY + BINARY))
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_dtypes_are_those_of_numpy(op, dtype):
    x = np.ones((2,), dtype)
    (shape,), (kind,) = promised(op, [x.shape] * op.num_inputs, [x.dtype] * op.num_inputs, {})
    found = call_op(op, [x] * op.num_inputs)
    assert (found.shape, found.dtype) == (shape, kind)


@pytest.mark.parametrize("op", WITHOUT, ids=lambda op: op.name)
def test_a_step_function_has_no_gradient_and_says_so(op):
    assert not op.has_gradient
    inputs = [np.ones(2)] * op.num_inputs
    with pytest.raises(GradientError) as caught:
        op.create_gradient_function(inputs, np.ones(2))
    assert (
        str(caught.value)
        == f"operation '{op.name}' has no gradient: its derivative is zero almost everywhere"
    )


def test_equal_elements_share_a_gradient():
    x = np.array([1.0, 2.0])
    for op in (E["maximum"], E["minimum"]):
        found = op.backward(np.array([1.0, 1.0]), (x, x), x)
        assert [g.tolist() for g in found] == [[0.5, 0.5], [0.5, 0.5]]
    tied = np.array([3.0, 3.0, 1.0])
    (found,) = R["max"].backward(np.array(1.0), (tied,), np.array(3.0), axis=None, keepdims=False)
    assert found.tolist() == [0.5, 0.5, 0.0]


def test_the_sigmoid_of_large_numbers_is_exact_and_warns_of_nothing():
    x = np.array([-1000.0, -50.0, 0.0, 50.0, 1000.0], np.float32)
    found = call_op(E["sigmoid"], [x])
    assert found.tolist() == [0.0, pytest.approx(1.9287498e-22), 0.5, 1.0, 1.0]


@pytest.mark.parametrize(("base", "exponent"), [(0.0, 2.0), (-2.0, 2.0), (-1.5, 3.0)])
def test_a_power_of_a_base_that_has_no_logarithm(base, exponent):
    x, y = np.array([base]), np.array([exponent])
    with np.errstate(all="ignore"):
        found = E["pow"].backward(np.ones(1), (x, y), x**y)
    assert found[0].tolist() == [exponent * base ** (exponent - 1)]
    assert found[1].tolist() == [0.0] if base == 0 else np.isnan(found[1]).all()


@pytest.mark.parametrize("exponent", [np.array(0.0), np.array([0.0, 0.0])])
def test_a_power_of_nought_is_flat_in_its_base(exponent):
    x = np.array([0.0, -3.0])
    with np.errstate(all="ignore"):
        found = E["pow"].backward(np.ones(2), (x, exponent), x**exponent)
    assert found[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("exponent", [2.0, 3.0, -1.0, 0.5, 1.0, 0.0, 2.5])
def test_one_exponent_for_all(exponent):
    x = drawn(1, (2, 3), POSITIVE)
    check(E["pow"], [x, np.array(exponent)], x**exponent)


REDUCED = [(R["sum"], np.sum), (R["mean"], np.mean), (R["max"], np.max), (R["min"], np.min)]


@pytest.mark.parametrize(("op", "expected"), REDUCED, ids=ids(REDUCED))
@FEW
@given(seed=st.integers(0, 99), shape=SIZES, keepdims=st.booleans(), data=st.data())
def test_a_reduction(op, expected, seed, shape, keepdims, data):
    x = drawn(seed, shape, REAL)
    axes = st.lists(st.integers(-len(shape), len(shape) - 1), unique_by=lambda a: a % len(shape)).map(tuple)
    axis = data.draw(st.none() | (axes | st.integers(-len(shape), len(shape) - 1) if shape else st.none()))
    check(op, [x], expected(x, axis=axis, keepdims=keepdims), axis=axis, keepdims=keepdims)


PRODUCTS = [
    ((2, 3), (3, 4)), ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)), ((0, 3), (3, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), PRODUCTS)
def test_a_matrix_product(left, right):
    a, b = drawn(1, left, REAL), drawn(2, right, REAL)
    if a.size:
        check(p.MATMUL, [a, b], np.matmul(a, b))
    else:
        found = p.MATMUL.backward(np.ones((0, 2)), (a, b), a @ b)
        assert [g.shape for g in found] == [left, right]
        assert not found[1].any()


X = drawn(5, (2, 3, 4), REAL)
MOVED = [
    (s.RESHAPE, X.reshape(6, 4), {"shape": (6, -1)}),
    (s.TRANSPOSE, X.T, {}),
    (s.TRANSPOSE, X.transpose(1, 2, 0), {"axes": (1, -1, 0)}),
    (s.SLICE, X[1:, :, ::-2], {"starts": (1, 3), "stops": (2, None), "axes": (0, 2), "steps": (1, -2)}),
    (s.EXPAND_DIMS, X[:, None, :, :, None], {"axis": (1, 4)}),
    (s.EXPAND, np.broadcast_to(X, (5, 2, 3, 4)), {"shape": (5, 2, 3, 4)}),
    (s.PAD, np.pad(X, ((0, 0), (1, 2), (3, 0))), {"widths": ((0, 0), (1, 2), (3, 0))}),
    (e.CLIP, np.clip(X, -1, 0.5), {"low": -1, "high": 0.5}),
    (e.CLIP, np.maximum(X, -1), {"low": -1.0}),
    (e.CAST, X, {"dtype": "float64"}),
    (c.ARGMAX, X.argmax(1), {"axis": 1}),
    (c.ARGMAX, X.argmax(-1, keepdims=True), {"keepdims": True}),
]


@pytest.mark.parametrize(("op", "expected", "attributes"), MOVED, ids=ids(MOVED))
def test_what_moves_or_chooses_elements(op, expected, attributes):
    check(op, [X], expected, **attributes)


def test_axes_of_length_one_are_taken_out():
    check(s.SQUEEZE, [X[:, None, :, None]], X[:, :, None], axis=1)


def test_arrays_one_behind_the_other():
    parts = [X, X[:, :2] + 1, X[:, 1:] - 1]
    check(s.concat_of(3), parts, np.concatenate(parts, axis=1), axis=1)
    check(s.concat_of(3), parts, np.concatenate(parts, axis=1), axis=-2)


@FEW
@given(seed=st.integers(0, 99), shapes=broadcasting())
def test_where(seed, shapes):
    a, b = drawn(seed, shapes[0], REAL), drawn(seed + 1, shapes[1], REAL)
    condition = drawn(seed + 2, np.broadcast_shapes(*shapes), REAL) > 0
    check(e.WHERE, [condition, a, b], np.where(condition, a, b))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements_by_indices_along_an_axis(axis):
    indices = np.array([[1, 0, -1], [1, 1, 0]])
    check(c.GATHER, [X, indices], np.take(X, indices, axis), axis=axis)


def test_elements_by_several_indices():
    indices = np.array([[0, 2], [1, -1], [0, 2]])
    check(c.GATHER_ND, [X, indices], X[indices[:, 0], indices[:, 1]])


def softmax(x, axis):
    powers = np.exp(x)
    return powers / powers.sum(axis=axis, keepdims=True)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_and_its_logarithm(axis):
    check(n.SOFTMAX, [X], softmax(X, axis), axis=axis)
    check(n.LOG_SOFTMAX, [X], np.log(softmax(X, axis)), axis=axis)


def test_softmax_of_large_numbers_overflows_nowhere():
    x = np.array([[0.0, 1000.0, -1000.0]], np.float32)
    assert call_op(n.SOFTMAX, [x]).tolist() == [[0.0, 1.0, 0.0]]
    assert call_op(n.LOG_SOFTMAX, [x]).tolist() == [[-1000.0, 0.0, -2000.0]]


@pytest.mark.parametrize("shape", [(4,), (1,), (), (3, 1), (2, 3, 4)])
def test_layer_norm(shape):
    scale, bias = drawn(1, shape, POSITIVE), drawn(2, shape, REAL)
    unit = (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, keepdims=True) + 1e-5)
    check(n.LAYER_NORM, [X, scale, bias], unit * scale + bias)


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        (n.LAYER_NORM, [1.0, 1.0, 1.0], "layer_norm takes an array with at least one axis, not a number"),
        (
            n.LAYER_NORM,
            [X, np.ones((5, 1, 1, 1)), 0.0],
            "layer_norm: scale of shape (5, 1, 1, 1) does not fit x of shape (2, 3, 4)",
        ),
        (E["add"], [np.ones(2), np.ones(3)], None),
        (E["add"], [np.ones(2)], "Operation 'add' expects 2 inputs, got 1"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_the_primitive(op, inputs, message):
    with pytest.raises(OpError) as caught:
        call_op(op, inputs)
    assert str(caught.value) == (
        message
        or "Operation 'add' failed on shapes (2,), (3,): ValueError: operands could not be broadcast together "
        "with shapes (2,) (3,) "
    )


def test_a_gradient_is_summed_to_the_shape_of_what_was_repeated():
    g = np.ones((2, 3, 4))
    assert sum_to(g, (3, 1)).tolist() == [[8.0]] * 3
    assert sum_to(g, ()).tolist() == 24.0
    assert sum_to(g, (2, 3, 4)) is g


@pytest.mark.parametrize(
    "op",
    [
        pytest.param(case[0], id=case[0].name, marks=() if case[0] is E["pow"] else pytest.mark.slow)
        for case in UNARY + BINARY
    ],
)
def test_the_compiler_can_read_every_elementwise_function(op):
    assert "for (" in compile_op(op).source


def test_the_tape_knows_every_primitive_and_its_names_are_unique():
    found = [v for m in (c, n, p, s) for v in vars(m).values() if isinstance(v, Primitive)]
    found += [*E.values(), *R.values()]
    names = [op.name for op in {id(op): op for op in found}.values()]
    assert len(names) == len(set(names))
    assert {op.name for op in found if not isinstance(op.onnx, OnnxForm)} == {"log1p", "expm1"}
    assert all(op.trusted for op in found)
