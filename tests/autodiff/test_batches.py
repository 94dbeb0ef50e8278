"""A split batch gives what the whole gives, and an error names its part."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from brainsmith import ops
from brainsmith.errors import OpError


def softmax(x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def affine(x, scale, shift):
    return x * scale + shift


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=7),
        elements=st.floats(-5, 5, width=32),
    ),
    st.integers(1, 9),
)
def test_a_split_call_is_the_whole_call(x, parts):
    np.testing.assert_array_equal(ops.split_batch(softmax, [x], parts), softmax(x))


@given(st.integers(0, 20), st.integers(1, 6), st.integers(0, 1), st.booleans())
def test_what_is_broadcast_goes_to_each_part(samples, parts, axis, whole_scale):
    shape = (samples, 3) if axis == 0 else (3, samples)
    x = np.arange(samples * 3, dtype=np.float32).reshape(shape)
    scale = np.float32(2) if whole_scale else np.ones((1, 1), np.float32)
    shift = x.copy()
    np.testing.assert_array_equal(
        ops.split_batch(affine, [x, scale, shift], parts, axis), affine(x, scale, shift)
    )


def test_fewer_dimensions_are_no_batch_even_if_the_extents_are_equal():
    x, bias = np.zeros((3, 3), np.float32), np.float32([1, 2, 3])
    assert ops.split_batch(np.add, [x, bias], 3).tolist() == [[1, 2, 3]] * 3


def test_weights_of_as_many_dimensions_are_named():
    x, weights = np.ones((4, 2), np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(ops.split_batch(np.matmul, [x, weights], 3, whole=[1]), x @ weights)
    assert message(np.matmul, [x, weights], 3) == (
        "inputs must have the same number of samples along axis 0, not 2, 4; name those that every part needs in whole="
    )


def test_parts_differ_by_one_and_empty_ones_are_not_run():
    sizes = []

    def note(x):
        sizes.append(len(x))
        return x

    assert ops.split_batch(note, [np.arange(7)], 3).tolist() == list(range(7))
    assert sorted(sizes) == [2, 2, 3]
    sizes.clear()
    ops.split_batch(note, [np.arange(2)], 5)
    assert sizes == [1, 1]
    sizes.clear()
    assert ops.split_batch(note, [np.zeros((0, 4))], 3).shape == (0, 4)
    assert sizes == [0]


def test_an_op_with_several_outputs():
    op = ops.CustomOpBuilder("both", 1, 2).forward(lambda inputs: (inputs[0], -inputs[0])).build()
    x = np.arange(5, dtype=np.float32)
    plus, minus = ops.split_batch(op, [x], 2)
    assert (plus.tolist(), minus.tolist()) == (x.tolist(), (-x).tolist())
    assert ops.split_batch(op, [[1.5, 2]], 2)[1].tolist() == [-1.5, -2]


def test_the_parts_run_at_once():
    barrier = threading.Barrier(3, timeout=10)

    def meet(x):
        barrier.wait()
        return x + 1

    assert ops.split_batch(meet, [np.arange(3)], 3).tolist() == [1, 2, 3]


def test_each_part_has_its_own_callable():
    over = [np.positive, np.negative, ops.CustomOpBuilder("ten", 1).forward(lambda x: x[0] * 10).build()]
    assert ops.split_batch(np.positive, [np.arange(1, 7)], over).tolist() == [1, 2, -3, -4, 50, 60]


def message(*arguments, **named):
    with pytest.raises(OpError) as caught:
        ops.split_batch(*arguments, **named)
    return str(caught.value)


def fails(x):
    if 5 in x:
        raise KeyError("five")
    return x


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((fails, [np.arange(8)], 4), "part 2 of the batch (samples 4:6) failed: KeyError: 'five'"),
        ((np.sum, [np.arange(8)], 2), "part 0 of the batch (samples 0:4) gave an output of shape (), which does not "
         "have 4 samples along axis 0: the op must keep the batch axis"),
        ((np.positive, [np.arange(8)], 0), "a batch must be split into 1 or more parts, not 0"),
        ((np.positive, [np.arange(8)], []), "over must be a number of parts, or the callables that run them, not []"),
        ((np.positive, [np.arange(8)], [3]), "a part of a batch must be run by an op, its name or a function, not 3"),
        ((np.positive, [np.arange(8)], 2, 1), "a batch has no axis 1: its inputs have 1 dimension"),
        ((np.positive, [3.0], 2), "a batch has no axis 0: its inputs have 0 dimensions"),
        ((np.positive, [np.arange(8)], 2, -2), "a batch has no axis -2: its inputs have 1 dimension"),
        ((np.positive, [np.arange(8)], 2, 0, [1]), "whole must name inputs from 0 to 0, not 1"),
        ((np.positive, [np.arange(8)], [np.positive, lambda x: (x, x)]),
         "part 1 of the batch (samples 4:8) gave 2 outputs, and part 0 of the batch (samples 0:4) gave 1"),
        ((np.positive, [np.zeros((4, 2))], [np.positive, lambda x: x[:, :1]]),
         "the outputs of the parts do not fit together: all the input array dimensions except for the concatenation "
         "axis must match exactly, but along dimension 1, the array at index 0 has size 2 and the array at index 1 "
         "has size 1"),
        ((np.positive, [ops.Tensor([1.0])], 2), "a batch must be of arrays, and input 0 is a Tensor: the result "
         "would not be on its tape; give its data"),
    ],
)  # fmt: skip
def test_what_cannot_be_split_is_said(arguments, text):
    assert message(*arguments) == text


def test_an_op_s_own_error_names_the_part():
    def positive(inputs):
        if inputs[0].min() < 0:
            raise ValueError("below 0")

    op = ops.CustomOpBuilder("root", 1).forward(lambda inputs: np.sqrt(inputs[0])).validate(positive).build()
    assert message(op, [np.float32([1, 4, 9, -1])], 2) == (
        "part 1 of the batch (samples 2:4): Operation 'root' does not take these inputs: below 0"
    )


def test_an_op_goes_by_its_name_and_with_its_attributes():
    ops.register_example_custom_ops()
    x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(4, 3)
    whole = ops.execute_custom_op("gelu", [x])
    assert np.array_equal(ops.split_batch("gelu", [x], 2), whole)
    assert np.array_equal(ops.split_batch("gelu", [x], ["gelu", "gelu"]), whole)
    inputs = [x, 0.25, 0, 3]
    expected = ops.execute_custom_op("int_quant", inputs, signed=False)
    assert np.array_equal(ops.split_batch("int_quant", inputs, np.int64(2), signed=False), expected)


def test_an_axis_counts_from_the_end_too():
    x = np.arange(10.0).reshape(2, 5)
    assert np.array_equal(ops.split_batch(affine, [x, 2.0, np.ones(5)], 2, axis=-2), x * 2 + 1)
    assert np.array_equal(ops.split_batch(np.positive, [x], 3, axis=-1), x)


@pytest.mark.parametrize(
    ("named", "text"),
    [
        ({"axis": "0"}, "axis of a batch must be a number, not '0'"),
        ({"axis": -3}, "a batch has no axis -3: its inputs have 2 dimensions"),
        ({"whole": 1}, "whole must be a list of the numbers of inputs, such as [1], not 1"),
        ({"whole": ["x"]}, "whole must be a list of the numbers of inputs, such as [1], not ['x']"),
    ],
)
def test_wrong_kinds_are_said(named, text):
    assert message(np.positive, [np.ones((2, 5))], 2, **named) == text


def test_an_op_is_named_by_its_class_too():
    class Double(ops.Op):
        def forward(self, x, **attributes):
            return 2 * x

    x = np.arange(5)
    assert np.array_equal(ops.split_batch(Double, [x], 2), 2 * x)
    with pytest.raises(OpError) as caught:
        ops.split_batch(Double, [x, x], 2)
    assert str(caught.value) == "Operation 'Double' expects 1 input, got 2"
