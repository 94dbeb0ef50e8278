"""The five example ops: their values, gradients, and what they do at the edges of numbers."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from brainsmith import ops
from brainsmith.autodiff.calls import call_op
from brainsmith.errors import DuplicatePluginError, OpError
from brainsmith.ops import CustomOpBuilder, execute_custom_op
from brainsmith.ops import examples as example_ops

NAMES = ["gelu", "layer_norm", "mish", "power", "swish"]
ACTIVATIONS = {
    "swish": lambda x: x / (1 + math.exp(-x)),
    "gelu": lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))),
    "mish": lambda x: x * math.tanh(math.log1p(math.exp(x))),
}


@pytest.fixture
def examples():
    ops.register_example_custom_ops()


def test_they_are_there_only_after_the_call():
    assert not set(NAMES) & set(ops.list_custom_ops())
    ops.register_example_custom_ops()
    assert set(NAMES) <= set(ops.list_custom_ops())


def test_a_second_call_changes_nothing(examples):
    before = [ops.get_custom_op(name) for name in NAMES]
    ops.register_example_custom_ops()
    assert all(ops.get_custom_op(name) is op for name, op in zip(NAMES, before, strict=True))


def test_a_second_call_brings_back_what_was_removed(examples):
    ops.unregister_custom_op("power")
    ops.register_example_custom_ops()
    assert ops.is_custom_op_registered("power")


@pytest.mark.parametrize("taken", NAMES)
def test_all_of_them_or_none(taken):
    mine = CustomOpBuilder(taken, 1).forward(lambda inputs: inputs[0]).build()
    ops.register_custom_op(mine)
    before = ops.list_custom_ops()
    with pytest.raises(DuplicatePluginError, match=f"'{taken}'"):
        ops.register_example_custom_ops()
    assert ops.list_custom_ops() == before
    assert ops.get_custom_op(taken) is mine


def test_values(examples):
    swish = execute_custom_op("swish", [[[1, 2, -1]]])
    np.testing.assert_allclose(swish, [[0.731059, 1.761594, -0.268941]], atol=5e-7)
    power = execute_custom_op("power", [[[2, 3], [4, 5]], [[2, 2], [3, 2]]])
    np.testing.assert_array_equal(power, [[4, 9], [64, 25]])
    norm = execute_custom_op("layer_norm", [[[1, 2, 3, 4]], 1, 0])
    np.testing.assert_allclose(norm, [[-1.341635, -0.447212, 0.447212, 1.341635]], atol=6e-7)
    assert {x.dtype for x in (swish, power, norm)} == {np.dtype(np.float32)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_gradients(examples, name, seed):
    report = ops.gradcheck(name, seed=seed)
    assert set(report.worst) == set(range(ops.get_custom_op(name).num_inputs))
    assert max(report.worst.values()) < 1e-7
    assert not report.skipped


@pytest.mark.slow
def test_gradients_of_a_scale_and_bias_of_any_form(examples):
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    for scale in (1.5, [1.5], [0.5, 1.0, 2.0, -1.0]):
        for bias in (0.5, [0.5], [0.0, 1.0, 2.0, -1.0]):
            assert ops.gradcheck("layer_norm", [x, scale, bias]).elements == 24 + np.size(scale) + np.size(
                bias
            )


def test_gradients_of_powers_that_are_broadcast(examples):
    assert ops.gradcheck("power", [[[1.0, 2.0, 3.0]], [[0.5], [-2.0]]]).elements == 5
    assert ops.gradcheck("power", [[1.0, 2.0, 3.0], 2.0]).elements == 4


@pytest.mark.parametrize(
    ("base", "exponent", "by_base", "by_exponent"),
    [
        (0, 2, 0, 0),
        (0, 1, 1, 0),
        (0, 0, 0, 0),
        (-2, 3, 12, math.nan),
        (2, 0, 0, math.log(2)),
        (0, 0.5, math.inf, 0),
    ],
)
def test_gradients_of_powers_at_the_edge(examples, base, exponent, by_base, by_exponent):
    inputs = (np.array([base], np.float64), np.array([exponent], np.float64))
    op = ops.get_custom_op("power")
    gradient = op.create_gradient_function(inputs, op.forward(*inputs)).gradients(np.ones(1))
    np.testing.assert_allclose(gradient, [[by_base], [by_exponent]])


@pytest.mark.parametrize("name", ACTIVATIONS)
@given(x=hnp.arrays(np.float64, 5, elements=st.floats(-700, 700)))
@settings(max_examples=25, deadline=None)
def test_an_activation_is_its_formula(name, x):
    expected = [ACTIVATIONS[name](float(value)) for value in x]
    np.testing.assert_allclose(
        call_op(getattr(example_ops, name)(), [x]),
        expected,
        rtol=1e-12,
        atol=1e-300 if name == "swish" else 1e-12,
    )


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_an_activation_at_the_edges(examples, name, dtype):
    far = np.finfo(dtype).max
    x = np.array([-np.inf, -far, 0, far, np.inf, np.nan], dtype)
    np.testing.assert_array_equal(
        execute_custom_op(name, [x]), np.array([0, 0, 0, far, np.inf, np.nan], dtype)
    )
    op = ops.get_custom_op(name)
    (gradient,) = op.create_gradient_function([x[:-1]], x[:-1]).gradients(np.ones(5, dtype))
    np.testing.assert_allclose(gradient, [0, 0, 0.6 if name == "mish" else 0.5, 1, 1], atol=1e-3)
    assert gradient.dtype == dtype


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
@pytest.mark.parametrize("name", [*ACTIVATIONS, "power"])
def test_empty_arrays_and_single_numbers(examples, name, shape):
    given = [np.ones(shape, np.float32)] * ops.get_custom_op(name).num_inputs
    result = execute_custom_op(name, given)
    assert (result.shape, result.dtype) == (shape, np.float32)


def test_integers_become_floats_where_half_a_unit_matters(examples):
    ints = np.array([1, 2, 3, 4])
    for name in ACTIVATIONS:
        assert execute_custom_op(name, [ints]).dtype == np.float64
    assert execute_custom_op("layer_norm", [ints.astype(np.int8), 1, 0]).dtype == np.float32
    np.testing.assert_array_equal(execute_custom_op("power", [ints, ints]), [1, 4, 27, 256])
    np.testing.assert_allclose(execute_custom_op("power", [ints, 0.5]), np.sqrt(ints), rtol=1e-6)
    np.testing.assert_array_equal(execute_custom_op("power", [ints, 2]), ints * ints)


def test_the_least_integer_has_a_sigmoid(examples):
    least = np.array([-128, 127], np.int8)
    np.testing.assert_allclose(execute_custom_op("swish", [least]), [0, 127], atol=1e-30)
    np.testing.assert_allclose(execute_custom_op("mish", [np.array([True])]), [0.865098], atol=1e-6)


@pytest.mark.slow
def test_two_threads_register_them_once():
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: ops.register_example_custom_ops(), range(16)))
    assert set(NAMES) <= set(ops.list_custom_ops())


def test_layer_norm_of_large_numbers(examples):
    x = np.array([[-1e30, 0, 1e30]], np.float32)
    np.testing.assert_allclose(
        execute_custom_op("layer_norm", [x, 1, 0]), [[-1.224745, 0, 1.224745]], rtol=1e-6
    )
    shifted = np.array([[1e6, 1e6 + 1, 1e6 + 2]], np.float32)
    np.testing.assert_allclose(
        execute_custom_op("layer_norm", [shifted, 1, 0]), [[-1.224735, 0, 1.224735]], rtol=1e-5
    )


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("power", [[1.0]], "Operation 'power' expects 2 inputs, got 1"),
        ("swish", [None], "Operation 'swish' expects an array for input 0, got None"),
        ("swish", [], "Operation 'swish' expects 1 input, got 0"),
        ("power", [[1.0, 2.0], [1.0, 2.0, 3.0]], "Operation 'power' cannot broadcast shapes (2,) and (3,)"),
        (
            "layer_norm",
            [3.0, 1, 0],
            "Operation 'layer_norm' needs elements on the last axis, not shape ()",
        ),
        (
            "layer_norm",
            [np.zeros((2, 0)), 1, 0],
            "Operation 'layer_norm' needs elements on the last axis, not shape (2, 0)",
        ),
        (
            "layer_norm",
            [[1.0, 2.0, 3.0], [1.0, 2.0], 0],
            "Operation 'layer_norm' takes a scale of one element or of 3, as the last axis has, not of shape (2,)",
        ),
        (
            "layer_norm",
            [[1.0, 2.0, 3.0], 1, [[1.0, 2.0, 3.0]]],
            "Operation 'layer_norm' takes a bias of one element or of 3, as the last axis has, not of shape (1, 3)",
        ),
        ("gelu", [["a"]], None),
        ("gelu", [np.array(["a"])], "Operation 'gelu' expects numbers, got <U1 for input 0"),
    ],
)
def test_bad_input(examples, name, inputs, message):
    with pytest.raises(OpError) as caught:
        execute_custom_op(name, inputs)
    assert message is None or str(caught.value) == message
