"""Tensors: what they hold, their operators, and numpy's functions on them."""

import numpy as np
import pytest

from brainsmith.autodiff import special
from brainsmith.errors import GradientError, OpError
from brainsmith.ops import (
    CustomOpBuilder,
    Tensor,
    execute_custom_op,
    register_custom_op,
    unregister_custom_op,
)
from brainsmith.ops import functional as F


def leaf(values, **options):
    return Tensor(values, requires_grad=True, **options)


def test_a_tensor_may_name_its_device_which_is_the_cpu():
    x = Tensor([1.0, -2.0], device="cpu")
    assert (x.device, x.data.tolist()) == ("cpu", [1.0, -2.0])
    assert execute_custom_op("int_quant", [x, 0.5, 0.0, 3.0]).device == "cpu"
    with pytest.raises(OpError) as caught:
        Tensor([1.0], device="cuda:0")
    assert str(caught.value) == (
        "a Tensor is on device 'cpu', not 'cuda:0'; other devices run whole models: brainsmith.targets"
    )


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        (1, None, "float32"),
        ([1, 2], None, "float32"),
        ([[1.5], [2]], None, "float32"),
        (np.arange(3), None, "int64"),
        (np.ones(2), None, "float64"),
        (np.float64(2), None, "float64"),
        (np.ones(2, bool), None, "bool"),
        ([1, 2], np.int8, "int8"),
        (np.ones(2), "float32", "float32"),
        (Tensor(np.ones(2)), None, "float64"),
    ],
)
def test_numbers_become_float32_and_arrays_keep_their_dtype(data, dtype, expected):
    assert Tensor(data, dtype=dtype).dtype == expected


def test_an_array_is_shared():
    array = np.ones(2)
    assert Tensor(array).data is array
    assert Tensor(array).numpy() is array


def test_what_a_tensor_says_of_itself():
    x = leaf([[1, 2, 3], [4, 5, 6]])
    assert (x.shape, x.ndim, x.size, x.device, len(x)) == ((2, 3), 2, 6, "cpu", 2)
    assert repr(leaf([1, 2])) == "Tensor([1., 2.], dtype=float32, requires_grad=True)"
    assert repr(Tensor(np.array([1, 2])) + 1) == "Tensor([2, 3], dtype=int64, by add)"
    assert (float(x.sum()), int(x.sum()), x.sum().item(), bool(x[0, 0])) == (21.0, 21, 21.0, True)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: Tensor("abc"),
            OpError,
            "the data of a Tensor must be numbers, not str: could not convert string to float: 'abc'",
        ),
        (
            lambda: Tensor([[leaf(1.0)], [leaf(2.0)]]),
            OpError,
            "a Tensor of Tensors would lose their gradients; functional.stack makes one of them",
        ),
        (
            lambda: leaf([1.0, 2.0]) + [leaf(1.0), leaf(2.0)],
            OpError,
            "Operation 'add' expects an array for input 1, got a list of Tensors, which would lose their gradients; "
            "functional.stack makes one Tensor of them",
        ),
        (lambda: Tensor(np.array(["a"])), OpError, "the data of a Tensor must be numbers, not <U1"),
        (lambda: Tensor(np.array([1j])), OpError, "the data of a Tensor must be numbers, not complex128"),
        (
            lambda: leaf(np.arange(3)),
            GradientError,
            "only a Tensor of floating-point numbers can require a gradient, not one of int64; "
            "Tensor(data, requires_grad=True, dtype=np.float32) converts it",
        ),
        (
            lambda: leaf([1, 2]).item(),
            OpError,
            "item() is for a Tensor of one element, not for one of shape (2,)",
        ),
        (
            lambda: setattr(leaf([1]) + 1, "data", np.ones(1)),
            OpError,
            "the data of an operation's result cannot be replaced; detach() gives a Tensor whose data can",
        ),
        (
            lambda: setattr(leaf([1, 2]), "data", np.ones(3)),
            OpError,
            "new data of a Tensor must have its shape (2,), not (3,)",
        ),
        (
            lambda: setattr(leaf([1]) + 1, "requires_grad", True),
            GradientError,
            "requires_grad is set on leaves, not on results; detach() gives a leaf",
        ),
    ],
)
def test_what_a_tensor_cannot_be(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value) == message


