"""Layers: their parameters, by name and in order, and those of their parts."""

import copy

import numpy as np
import pytest

from brainsmith.errors import GradientError, OpError
from brainsmith.ops import CustomLayer, Tensor
from brainsmith.ops import functional as F


class Dense(CustomLayer):
    def __init__(self, inputs, outputs):
        self.weight = self.add_parameter("weight", np.full((inputs, outputs), 0.5))
        self.add_parameter("bias", np.zeros(outputs))

    def forward(self, x):
        return x @ self.weight + self.get_parameter("bias")


class Network(CustomLayer):
    def __init__(self):
        self.first = Dense(2, 3)
        self.blocks = [Dense(3, 3), (Dense(3, 3),)]
        self.heads = {"left": Dense(3, 1)}
        self.scale = self.add_parameter("scale", [1.0])
        self.note = "no layer"

    def forward(self, x):
        x = F.relu(self.first(x))
        return self.heads["left"](self.blocks[0](x)) * self.scale


NAMES = [
    "scale", "first.weight", "first.bias", "blocks.0.weight", "blocks.0.bias", "blocks.1.0.weight", "blocks.1.0.bias",
    "heads.left.weight", "heads.left.bias",
]  # fmt: skip


def test_parameters_have_names_its_own_first():
    network = Network()
    assert network.list_parameters() == NAMES
    assert [network.get_parameter(name) for name in NAMES] == network.parameters()
    assert network.get_parameter("first.weight") is network.first.weight


def test_a_parameter_is_a_leaf_of_a_copy():
    array = np.ones(2)

    class Own(Dense):
        def __init__(self):
            self.given = self.add_parameter("given", array)

    parameter = Own().given
    parameter.data -= 1
    assert (array.tolist(), parameter.requires_grad, parameter.dtype) == ([1.0, 1.0], True, np.float64)
    assert Network().scale.dtype == np.float32


def test_a_layer_is_called_and_its_parameters_get_gradients():
    network = Network()
    out = network(Tensor(np.ones((4, 2))))
    assert out.shape == (4, 1)
    out.sum().backward()
    unused = {name for name, parameter in network.named_parameters() if parameter.grad is None}
    assert unused == {"blocks.1.0.weight", "blocks.1.0.bias"}
    network.zero_grad()
    assert all(parameter.grad is None for parameter in network.parameters())


def test_a_part_that_is_used_twice_has_two_names_and_one_parameter():
    network = Network()
    network.again = network.first
    assert len(network.list_parameters()) == len(NAMES) + 2
    assert len(network.parameters()) == len(NAMES)


def test_values_are_taken_and_given_back():
    network, other = Network(), Network()
    network.scale.data = np.array([7.0])
    values = network.get_values()
    assert list(values) == NAMES
    other.set_values(values)
    assert other.scale.data.tolist() == [7.0]
    values["scale"][0] = 8
    assert (network.scale.item(), other.scale.item()) == (7.0, 7.0)


def test_values_that_do_not_fit_change_nothing():
    network = Dense(1, 1)
    with pytest.raises(OpError) as caught:
        network.set_values({"weight": [[1.0, 2.0]], "offset": 0})
    assert str(caught.value) == (
        "values do not fit Dense: bias is missing, offset is unknown, weight has shape (1, 2) instead of (1, 1)"
    )
    assert network.weight.data.tolist() == [[0.5]]


def test_a_copy_has_parameters_of_its_own():
    first = Dense(1, 2)
    second = copy.deepcopy(first)
    second.weight.data -= 1
    assert second.get_parameter("weight") is second.weight
    assert first.weight.data.tolist() == [[0.5, 0.5]]


def test_what_a_layer_says_of_itself():
    assert repr(Dense(2, 3)) == "<Dense: weight[2, 3], bias[3]>"


class Empty(CustomLayer):
    def forward(self, x):
        return x


def is_its_own_part():
    layer = Empty()
    layer.inner = [Empty()]
    layer.inner[0].back = layer
    layer.list_parameters()


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (
            lambda: Dense(1, 1).get_parameter("wieght"),
            OpError,
            "Dense has no parameter 'wieght'. Did you mean 'weight'?",
        ),
        (lambda: Dense(1, 1).get_parameter("x"), OpError, "Dense has no parameter 'x'; it has weight, bias"),
        (lambda: Empty().get_parameter("x"), OpError, "Empty has no parameter 'x'; it has none"),
        (
            lambda: Dense(1, 1).add_parameter("bias", [1.0]),
            OpError,
            "Dense has a parameter 'bias' already, of shape (1,)",
        ),
        (
            lambda: Empty().add_parameter("a.b", [1.0]),
            OpError,
            "the name of a parameter must be a Python identifier, not 'a.b'",
        ),
        (
            lambda: Empty().add_parameter(3, [1.0]),
            OpError,
            "the name of a parameter must be a Python identifier, not 3",
        ),
        (
            lambda: Empty().add_parameter("count", np.array([1])),
            GradientError,
            "only a Tensor of floating-point numbers can require a gradient, not one of int64; "
            "Tensor(data, requires_grad=True, dtype=np.float32) converts it",
        ),
        (is_its_own_part, OpError, "Empty is a part of itself, as 'inner.0.back'"),
    ],
)
def test_what_is_wrong_is_said(run, error, message):
    with pytest.raises(error) as caught:
        run()
    assert str(caught.value) == message


def test_a_failed_parameter_is_not_there():
    layer = Empty()
    with pytest.raises(GradientError):
        layer.add_parameter("count", np.array([1]))
    assert layer.list_parameters() == []


def test_a_layer_needs_a_forward():
    class Nothing(CustomLayer):
        pass

    with pytest.raises(TypeError, match="forward"):
        Nothing()
