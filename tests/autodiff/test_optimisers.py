"""Optimisers: known steps, convex problems solved, what is refused."""

import numpy as np
import pytest

from brainsmith.errors import GradientError, OpError
from brainsmith.ops import Adam, Sgd, Tensor


def leaf(values, dtype=np.float64):
    return Tensor(np.array(values, dtype), requires_grad=True)


def steps(optimiser, x, count):
    """The values of x while x * x is made small."""
    found = []
    for _ in range(count):
        optimiser.zero_grad()
        (x * x).sum().backward()
        optimiser.step()
        found.append(x.item())
    return found


def test_gradient_descent_takes_the_known_steps():
    x = leaf(1.0)
    assert steps(Sgd([x], rate=0.1), x, 3) == pytest.approx([0.8, 0.64, 0.512])


def test_momentum_takes_the_known_steps():
    x = leaf(1.0)
    assert steps(Sgd([x], rate=0.1, momentum=0.9), x, 3) == pytest.approx([0.8, 0.46, 0.062])


def test_adam_takes_the_steps_of_its_algorithm():
    x = leaf(1.0)
    found = steps(Adam([x], rate=0.1), x, 3)
    value, mean, squares, expected = 1.0, 0.0, 0.0, []
    for step in (1, 2, 3):
        gradient = 2 * value
        mean, squares = 0.9 * mean + 0.1 * gradient, 0.999 * squares + 0.001 * gradient**2
        value -= 0.1 * (mean / (1 - 0.9**step)) / (np.sqrt(squares / (1 - 0.999**step)) + 1e-8)
        expected.append(value)
    assert found == pytest.approx(expected, rel=1e-12)
    assert found[0] == pytest.approx(0.9)  # the first step is the rate, whatever the gradient


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (lambda p: Sgd(p, rate=0.1), 300),
        (lambda p: Sgd(p, rate=0.05, momentum=0.8), 300),
        (lambda p: Adam(p, rate=0.05), 600),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linear_regression_finds_the_solution_of_least_squares(make, count, dtype):
    random = np.random.default_rng(0)
    x = random.normal(size=(50, 3)).astype(dtype)
    y = (x @ np.array([1.0, -2.0, 0.5]) + 0.3 + 0.1 * random.normal(size=50)).astype(dtype)
    weight, bias = leaf(np.zeros(3), dtype), leaf(0.0, dtype)
    optimiser = make([weight, bias])
    for _ in range(count):
        optimiser.zero_grad()
        ((x @ weight + bias - y) ** 2).mean().backward()
        optimiser.step()
    expected = np.linalg.lstsq(np.c_[x, np.ones(50)], y, rcond=None)[0]
    np.testing.assert_allclose([*weight.data, bias.item()], expected, atol=1e-4)
    assert weight.dtype == dtype


def test_parameters_without_a_gradient_stay():
    used, unused = leaf([1.0]), leaf([1.0])
    (used * 2).backward()
    Adam([used, unused], rate=0.5).step()
    assert (used.data.tolist(), unused.data.tolist()) == ([pytest.approx(0.5)], [1.0])


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (lambda: Sgd([]), OpError, "Sgd needs at least one parameter"),
        (
            lambda: Sgd([Tensor([1.0])]),
            OpError,
            "a parameter of Sgd must be a Tensor made with requires_grad=True, not Tensor([1.], dtype=float32)",
        ),
        (
            lambda: Adam([leaf(1.0) * 2]),
            OpError,
            "a parameter of Adam must be a Tensor made with requires_grad=True, not "
            "Tensor(2., dtype=float64, requires_grad=True, by mul)",
        ),
        (lambda: Adam([leaf(1.0)], rate=-1), OpError, "rate of Adam must be a number of at least 0, not -1"),
        (
            lambda: Sgd([leaf(1.0)], momentum=1.0),
            OpError,
            "momentum of Sgd must be a number of at least 0 and below 1, not 1.0",
        ),
        (
            lambda: Adam([leaf(1.0)], betas=(0.9, "x")),
            OpError,
            "betas of Adam must be a number of at least 0 and below 1, not 'x'",
        ),
        (
            lambda: Sgd([leaf(1.0)]).step(),
            GradientError,
            "Sgd.step() found no gradient at any parameter: call backward() on the loss first",
        ),
    ],
)
def test_what_is_wrong_is_said(run, error, message):
    with pytest.raises(error) as caught:
        run()
    assert str(caught.value) == message