OPERATORS = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / y,
    lambda x, y: x**y,
    lambda x, y: x @ y,
    lambda x, y: -x + (+y),
    lambda x, y: abs(x),
]
A = np.array([[1.5, 2.5], [0.5, 3.0]], np.float32)
B = np.array([[2.0, 1.0], [3.0, 0.5]], np.float32)


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_with_tensors_and_with_arrays_on_either_side(operator):
    for x, y in ((leaf(A), leaf(B)), (leaf(A), B), (A, leaf(B))):
        found = operator(x, y)
        if isinstance(found, Tensor):  # abs(A) is numpy's own
            assert found.record is not None
            assert found.dtype == np.float32
        np.testing.assert_array_equal(np.asarray(found), operator(A, B))


def test_operators_with_numbers_on_either_side_keep_the_dtype():
    for found in (leaf(A) * 2, 2.0 - leaf(A), 1 / leaf(A), leaf(A) ** 2, 2 ** leaf(A), [1.0, 2.0] + leaf(A)):
        assert found.dtype == np.float32
    assert (Tensor(np.arange(3)) * 2).dtype == np.int64


def test_a_fraction_beside_integers_is_not_cut_off():
    assert (Tensor(np.arange(3)) * 0.5).numpy().tolist() == [0.0, 0.5, 1.0]


def test_comparisons_are_steps_of_the_tape():
    x = Tensor([1, 2, 3])
    found = {"lt": x < 2, "le": x <= 2, "gt": x > 2, "ge": x >= 2, "eq": x == 2, "ne": x != Tensor([1, 2, 3])}
    assert all(value.dtype == bool and value.record is not None for value in found.values())
    assert {name: value.numpy().astype(int).tolist() for name, value in found.items()} == {
        "lt": [1, 0, 0],
        "le": [1, 1, 0],
        "gt": [0, 0, 1],
        "ge": [0, 1, 1],
        "eq": [0, 1, 0],
        "ne": [0, 0, 0],
    }
    assert (np.array([1, 2, 3]) > x).record.op.name == "greater"
    assert ((x > 2).any(), (x > 2).all(), bool(x[0] == 1)) == (True, False, True)
    assert {x: 1}[x] == 1


X = np.random.default_rng(3).uniform(0.5, 2, (3, 4, 2)).astype(np.float32)
ROWS, COLUMNS = np.array([2, 0, -1]), np.array([[1], [3]])
KEYS = [
    np.s_[0],
    np.s_[-1],
    np.s_[0, 1, 1],
    np.s_[1:],
    np.s_[::-1],
    np.s_[:, 3:0:-2],
    np.s_[..., 0],
    np.s_[None],
    np.s_[1, ..., None],
    np.s_[:, None, 2],
    np.s_[0:0],
    np.s_[5:],
    np.s_[:1:-1, -1],
    np.s_[()],
    np.s_[...],
    np.s_[np.int64(1)],
    np.s_[ROWS],
    np.s_[[0, 2]],
    np.s_[:, COLUMNS],
    np.s_[1:, [0, 0]],
    np.s_[ROWS, COLUMNS],
    np.s_[ROWS, 1],
    np.s_[1:, ..., [0]],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexing_is_numpys_and_the_gradient_goes_where_the_elements_were(key):
    x = leaf(X)
    found = x[key]
    np.testing.assert_array_equal(found.numpy(), X[key])
    found.backward(np.full(found.shape, 2.0))
    expected = np.zeros_like(X)
    np.add.at(expected, key, 2.0)
    np.testing.assert_array_equal(x.grad, expected)


def test_a_tensor_of_indices_and_iteration():
    assert Tensor(X)[Tensor(ROWS)].shape == (3, 4, 2)
    assert [part.numpy().tolist() for part in Tensor([1, 2])] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (3, "index 3 is out of range for axis 0, of length 3"),
        ((0, -5), "index -5 is out of range for axis 1, of length 4"),
        ((0, 0, 0, 0), "an index of 4 parts is too long for a Tensor of 3 axes"),
        (1.5, "a Tensor is indexed by integers, slices, None, ... and arrays of integers, not by 1.5"),
        (np.array([1.5]), "arrays that index a Tensor must be of integers, not of float64"),
        ([3], "an index of the array is out of range for axis 0, of length 3"),
        (
            np.ones(3, bool),
            "a mask cannot index a Tensor, because the shape of the result would depend on values; "
            "use functional.where(mask, x, 0)",
        ),
        ((None, [0]), "a Tensor is indexed by arrays or by None, not by both at once: index twice"),
        (
            np.s_[:, [0], [0]],
            "several arrays that index a Tensor must come first, with only whole axes after them",
        ),
    ],
    ids=str,
)
def test_an_index_that_cannot_be(key, message):
    with pytest.raises(OpError) as caught:
        Tensor(X)[key]
    assert str(caught.value) == message


