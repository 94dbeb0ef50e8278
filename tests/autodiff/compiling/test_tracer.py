"""From numpy code to expressions: what is noted, and what is refused where."""

import math

import numpy as np
import pytest

from brainsmith.autodiff.builder import CustomOpBuilder
from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.autodiff.special import erf
from brainsmith.errors import OpError

SEEN = {
    "operators": (
        lambda x: -x * 2 + 1,
        "t0 = negative(x0); t1 = multiply(t0, 2); t2 = add(t1, 1); return t2",
    ),
    "reflected operators": (lambda x: 1 / (1 - x), "t0 = subtract(1, x0); t1 = divide(1, t0); return t1"),
    "comparisons": (
        lambda x: (x > 0) & (x <= 1),
        "t0 = greater(x0, 0); t1 = less_equal(x0, 1); t2 = bitwise_and(t0, t1); return t2",
    ),
    "ufuncs": (lambda x: np.tanh(np.abs(x)), "t0 = absolute(x0); t1 = tanh(t0); return t1"),
    "what is shared": (
        lambda x: np.exp(x) / (1 + np.exp(x)),
        "t0 = exp(x0); t1 = add(1, t0); t2 = divide(t0, t1); return t2",
    ),
    "powers": (lambda x: x**2 + x**3, "t0 = square(x0); t1 = power(x0, 3); t2 = add(t0, t1); return t2"),
    "where": (
        lambda x: np.where(x > 0, x, np.inf),
        "t0 = greater(x0, 0); t1 = where(t0, x0, inf); return t1",
    ),
    "clip": (lambda x: np.clip(x, -1, 1), "t0 = clip(x0, -1, 1); return t0"),
    "clip by a method": (lambda x: x.clip(0), "t0 = maximum(x0, 0); return t0"),
    "rounding": (lambda x: np.round(x) + x.round(), "t0 = round(x0); t1 = add(t0, t0); return t1"),
    "erf": (lambda x: erf(x), "t0 = erf(x0); return t0"),
    "dtypes of constants": (lambda x: x * np.float64(0.5), "t0 = multiply(x0, float64(0.5)); return t0"),
    "the dtype of an input": (
        lambda x: (x > 0).astype(x.dtype),
        "t0 = greater(x0, 0); t1 = cast(t0, dtype='float32'); return t1",
    ),
    "like arrays": (lambda x: np.zeros_like(x), "t0 = full_like(x0, 0); return t0"),
    "reductions": (lambda x: x.sum(), "t0 = sum(x0, axis=None, keepdims=False); return t0"),
    "reductions of axes": (
        lambda x: np.max(x, axis=[0, 1], keepdims=True),
        "t0 = max(x0, axis=(0, 1), keepdims=True); return t0",
    ),
    "several outputs": (lambda x: (x + 1, x), "t0 = add(x0, 1); return t0, x0"),
    "a shape that is handed on": (lambda x: [x * 1, x.shape][0], "t0 = multiply(x0, 1); return t0"),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_numpy_code_computes_is_noted(name):
    function, text = SEEN[name]
    assert trace(function, [np.float32]).text == f"inputs = 1; {text}"


def test_the_functions_of_a_builder_are_traced_as_they_are():
    op = CustomOpBuilder("twice", 2).forward(lambda inputs: inputs[0] * 2 + inputs[1]).build()
    text = trace(op.forward, [np.float32] * 2, op.name).text
    assert text == "inputs = 2; t0 = multiply(x0, 2); t1 = add(t0, x1); return t1"


def branch(x):
    return x if x > 0 else -x


def in_place(x):
    x[0] = 1
    return x


REFUSED = {
    "a branch": (branch, "decides by the value of an array; write np.where(condition, a, b)"),
    "an assignment": (in_place, "changes an array in place; write np.where(condition, a, b)"),
    "an unknown function": (lambda x: np.sort(x), "calls numpy.sort"),
    "an unknown ufunc": (lambda x: np.hypot(x, x), "calls numpy.hypot"),
    "a ufunc's method": (lambda x: np.add.accumulate(x), "calls numpy.add.accumulate"),
    "an option": (lambda x: np.add(x, 1, where=[True]), "calls numpy.add with where="),
    "a function of math": (
        lambda x: math.tanh(x),
        "asks for the value of an array (float, or a function of math; numpy has the same)",
    ),
    "its values": (
        lambda x: np.asarray(x),
        "asks for the values of an array (np.asarray, or a function that numpy does not pass on)",
    ),
    "a loop": (lambda x: list(x), "iterates over an array"),
    "an index": (lambda x: x[0], "indexes an array; a reduction with keepdims=True needs no index"),
    "a shape": (lambda x: x / x.shape[-1], "uses the shape of an array, which is not known before the call"),
    "another method": (lambda x: x.reshape(-1), "uses .reshape of an array"),
    "an array": (
        lambda x: x + np.ones(3),
        "uses an array of shape (3,), which is neither an input nor a number; make it an input",
    ),
    "decimals": (lambda x: np.round(x, 2), "rounds to 2 decimals"),
    "a dtype": (lambda x: x.astype(np.float16), "converts to float16"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_an_expression_cannot_say_is_refused_with_its_place(name):
    function, what = REFUSED[name]
    line = function.__code__.co_firstlineno + (1 if function in (branch, in_place) else 0)
    with pytest.raises(OpError) as caught:
        trace(function, [np.float32], "sample")
    message = str(caught.value)
    assert message.startswith(f"operation 'sample' cannot be compiled: {__file__}:")
    place, _, said = message.removeprefix("operation 'sample' cannot be compiled: ").partition(" ")
    assert said == what
    assert abs(int(place.rpartition(":")[2]) - line) <= 1


def test_operands_that_numpy_does_not_take_are_refused():
    with pytest.raises(OpError, match=r"applies invert to what numpy does not: ufunc 'invert' not supported"):
        trace(lambda x: ~x, [np.float32])


def test_a_value_of_another_function_is_refused():
    kept = []
    trace(lambda x: kept.append(x) or x, [np.float32])
    with pytest.raises(OpError, match="uses a value that was traced in another function"):
        trace(lambda x: x + kept[0], [np.float32])
