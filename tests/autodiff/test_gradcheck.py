"""A gradient check finds what is wrong with a gradient, and says where."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith import ops
from brainsmith.autodiff.checking.finite_differences import slope, step_at
from brainsmith.errors import GradientError, OpError, PluginNotFoundError
from brainsmith.ops import CustomOpBuilder, gradcheck

FORWARDS = {
    "square": (lambda x: x * x, lambda x: 2 * x),
    "sine": (np.sin, np.cos),
    "steep": (lambda x: np.tanh(20 * x), lambda x: 20 / np.cosh(20 * x) ** 2),
    "tiny": (lambda x: 1e-9 * np.exp(x), lambda x: 1e-9 * np.exp(x)),
    "huge": (lambda x: 1e9 * x**3, lambda x: 3e9 * x**2),
    "relu": (lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0),
}


def built(name, backward=None, forward=None, **more):
    builder = CustomOpBuilder(name, 1).forward(lambda inputs: (forward or FORWARDS[name][0])(inputs[0]))
    if backward is not None:
        builder.backward(
            lambda grad, ids, shapes, dtypes, devices, inputs: {ids[0]: backward(grad, inputs[0])}
        )
    for role, function in more.items():
        getattr(builder, role)(function)
    return builder.build()


@pytest.mark.parametrize("name", FORWARDS)
def test_a_true_gradient_passes(name):
    report = gradcheck(built(name, lambda grad, x: grad * FORWARDS[name][1](x)))
    assert report.op == name
    assert report.against == "forward"
    assert report.points == 10
    assert report.elements + report.skipped == 2 * (1 + 3 + 8 + 24 + 18)
    assert report.worst[0] < 1e-6


@pytest.mark.parametrize("name", [name for name in FORWARDS if name != "relu"])
@pytest.mark.parametrize("wrong", [1.0001, 0.0, -1.0])
def test_a_gradient_that_is_off_by_a_factor_is_found(name, wrong):
    op = built(name, lambda grad, x: wrong * grad * FORWARDS[name][1](x))
    with pytest.raises(
        GradientError, match=f"^backward of operation '{name}' is not the derivative of forward"
    ):
        gradcheck(op)


def test_pitfall_34_a_gradient_that_is_all_ones():
    op = built("square", lambda grad, x: np.ones_like(x))
    with pytest.raises(GradientError) as caught:
        gradcheck(op, [[3.0]], seed=1)
    weight = np.random.default_rng(1)
    sign = weight.choice([-1.0, 1.0], (1,))
    expected = 6 * float((sign * weight.uniform(0.25, 0.75, (1,)) + sign)[0])
    assert str(caught.value) == (
        "backward of operation 'square' is not the derivative of forward: for input 0, element (0,) of shape (1,), "
        f"finite differences give {expected:.8g}, backward gives 1; "
        "it is the same whatever the output's gradient is: backward must multiply by grad_output"
    )


@pytest.mark.parametrize("seed", range(5))
def test_pitfall_34_a_gradient_that_is_all_ones_where_the_derivative_is_one(seed):
    op = built("identity", lambda grad, x: np.ones_like(x), forward=lambda x: x + 0)
    with pytest.raises(GradientError, match=r"backward must multiply by grad_output$"):
        gradcheck(op, seed=seed)


def test_pitfall_34_a_gradient_that_ignores_upstream():
    op = built("square", lambda grad, x: 2 * x)
    with pytest.raises(GradientError, match=r"backward must multiply by grad_output$"):
        gradcheck(op)


def test_pitfall_34_a_gradient_that_uses_only_the_sign_of_upstream():
    op = built("square", lambda grad, x: np.sign(grad) * 2 * x)
    with pytest.raises(GradientError, match=r"backward must multiply by grad_output$"):
        gradcheck(op)


def test_pitfall_34_a_gradient_that_is_missing():
    with pytest.raises(GradientError) as caught:
        gradcheck(built("square"))
    assert str(caught.value) == "operation 'square' has no gradient: it defines no backward"


def test_pitfall_34_a_gradient_that_is_missing_for_one_input():
    op = (
        CustomOpBuilder("product", 2)
        .forward(lambda inputs: inputs[0] * inputs[1])
        .backward(lambda grad, ids, shapes, dtypes, devices, inputs: {ids[0]: grad * inputs[1]})
        .build()
    )
    with pytest.raises(GradientError) as caught:
        gradcheck(op)
    assert str(caught.value) == (
        "backward of operation 'product' returned no gradient for input 1; "
        "an input without one is listed in not_differentiable"
    )


def test_pitfall_34_a_gradient_that_is_zero_in_one_place():
    def backward(grad, x):
        gradient = grad * 2 * x
        gradient.flat[-1] = 0
        return gradient

    with pytest.raises(GradientError, match=r"element \(1, 2\) of shape \(2, 3\), .* backward gives 0$"):
        gradcheck(built("square", backward), [np.arange(1.0, 7).reshape(2, 3)])


class TwoOutputs(ops.Op):
    """x + y and x * y, with a fault for tests."""

    name, num_inputs, num_outputs = "two_outputs", 2, 2
    fault = 0.0

    def forward(self, x, y):
        return x + y, x * y

    def backward(self, grad_output, inputs, output):
        first, second = grad_output
        x, y = inputs
        return first + second * y, first + (1 + self.fault) * second * x


def test_every_output_takes_part():
    report = gradcheck(TwoOutputs)
    assert set(report.worst) == {0, 1}
    wrong = TwoOutputs()
    wrong.fault = 0.001
    with pytest.raises(GradientError, match="for input 1, "):
        gradcheck(wrong)


def test_broadcast_inputs_of_unlike_shapes():
    class Scale(ops.Op):
        name, num_inputs = "scale", 2

        def forward(self, x, by):
            return x * by

        def backward(self, grad_output, inputs, output):
            x, by = inputs
            return grad_output * by, np.sum(grad_output * x).reshape(by.shape)

    report = gradcheck(Scale, [np.ones((3, 4)), [2.0]])
    assert report.elements == 13


def test_attributes_reach_forward_and_backward():
    class Leaky(ops.Op):
        name = "leaky"
        attributes = {"slope": 0.1}

        def forward(self, x, *, slope):
            return np.where(x > 0, x, slope * x)

        def backward(self, grad_output, inputs, output, *, slope):
            return grad_output * np.where(inputs[0] > 0, 1, slope)

    assert gradcheck(Leaky).elements
    assert gradcheck(Leaky, attributes={"slope": 0.7}).elements
    with pytest.raises(OpError, match=r"^operation 'leaky' has no attribute 'slop'; it has slope$"):
        gradcheck(Leaky, attributes={"slop": 0.7})


def test_a_kink_is_left_out_and_reported():
    op = built("relu", lambda grad, x: grad * (x > 0))
    report = gradcheck(op, [[-1.0, 0.0, 2.0, 1e-5, -4e-5]])
    assert (report.elements, report.skipped) == (2, 3)
    assert str(report) == (
        "relu: backward is the derivative of forward at 1 point, 2 elements, 3 skipped at kinks; "
        f"largest relative error {report.worst[0]:.1e} for input 0"
    )


def test_kinks_everywhere_are_not_a_pass():
    op = built("relu", lambda grad, x: grad * (x > 0))
    with pytest.raises(GradientError) as caught:
        gradcheck(op, [[0.0, 0.0]])
    assert str(caught.value) == (
        "the gradient of operation 'relu' for input 0 could not be checked: all 2 elements that were tried are nearer "
        "than a step to a kink, a jump or the domain's edge; give other inputs="
    )


def test_a_straight_through_op_is_checked_against_its_surrogate():
    def through(grad, x):
        return grad * (np.abs(x) <= 2)

    honest = built("rounded", through, forward=np.round, surrogate=lambda inputs: np.clip(inputs[0], -2, 2))
    assert gradcheck(honest).against == "its surrogate"
    wrong = built("rounded", through, forward=np.round, surrogate=lambda inputs: np.clip(inputs[0], -1, 1))
    with pytest.raises(GradientError, match="is not the derivative of its surrogate: "):
        gradcheck(wrong)
    silent = built("rounded", through, forward=np.round)
    with pytest.raises(GradientError, match=r"declares the surrogate= of its backward$"):
        gradcheck(silent)


def test_a_surrogate_may_hold_what_it_takes_at_the_point():
    class Residue(ops.Op):
        """round(x) * s, whose rounding residue is held."""

        name, num_inputs = "residue", 2

        def forward(self, x, s):
            return np.round(x / s) * s

        def surrogate(self, x, s, *, at):
            return (x / s + np.round(at[0] / at[1]) - at[0] / at[1]) * s

        def backward(self, grad_output, inputs, output):
            x, s = inputs
            return grad_output, grad_output * (np.round(x / s) - x / s)

    assert gradcheck(Residue).against == "its surrogate"


def test_float32_is_used_where_the_op_refuses_float64():
    def only_float32(inputs):
        if inputs[0].dtype != np.float32:
            raise ValueError("takes float32")

    op = built("sine", lambda grad, x: grad * np.cos(x), validate=only_float32)
    assert gradcheck(op).worst[0] < 1e-3
    wrong = built("sine", lambda grad, x: grad * np.cos(x) * 1.05, validate=only_float32)
    with pytest.raises(GradientError):
        gradcheck(wrong)


def test_samples_are_where_an_op_says():
    op = built(
        "log", lambda grad, x: grad / x, forward=np.log, samples=lambda random: [random.uniform(1, 3, (2, 2))]
    )
    report = gradcheck(op)
    assert (report.points, report.elements, report.skipped) == (4, 16, 0)


def test_an_op_that_gives_nan_at_drawn_inputs_says_what_to_do():
    op = built("log", lambda grad, x: grad / x, forward=lambda x: np.full_like(x, np.nan))
    with pytest.raises(
        GradientError, match=r"^operation 'log' accepts none of the inputs that gradcheck drew; give inputs="
    ):
        gradcheck(op)


@pytest.mark.parametrize(
    ("given_inputs", "message"),
    [
        ([[np.nan]], "a gradient check needs finite inputs; input 0 of operation 'square' is not"),
        ([[np.inf, 1.0]], "a gradient check needs finite inputs; input 0 of operation 'square' is not"),
        ([np.zeros((0, 3))], "a gradient check needs elements; input 0 of operation 'square' is empty"),
        ([1.0, 2.0], "Operation 'square' expects 1 input, got 2"),
        ([], "Operation 'square' expects 1 input, got 0"),
        ([["x"]], None),
    ],
)
def test_bad_inputs(given_inputs, message):
    op = built("square", lambda grad, x: grad * 2 * x)
    with pytest.raises(OpError) as caught:
        gradcheck(op, given_inputs)
    assert message is None or str(caught.value) == message


@pytest.mark.parametrize("shape", [(), (3,)])
def test_integers_are_taken_as_floats(shape):
    op = built("square", lambda grad, x: grad * 2 * x)
    assert gradcheck(op, [np.full(shape, 3)]).elements == max(1, *shape, 1)


def test_what_is_no_op():
    with pytest.raises(PluginNotFoundError):
        gradcheck("no_such_op")
    with pytest.raises(
        OpError, match=r"^gradcheck takes an op, its name, its class or a function of Tensors, not 3$"
    ):
        gradcheck(3)
    with pytest.raises(OpError, match=r"^tolerance of a gradient check must be between 0 and 1, not 2$"):
        gradcheck(built("square"), tolerance=2)
    with pytest.raises(
        OpError, match=r"^seed of a gradient check must be a whole number from 0 on, not 'a'$"
    ):
        gradcheck(built("square"), seed="a")
    with pytest.raises(
        OpError, match=r"^gradcheck of a function needs inputs=: how many it takes is not known$"
    ):
        gradcheck(lambda x: x)


@pytest.mark.parametrize(
    ("surrogate", "message"),
    [
        (
            lambda inputs: inputs[0].sum(),
            "the surrogate of operation 'r' gives shapes [()] where forward gives [(2,)]",
        ),
        (
            lambda inputs: inputs[1],
            "the surrogate of operation 'r' failed: IndexError: list index out of range",
        ),
    ],
)
def test_a_surrogate_that_does_not_fit(surrogate, message):
    op = built("r", lambda grad, x: grad, forward=np.round, surrogate=surrogate)
    with pytest.raises(OpError) as caught:
        gradcheck(op, [[0.2, 1.3]])
    assert str(caught.value) == message


def test_a_surrogate_that_is_no_function():
    class Rounded(ops.Op):
        name, surrogate = "rounded", 3

        def forward(self, x):
            return np.round(x)

        def backward(self, grad_output, inputs, output):
            return grad_output

    with pytest.raises(OpError, match=r"^the surrogate of operation 'rounded' must be a function, not 3$"):
        gradcheck(Rounded)


def test_a_surrogate_that_is_built_may_take_the_point():
    def held(inputs, at):
        return inputs[0] + np.round(at[0]) - at[0]

    assert gradcheck(built("r", lambda grad, x: grad, forward=np.round, surrogate=held)).elements == 108


def test_an_op_that_gives_integers_has_no_gradient():
    whole = {"forward": lambda x: np.sign(x).astype(int), "output_dtype": lambda dtypes: np.dtype(int)}
    op = built("count", lambda grad, x: 0 * x, **whole)
    with pytest.raises(
        GradientError, match=r"^operation 'count' gives no floats, so it has no gradient to check$"
    ):
        gradcheck(op, [[1.0]])


FUNCTIONS = {
    "square of a product": (lambda x, w: (np.tanh(x @ w) ** 2).sum(), [np.ones((2, 3)), np.ones((3, 4)) / 7]),
    "an input unused": (lambda x, y: x * 2, [[1.0], [2.0]]),
    "a part": (lambda x: x[0], [np.ones((2, 2))]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_tensors(name):
    function, given_inputs = FUNCTIONS[name]
    assert max(gradcheck(function, given_inputs).worst.values()) < 1e-8


def test_a_function_whose_tape_is_cut_is_found():
    def cut(x):
        return x.detach() * x

    with pytest.raises(
        GradientError, match=r"^backward of operation 'cut' is not the derivative of forward: "
    ):
        gradcheck(cut, [[2.0]])

    def plain(x):
        return 3.0

    with pytest.raises(OpError, match=r"^function 'plain' must return a Tensor, not float$"):
        gradcheck(plain, [[2.0]])


def test_no_differentiable_input_is_an_error():
    builder = CustomOpBuilder("index", 1).forward(lambda inputs: inputs[0]).backward(lambda *given: {})
    with pytest.raises(
        GradientError, match=r"^operation 'index' has no gradient to check: no input is differentiable$"
    ):
        gradcheck(builder.not_differentiable(0).build())


def test_a_large_input_is_checked_in_drawn_places():
    op = built("square", lambda grad, x: grad * 2 * x)
    assert gradcheck(op, [np.linspace(-1, 1, 5000)]).elements == 200


@settings(max_examples=50, deadline=None)
def near_a_pole(x):
    """Return a function that bends within a few steps of 0, as a normalisation does between two near values."""
    return 1 / np.sqrt(x * x + 1e-3)


@pytest.mark.parametrize("x", [0.002, 0.02, 0.05, 0.3])
def test_the_remainder_of_the_differences_is_part_of_the_doubt(x):
    found = slope(lambda v: [near_a_pole(v)], np.array([x]), (0,), [np.array([1.0])], 2.0**-52)
    exact = -x * near_a_pole(x) ** 3
    assert found.smooth
    assert abs(found.value - exact) <= found.doubt < 1e-7 * abs(exact) + 1e-9


def test_a_steep_place_of_a_true_gradient_passes_and_of_a_wrong_one_does_not():
    ops.register_example_custom_ops()
    assert gradcheck("layer_norm", seed=3).skipped < 5
    op = ops.get_custom_op("layer_norm")

    def wrong(grad_output, inputs, output, **attributes):
        by_x, *rest = type(op).backward(op, grad_output, inputs, output, **attributes)
        return (by_x * 1.00001, *rest)

    faulty = copy(op)
    faulty.backward = wrong
    with pytest.raises(GradientError, match="is not the derivative of forward: for input 0, "):
        gradcheck(faulty, seed=3)


@given(
    coefficients=st.lists(st.floats(-5, 5), min_size=1, max_size=6),
    x=st.floats(-3, 3),
)
def test_the_slope_of_a_polynomial(coefficients, x):
    polynomial = np.polynomial.Polynomial(coefficients)
    found = slope(lambda v: [polynomial(v)], np.array([x]), (0,), [np.array([1.0])], 2.0**-52)
    slope_there, curvature = polynomial.deriv()(x), polynomial.deriv(2)(x)
    assert abs(found.value - slope_there) <= 1e-8 + found.doubt
    # Where a curve is straight to second order, what is left looks like a kink: the point is skipped.
    assert found.smooth or min(abs(slope_there), abs(curvature)) < 1e-3


@settings(max_examples=100, deadline=None)
@given(x=st.floats(-1.0, 1.0), jump=st.floats(0.01, 10))
def test_a_kink_within_a_step_is_never_taken_for_a_slope(x, jump):
    """At distance 2 steps there is none; nearer there may be, and then the slope is one of the two."""
    found = slope(
        lambda v: [jump * np.maximum(v - x, 0) + v], np.array([x * 1.0]), (0,), [np.ones(1)], 2.0**-52
    )
    assert not found.smooth


@given(st.floats(-1e6, 1e6))
def test_a_step_is_a_power_of_two_that_moves_the_element(x):
    step = step_at(x, 2.0**-52)
    assert np.log2(step) == round(np.log2(step))
    assert x + step > x > x - step
    assert step <= 2.0**-12 * max(1.0, abs(x))