METHODS = [
    lambda x: x.sum(),
    lambda x: x.sum(1),
    lambda x: x.sum(axis=(0, 2), keepdims=True),
    lambda x: x.mean(0),
    lambda x: x.max(),
    lambda x: x.min(axis=-1),
    lambda x: x.var(1),
    lambda x: x.argmax(1),
    lambda x: x.argmax(),
    lambda x: x.clip(0.6, 1.0),
    lambda x: x.astype(np.float64),
    lambda x: x.reshape(2, -1),
    lambda x: x.reshape((4, 6)),
    lambda x: x.reshape(-1),
    lambda x: x.transpose(),
    lambda x: x.transpose(2, 0, 1),
    lambda x: x.T,
    lambda x: x[:, :1].squeeze(1),
    lambda x: x[0:1].squeeze(),
]


@pytest.mark.parametrize("method", METHODS)
def test_methods_are_numpys(method):
    found = method(Tensor(X))
    expected = method(X)
    assert isinstance(found, Tensor)
    assert (found.shape, found.dtype) == (np.shape(expected), expected.dtype)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)


def test_methods_that_numpy_arrays_do_not_have():
    x = Tensor(X)
    for found, expected in (
        (x.exp(), np.exp(X)),
        (x.log(), np.log(X)),
        (x.sqrt(), np.sqrt(X)),
        (x.tanh(), np.tanh(X)),
        (x.abs(), X),
        (x.relu(), X),
        (x.sigmoid(), 1 / (1 + np.exp(-X))),
        (x.flatten(), X.reshape(3, 8)),
    ):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


NUMPY = [
    lambda x: np.tanh(x),
    lambda x: np.add(x, 1),
    lambda x: np.square(x),
    lambda x: np.reciprocal(x),
    lambda x: np.positive(x),
    lambda x: np.exp(-x) * np.log1p(x),
    lambda x: np.maximum(x, 1),
    lambda x: np.sum(x, axis=1),
    lambda x: np.mean(x, 0, keepdims=True),
    lambda x: np.max(x),
    lambda x: np.amin(x, axis=2),
    lambda x: np.var(x, axis=1),
    lambda x: np.std(x),
    lambda x: np.where(X > 1, x, 0),
    lambda x: np.clip(x, 0.6, 1.0),
    lambda x: np.clip(x, None, 1.0),
    lambda x: np.clip(x, X - 0.1, X),
    lambda x: np.reshape(x, (6, 4)),
    lambda x: np.ravel(x),
    lambda x: np.transpose(x, (1, 0, 2)),
    lambda x: np.swapaxes(x, 0, -1),
    lambda x: np.squeeze(x[:1], 0),
    lambda x: np.expand_dims(x, 1),
    lambda x: np.broadcast_to(x, (2, 3, 4, 2)),
    lambda x: np.concatenate([x, X], axis=1),
    lambda x: np.stack([x, x], -1),
    lambda x: np.take(x, [1, 0], axis=1),
    lambda x: np.take(x, [5]),
    lambda x: np.pad(x, 1),
    lambda x: np.matmul(x[0], X[0].T),
    lambda x: np.round(x),
    lambda x: np.floor(x),
    lambda x: np.argmax(x, axis=1),
    lambda x: np.add.reduce(x),
    lambda x: np.maximum.reduce(x, axis=1, keepdims=True),
]


@pytest.mark.parametrize("function", NUMPY)
def test_functions_of_numpy_stay_on_the_tape(function):
    found, expected = function(leaf(X)), function(X)
    assert isinstance(found, Tensor)
    assert (found.shape, found.dtype) == (np.shape(expected), expected.dtype)
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-6)


def test_functions_of_numpy_that_need_no_tape_give_plain_results():
    x = leaf([1, 2])
    assert type(np.zeros_like(x)) is np.ndarray
    assert (np.shape(x), np.allclose(x, [1, 2]), np.all(x > 0)) == ((2,), True, True)
    np.testing.assert_array_equal(x, [1, 2])


