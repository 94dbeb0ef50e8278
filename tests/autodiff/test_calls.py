"""What goes into an op, what its callbacks do and what comes out is checked; each fault has its own message."""

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.autodiff.calls import run_op
from brainsmith.errors import GradientError, OpError

X = np.ones(3, np.float32)


def built(rule=None, function=None, forward=lambda inputs: inputs[0]):
    builder = ops.CustomOpBuilder("bent", 1).forward(forward)
    return (getattr(builder, rule)(function) if rule else builder).build()


def refusal(op, given=X):
    """Return the one message that a plain call, one on the tape, and a lazy one whose value is asked for raise."""
    messages = set()
    for make in (np.asarray, ops.Tensor):
        with pytest.raises(OpError) as raised:
            run_op(op, [make(given)])
        messages.add(str(raised.value))
    with ops.lazy(), pytest.raises(OpError) as raised:
        run_op(op, [ops.Tensor(given)]).numpy()
    (message,) = {*messages, str(raised.value)}
    return message


@pytest.mark.parametrize("rule", ["output_shape", "output_dtype", "output_device"])
def test_a_rule_that_raises_names_the_op(rule):
    assert (
        refusal(built(rule, lambda given: {}["k"])) == "Operation 'bent' failed on shapes (3,): KeyError: 'k'"
    )


@pytest.mark.parametrize(
    ("rule", "answer", "message"),
    [
        ("output_shape", None, "output_shape of operation 'bent' must return a shape, a tuple, not None"),
        ("output_shape", 3, "output_shape of operation 'bent' must return a shape, a tuple, not 3"),
        ("output_dtype", None, "output_dtype of operation 'bent' must return a dtype of numpy, not None"),
        (
            "output_dtype",
            "fluid",
            "output_dtype of operation 'bent' must return a dtype of numpy, not 'fluid'",
        ),
        (
            "output_device",
            "cuda:0",
            "Operation 'bent' states for its output the device 'cuda:0'; arrays here are on 'cpu'",
        ),
    ],
)
def test_a_rule_that_gives_what_cannot_be_is_refused(rule, answer, message):
    assert refusal(built(rule, lambda given: answer)) == message


def test_the_rules_of_several_outputs_give_as_many_answers():
    two = ops.CustomOpBuilder("two", 1, 2).forward(lambda inputs: (inputs[0], inputs[0]))
    two.output_shape(lambda shapes: (shapes[0],))
    assert refusal(two.build()) == (
        "the rules of operation 'two' must return 2 results, one for each output, not ((3,),)"
    )


def test_validation_that_fails_is_no_refusal_of_the_inputs():
    assert refusal(built("validate", lambda inputs: 1 // 0)) == (
        "validate of operation 'bent' failed on shapes (3,): ZeroDivisionError: integer division or modulo by zero"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "Operation 'bent' returned None, not an output"),
        ("x", "Operation 'bent' returned an output of <U1; its rule says float32"),
        (X[:2], "Operation 'bent' returned an output of shape (2,); its rule says (3,)"),
    ],
)
def test_a_forward_that_gives_no_such_array_is_refused(given, message):
    assert refusal(built(forward=lambda inputs: given)) == message


class Elsewhere:
    """Stands for an array in the memory of another device."""

    device = "cuda:1"


class Here:
    """Stands for an array of another package in this process's memory."""

    device = "TFRT_CPU_0"

    def __array__(self, dtype=None, copy=None):
        return X.astype(dtype)


def test_an_array_of_another_package_on_the_cpu_is_taken():
    assert run_op(built(), [Here()]).tolist() == X.tolist()


class Held:
    """Stands for an array of another package that says no more than its values."""

    device = "cpu"

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


@pytest.mark.parametrize(
    "array", [np.int64([2**24 + 1]), np.float64([1 / 3]), np.array(1e300), np.bool_([True])], ids=repr
)
@pytest.mark.parametrize("wrap", [Held, lambda array: array], ids=["another package's", "numpy's"])
def test_an_array_of_another_package_keeps_its_dtype(array, wrap):
    result = run_op(built(), [wrap(array)])
    assert (result.dtype, result.tolist()) == (array.dtype, array.tolist())


def test_a_list_takes_the_dtype_of_another_package_s_array():
    op = ops.CustomOpBuilder("both", 2).forward(lambda inputs: inputs[0] + inputs[1]).build()
    result = run_op(op, [[1 / 3], Held(np.float64([0]))])
    assert (result.dtype, result.tolist()) == (np.float64, [1 / 3])


@pytest.mark.parametrize("array", [np.complex64([1j]), np.array(["a"])], ids=["complex", "text"])
def test_another_package_s_array_of_no_numbers_is_refused(array):
    for given in (Held(array), array):
        with pytest.raises(OpError) as raised:
            run_op(built(), [given])
        assert str(raised.value) == f"Operation 'bent' expects numbers, got {array.dtype} for input 0"


def test_another_package_s_array_of_objects_that_are_numbers_is_taken():
    result = run_op(built(), [Held(np.array([1, 2.5], object))])
    assert (result.dtype, result.tolist()) == (np.float32, [1, 2.5])


@pytest.mark.parametrize("first", [X, ops.Tensor(X)])
def test_an_input_on_another_device_is_refused(first):
    op = ops.CustomOpBuilder("both", 2).forward(lambda inputs: inputs[0] + inputs[1]).build()
    with pytest.raises(OpError) as raised:
        run_op(op, [first, Elsewhere()])
    assert str(raised.value) == "Operation 'both' expects inputs on device 'cpu', got 'cuda:1' for input 1"


def test_samples_that_fail_name_the_op():
    builder = ops.CustomOpBuilder("bent", 1).forward(lambda inputs: inputs[0] * 2)
    builder.backward(lambda grad_output, ids, *rest: {ids[0]: grad_output * 2})
    with pytest.raises(OpError) as raised:
        ops.gradcheck(builder.samples(lambda random: 1 // 0).build())
    assert str(raised.value) == (
        "samples of operation 'bent' failed: ZeroDivisionError: integer division or modulo by zero"
    )


class Faulty(ops.Op):
    """Cannot make its gradient."""

    name = "faulty"

    def forward(self, x):
        return x * 2

    def create_gradient_function(self, inputs, output, **attributes):
        raise RuntimeError("no pen")


def test_a_gradient_function_that_cannot_be_made_names_the_op_and_leaves_no_gradient():
    x = ops.Tensor(X, requires_grad=True)
    result = run_op(Faulty(), [x]).sum()
    with pytest.raises(GradientError) as raised:
        result.backward()
    assert str(raised.value) == "backward of operation 'faulty' failed on shapes (3,): RuntimeError: no pen"
    assert x.grad is None
