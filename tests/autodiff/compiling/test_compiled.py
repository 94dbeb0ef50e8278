"""Compiled expressions against numpy: equal within what is stated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.autodiff.compiling.compiled import CompiledExpression
from brainsmith.autodiff.compiling.expression import Constant, Expression, ExpressionStep, Input, Result
from brainsmith.autodiff.compiling.functions import FUNCTIONS
from brainsmith.autodiff.compiling.numpy_form import compute, error_bounds
from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.errors import OpError, ToolError

UNARY = [
    "negative",
    "absolute",
    "sqrt",
    "square",
    "reciprocal",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "sign",
    "exp",
    "log",
    "tanh",
    "erf",
    "log1p",
    "expm1",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "power",
    "logaddexp",
    "floor_divide",
    "remainder",
]
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 88.0, -103.0, 1e-45, 1e-38, 3e38, -3e38, np.inf, -np.inf, np.nan)


def assert_equal(function, expression, inputs):
    """Assert that a compiled expression gives what numpy gives, within the stated bound."""
    with np.errstate(all="ignore"):
        wanted, bounds = compute(expression, inputs), error_bounds(expression, inputs)
        found = function(*inputs)
    for one, other, bound in zip(found if len(wanted) > 1 else (found,), wanted, bounds, strict=True):
        other = np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        with np.errstate(all="ignore"):
            near = np.abs(one.astype(np.float64) - other) <= bound
        # Beyond the greatest number, a value of one form may be infinite.
        edge = np.isinf(bound) | (np.isinf(one) != np.isinf(other)) & (bound > 1e30)
        assert (near | edge | (one == other) | (np.isnan(one) & np.isnan(other))).all(), expression.text


def check(text, *inputs):
    """Compile, compare, and assert that it was a loop that computed it."""
    function = CompiledExpression(text)
    assert_equal(function, function.expression, inputs)
    assert function.plan(inputs) is not None


def draw_expression(choose, dtypes):
    """Return an expression of a few steps over some inputs and constants."""
    steps = []

    def operand():
        kinds = [*(Input(at) for at in range(len(dtypes))), *(Result(at) for at in range(len(steps)))]
        return choose([*kinds, Constant(0.5), Constant(2), Constant(-1.5)])

    for _ in range(choose([1, 2, 4, 6])):
        name = choose([*UNARY, *BINARY, "where", "clip"])
        count = FUNCTIONS[name].arity
        given = tuple(operand() for _ in range(count))
        if all(isinstance(one, Constant) for one in given):
            given = (Input(0), *given[1:])
        steps.append(ExpressionStep(name, given))
    return Expression(len(dtypes), tuple(steps), (Result(len(steps) - 1),))


@st.composite
def cases(draw):
    def choose(options):
        return draw(st.sampled_from(options))

    dtypes = [choose(["f4", "f4", "f8"]) for _ in range(choose([1, 2]))]
    shapes = choose([[(7,), (7,)], [(3, 37), (37,)], [(3, 37), (3, 1)], [(2, 3, 5), (3, 1)], [(4,), ()]])
    seed = draw(st.integers(0, 1000))
    random = np.random.default_rng(seed)
    arrays = []
    for dtype, shape in zip(dtypes, shapes, strict=False):
        array = np.asarray(random.standard_normal(shape) * choose([1.0, 30.0])).astype(dtype)
        if seed % 2:
            array.reshape(-1)[: len(SPECIAL)] = SPECIAL[: array.size]
        arrays.append(array)
    return draw_expression(choose, dtypes), arrays


@pytest.mark.compiles
@settings(max_examples=150, deadline=None)
@given(cases())
def test_drawn_expressions_are_as_numpy_computes_them(case):
    expression, arrays = case
    assert_equal(CompiledExpression(expression), expression, arrays)


@settings(max_examples=200, deadline=None)
@given(cases())
def test_a_text_is_read_as_what_it_was_written_from(case):
    expression, _ = case
    assert Expression.from_text(expression.text) == expression
    assert Expression.from_text(expression.text).text == expression.text


ON_INTEGERS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert")
OTHERS = ("erf", "where", "clip", "round", "full_like")
EVERY_FLOAT = "; ".join(
    f"t{at} = {name}({', '.join(['x0', 'x1', 'x0'][: FUNCTIONS[name].arity])})"
    for at, name in enumerate(
        name
        for name, one in FUNCTIONS.items()
        if name in OTHERS or (one.is_ufunc and name not in ON_INTEGERS)
    )
)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.slow
def test_every_function_takes_every_pair_of_special_values(dtype):
    numbers = [*SPECIAL, 2.5, -2.5, 7.25, -0.3]
    x, y = (one.ravel().astype(dtype) for one in np.meshgrid(numbers, numbers))
    names = [f"t{at}" for at in range(EVERY_FLOAT.count(";") + 1)]
    check(f"inputs = 2; {EVERY_FLOAT}; return {', '.join(names)}", x, y)


INTEGERS = (
    "t0 = add(x0, x1); t1 = subtract(x0, x1); t2 = multiply(x0, x1); t3 = floor_divide(x0, x1); t4 = remainder(x0, x1); "
    "t5 = maximum(x0, x1); t6 = bitwise_xor(x0, x1); t7 = less(x0, x1); t8 = negative(x0); t9 = absolute(x0); "
    "t10 = sign(x0); t11 = invert(x0); t12 = where(t7, x0, x1); t13 = logical_and(x0, x1); t14 = square(x0); "
    "t15 = clip(x0, 2, 5); t16 = add(x0, 3)"
)


@pytest.mark.parametrize("dtype", ["u1", "i8", "i1", "i4"])
@pytest.mark.slow
def test_integers_wrap_and_divide_as_numpy_does(dtype):
    info = np.iinfo(dtype)
    numbers = sorted({info.min, info.max, 0, 1, 2, 7, max(info.min, -1), max(info.min, -7)})
    x, y = (one.ravel().astype(dtype) for one in np.meshgrid(numbers, numbers))
    check(f"inputs = 2; {INTEGERS}; return {', '.join(f't{at}' for at in range(17))}", x, y)


@pytest.mark.slow
def test_mixed_dtypes_are_promoted_as_numpy_promotes_them():
    text = (
        "inputs = 3; t0 = multiply(x0, x1); t1 = divide(x1, 2); t2 = add(x0, float64(0.1)); t3 = greater(x2, 0); "
        "t4 = multiply(t3, x0); t5 = cast(x0, dtype='int32'); return t0, t1, t2, t3, t4, t5"
    )
    x = np.linspace(-3, 3, 50)
    check(text, x.astype("f4"), np.arange(50, dtype="i4"), x.astype("i1"))


REDUCTIONS = (
    "t0 = sum(x0{o}); t1 = mean(x0{o}); t2 = max(x0{o}); t3 = min(x0{o}); t4 = prod(x0{o}); "
    "return t0, t1, t2, t3, t4"
)


OPTIONS = ("", ", axis=-1", ", axis=-1, keepdims=True", ", axis=0", ", axis=(1, 2), keepdims=True")


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", ["f4", "i4"])
@pytest.mark.slow
def test_reductions(options, dtype):
    x = (np.random.default_rng(3).standard_normal((3, 4, 1037)) * 4).astype(dtype)
    check(f"inputs = 1; {REDUCTIONS.format(o=options)}", x)


@pytest.mark.slow
def test_a_sum_does_not_lose_small_numbers_however_many_there_are():
    x = np.full(3_000_001, 0.1)
    x[0] = 1e9
    found = CompiledExpression("inputs = 1; t0 = sum(x0); return t0")(x)
    assert abs(float(found) - (1e9 + 3_000_000 * 0.1)) <= 70 * np.spacing(1e9)


@st.composite
def reduced_cases(draw):
    def choose(options):
        return draw(st.sampled_from(options))

    # One long axis at most: three of them would be a billion numbers.
    lengths = draw(st.lists(st.sampled_from([1, 2, 5, 16, 33]), max_size=2))
    at = draw(st.integers(0, len(lengths)))
    shape = (*lengths[:at], choose([1, 5, 33, 1030]), *lengths[at:])
    axes = draw(st.lists(st.integers(-len(shape), len(shape) - 1), unique_by=lambda at: at % len(shape)))
    options = (("axis", tuple(axes) or None), ("keepdims", True))
    inner, outer = (
        choose(["negative", "absolute", "square", "tanh"]),
        choose(["subtract", "multiply", "maximum"]),
    )
    first, second = choose(["sum", "mean", "max", "min"]), choose(["sum", "mean", "max", "min"])
    x = np.random.default_rng(draw(st.integers(0, 99))).standard_normal(shape).astype(choose(["f4", "f8"]))
    x.reshape(-1)[:1] = choose([0.0, 0.0, np.inf, np.nan])
    steps = (
        ExpressionStep(inner, (Input(0),)),
        ExpressionStep(first, (Result(0),), options),
        ExpressionStep(outer, (Input(0), Result(1))),
        ExpressionStep(second, (Result(2),), options),
    )
    return Expression(1, steps, (Result(2), Result(3), Result(1))), x


@pytest.mark.compiles
@settings(max_examples=80, deadline=None)
@given(reduced_cases())
def test_drawn_reductions_are_as_numpy_computes_them(case):
    expression, x = case
    assert_equal(CompiledExpression(expression), expression, [x])


def layer_norm(x, scale, shift):
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) * scale + shift


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.mark.slow
def test_reductions_within_an_expression_take_a_loop_each_over_one_row():
    x = np.random.default_rng(1).standard_normal((5, 6, 133)).astype("f4")
    check(trace(layer_norm, ["f4"] * 3).text, x, x[0, 0], x[0, 1])
    check(trace(softmax, ["f4"]).text, x)


LIES = {
    "transposed": lambda x: x.transpose(2, 0, 1),
    "reversed": lambda x: x[:, ::-1, ::-1],
    "every third": lambda x: x[..., ::3],
    "Fortran's order": np.asfortranarray,
    "a channel's": lambda x: x[:1, :, :1],
}


@pytest.mark.parametrize("name", LIES)
@pytest.mark.slow
def test_arrays_that_are_not_contiguous(name):
    x = np.random.default_rng(2).standard_normal((4, 5, 33)).astype("f4")
    y = LIES[name](x)
    check("inputs = 2; t0 = multiply(x0, x1); t1 = add(t0, x0); return t1", y, np.ones(y.shape, "f4"))
    check("inputs = 1; t0 = mean(x0, axis=-1, keepdims=True); t1 = subtract(x0, t0); return t1", y)


BY_NUMPY = {
    "float16": [np.ones(3, "f2")],
    "no elements": [np.ones((0, 3), "f4")],
    "another order of bytes": [np.ones(3, ">f4")],
    "not aligned": [np.frombuffer(b"\0" + np.ones(3, "f4").tobytes(), "f4", offset=1)],
}


@pytest.mark.parametrize("name", BY_NUMPY)
def test_what_no_loop_is_made_for_is_computed_by_numpy(name):
    function = CompiledExpression("inputs = 1; t0 = add(x0, 1); t1 = sqrt(t0); return t1")
    (x,) = BY_NUMPY[name]
    assert function.plan([x]) is None
    np.testing.assert_array_equal(function(x), np.sqrt(x + 1))


def test_shapes_that_one_loop_cannot_have_are_computed_by_numpy():
    function = CompiledExpression("inputs = 2; t0 = sum(x0, axis=-1); t1 = add(t0, x1); return t1")
    x, y = np.ones((3, 4), "f4"), np.arange(3, dtype="f4")
    np.testing.assert_array_equal(function(x, y), [4, 5, 6])
    np.testing.assert_array_equal(function(x[0], np.ones((2, 4), "f4")), np.full((2, 4), 5))


def test_shapes_that_do_not_broadcast_are_numpys_error():
    function = CompiledExpression("inputs = 2; t0 = add(x0, x1); return t0")
    with pytest.raises(ValueError, match="could not be broadcast together"):
        function(np.ones(3, "f4"), np.ones(4, "f4"))


def test_another_count_of_arrays_is_named():
    function = CompiledExpression("inputs = 2; t0 = add(x0, x1); return t0", "plus")
    with pytest.raises(OpError) as caught:
        function(np.ones(3))
    assert str(caught.value) == "plus takes 2 arrays, got 1"


def test_without_a_compiler_the_message_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError) as caught:
        CompiledExpression("inputs = 1; t0 = cosh(x0); return t0")(np.ones(3))
    assert str(caught.value) == (
        "an operation cannot be compiled: there is no g++ on PATH\n"
        "  install a C++ compiler, such as Debian's g++; the operation itself runs without being compiled"
    )


@pytest.mark.parametrize("kind", ["f4", "i4"])
@pytest.mark.slow
def test_bounds_that_are_numbers_keep_what_is_no_number(kind):
    x = np.array([-9, -2, -1, 0, 1, 2, 9] if kind == "i4" else [*SPECIAL, -2.0, 2.0], kind)
    bounds = (-1, 0, 2) if kind == "i4" else (-1, 0, np.inf, np.nan)
    texts, wanted = ["clip(x0, -1, 2)"], [np.clip(x, -1, 2)]
    for bound in bounds:
        for form in (np.maximum, np.minimum):
            texts += [f"{form.__name__}(x0, {bound})", f"{form.__name__}({bound}, x0)"]
            wanted += [form(x, bound), form(bound, x)]
    steps = "; ".join(f"t{at} = {text}" for at, text in enumerate(texts))
    results = ", ".join(f"t{at}" for at in range(len(texts)))
    for found, other in zip(
        CompiledExpression(f"inputs = 1; {steps}; return {results}")(x), wanted, strict=True
    ):
        np.testing.assert_array_equal(found, other.astype(kind))