@pytest.mark.parametrize(
    ("call", "start"),
    [
        (
            lambda x: np.arctan2(x, x),
            "numpy.arctan2 is not supported by the tape, which supports absolute, add, amax,",
        ),
        (lambda x: np.cumsum(x), "numpy.cumsum is not supported by the tape, which supports "),
        (
            lambda x: np.multiply.reduce(x),
            "numpy.multiply.reduce is not supported by the tape, which supports ",
        ),
        (
            lambda x: np.exp(x, out=np.ones(2)),
            "numpy.exp with out is not supported by the tape, which supports ",
        ),
        (
            lambda x: np.sum(x, dtype=float),
            "numpy.sum on a Tensor does not support these arguments: got an unexpected keyword argument 'dtype'",
        ),
        (
            lambda x: np.sum(x, 0, float),
            "numpy.sum on a Tensor does not support these arguments: too many positional arguments",
        ),
    ],
)
def test_a_function_of_numpy_that_is_no_step_is_an_error(call, start):
    with pytest.raises(OpError) as caught:
        call(leaf([1, 2]))
    assert str(caught.value).startswith(start)


def test_the_message_for_it_names_all_that_exist_and_the_ways_out():
    with pytest.raises(OpError) as caught:
        np.cumsum(leaf([1, 2]))
    message = str(caught.value)
    assert {"tanh", "where", "sum", "concatenate"} <= set(message.replace(",", "").split())
    assert message.endswith(
        "and those of brainsmith.ops.functional. An op of your own can be one (brainsmith.ops.Op); "
        "x.numpy() leaves the tape"
    )


def test_in_place_arithmetic_makes_a_new_tensor():
    x = y = leaf([1.0])
    y += 1
    assert x.numpy().tolist() == [1.0]
    assert y.record.op.name == "add"


def test_functions_give_arrays_for_arrays():
    assert type(F.softmax(A)) is np.ndarray
    assert F.exp(0.0).dtype == np.float32
    assert F.where([True, False], 1.0, 2.0).tolist() == [1.0, 2.0]
    assert F.where(A > 1, leaf(A), 0).dtype == np.float32
    assert F.cross_entropy(np.log(np.array([[0.25, 0.75], [0.5, 0.5]])), [1, 0]) == pytest.approx(
        -(np.log(0.75) + np.log(0.5)) / 2
    )
    assert F.logical_and(F.greater(A, 1), F.logical_not(F.equal(A, 3))).tolist() == [
        [True, True],
        [False, False],
    ]
    assert F.logical_or(F.less(A, 1), F.greater_equal(A, F.less_equal(A, 0) + 3.0)).tolist() == [
        [False, False],
        [True, True],
    ]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1], "cross_entropy takes logits (N, classes) and N integers, not shapes (2, 2) and (1,) of int64"),
        (
            [0.5, 1],
            "cross_entropy takes logits (N, classes) and N integers, not shapes (2, 2) and (2,) of float64",
        ),
        ([0, 2], "labels must be from 0 to 1, not from 0 to 2"),
        ([-1, 0], "labels must be from 0 to 1, not from -1 to 0"),
    ],
)
def test_labels_that_do_not_fit(labels, message):
    with pytest.raises(OpError) as caught:
        F.cross_entropy(leaf(A), labels)
    assert str(caught.value) == message


def test_cross_entropy_has_the_gradient_softmax_minus_one_at_the_label():
    x = leaf(A)
    F.cross_entropy(x, np.array([1, 0])).backward()
    np.testing.assert_allclose(x.grad, (F.softmax(A) - np.eye(2)[[1, 0]]) / 2, rtol=1e-5)


def test_erf_is_on_the_tape_from_wherever_it_is_called():
    assert special.erf(leaf(A)).record.op is F.erf(leaf(A)).record.op


def test_comparisons_among_the_functions_are_on_the_tape():
    found = F.greater(Tensor([1, 2]), 1)
    assert (found.record.op.name, found.numpy().tolist()) == ("greater", [False, True])


@pytest.mark.parametrize("indices", [[0.5], np.array([1.0])])
def test_indices_must_be_integers(indices):
    with pytest.raises(OpError) as caught:
        F.gather(A, indices)
    assert str(caught.value) == "indices must be integers, not float64"


def test_registered_ops_take_tensors_and_arrays_with_one_code():
    op = CustomOpBuilder("doubled_for_test", 1).forward(lambda inputs: 2 * inputs[0])
    op = op.backward(lambda grad_output, input_ids, *rest: {input_ids[0]: 2 * grad_output}).build()
    register_custom_op(op)
    try:
        x = leaf([1.0, 2.0])
        found = execute_custom_op("doubled_for_test", [x])
        found.sum().backward()
        assert (found.numpy().tolist(), x.grad.tolist()) == ([2.0, 4.0], [2.0, 2.0])
        assert type(execute_custom_op("doubled_for_test", [A])) is np.ndarray
    finally:
        unregister_custom_op("doubled_for_test")
