import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.comparison.float_ties.explanation import explain_frame
from brainsmith.comparison.float_ties.float_network import FloatNetwork
from brainsmith.comparison.float_ties.layer_levels import LayerLevels
from brainsmith.errors import BrainsmithError
from brainsmith.execution.execute import Executor
from brainsmith.execution.read_model import read_model
from brainsmith.steps.cleanup import cleanup
from brainsmith.transforms.integer.batch_of_one import with_batch_of_one
from brainsmith.transforms.integer_layers import IntegerLayers
from tests.comparison.float_ties.tie_networks import (
    WEIGHTS,
    one_layer,
    quantiser,
    samples,
    two_layers,
    wrapped,
)
from tests.hunt.inputs import unseen_inputs
from tests.hunt.networks import random_network
from tests.hunt.writer import CUSTOM, Writer
from tests.transforms.quantised_nets import Net

U = Fraction(1, 1 << 24)


def explained(model, stack, layers=None):
    """Return what comes of each frame of the integer layers of a network, or of other layers."""
    levels = LayerLevels(model.transform(IntegerLayers()) if layers is None else layers)
    network = FloatNetwork(with_batch_of_one(model)[0])
    (name,) = network.inputs
    return list(levels.explain(network, {name: stack.reshape(-1, *network.signature.inputs[0].shape)}))


def level_of(value, scale):
    """The level that QONNX's arithmetic gives a float32, in steps."""
    return int(np.clip(np.round(np.float32(value) / np.float32(scale)), -8, 7))


def summed(terms):
    total = np.float32(0)
    for term in terms:
        total = np.float32(total + term)
    return total


@pytest.mark.parametrize("scale", [0.7, 0.1, 0.3, 1.1])
def test_each_tie_lies_within_the_bound_and_float32_gives_both_levels(scale):
    model, level = one_layer(scale, 2 * scale), 2 * scale
    stack = samples()[::4]
    weights = np.float32(WEIGHTS) * np.float32(scale)
    frames = explained(model, stack)
    assert [frame.wrong for frame in frames if frame.wrong] == []
    own = Executor(model).run({"x": stack})[model.graph.output[0].name]
    ties = 0
    for frame, sample, values in zip(frames, stack, own, strict=True):
        for tie in frame.ties:
            column = tie.place[1]
            terms = [np.float32(x * w) for x, w in zip(sample[0], weights[:, column], strict=True)]
            exact = sum(
                Fraction(float(x)) * Fraction(float(w))
                for x, w in zip(sample[0], weights[:, column], strict=True)
            )
            size = sum(
                abs(Fraction(float(x)) * Fraction(float(w)))
                for x, w in zip(sample[0], weights[:, column], strict=True)
            )
            step = Fraction(float(np.float32(level)))
            threshold = (exact / step - Fraction(1, 2)).__round__() + Fraction(1, 2)
            gamma = 6 * U / (1 - 6 * U)
            assert abs(exact / step - threshold) <= gamma * size / step + 2 * U * abs(exact / step)
            assert tie.distance <= tie.bound * (1 + 1e-6)
            orders = {level_of(summed(order), level) for order in itertools.permutations(terms)}
            rounded = {level_of(float(scale64(scale) * round(float(exact) / scale)), level)}
            reached = orders | rounded
            mine = round(float(values[0, column]) / level)
            assert mine in orders
            assert len(reached) == 2
            ties += 1
    assert ties > 0


def scale64(scale):
    return np.float64(np.float32(scale))


@given(st.data())
def test_no_order_of_summation_gives_a_value_outside_the_bounds(data):
    count = data.draw(st.integers(2, 5))
    floats = st.floats(-8, 8, width=32)
    weights = np.asarray(data.draw(st.lists(floats, min_size=count, max_size=count)), np.float32)
    whole = data.draw(st.lists(st.integers(-16, 15), min_size=count, max_size=count))
    writer = Writer()
    product = writer.node("MatMul", ["x", writer.constant(weights[:, None])], (1, 1))
    network = FloatNetwork(wrapped(writer, [product], (1, count)))
    frame = np.asarray([whole], np.float32)
    found = network.follow({"x": frame}, lambda quantiser, given, own: own.value)[product.name]
    terms = [np.float32(x * w) for x, w in zip(frame[0], weights, strict=True)]
    for order in itertools.permutations(terms):
        assert found.low.item() <= summed(order) <= found.high.item()
    exact = sum(Fraction(int(x)) * Fraction(float(w)) for x, w in zip(whole, weights, strict=True))
    assert Fraction(found.low.item()) <= exact <= Fraction(found.high.item())


@pytest.mark.parametrize(
    "seed", [3, 82, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(400, 430))]
)
def test_exact_networks_have_no_tie_and_others_nothing_but_ties(seed):
    network = random_network(seed)
    model = cleanup(read_model(network.file()), None)
    try:
        frames = explained(model, unseen_inputs(network.shape, network.datatype, seed)[-16:])
    except BrainsmithError:
        pytest.skip("has no integer layers")
    assert [frame.wrong for frame in frames if frame.wrong] == []
    rounded = FloatNetwork(model).rounded
    assert rounded or network.exact
    if network.exact:
        # A function such as a sigmoid has values that are no whole steps, so a product with one of them is rounded.
        functions = {node.op_type for node in model.graph.node} & {"Erf", "Sigmoid", "Softplus", "Tanh"}
        assert functions or not rounded
        assert not any(frame.ties for frame in frames)


def test_a_network_of_powers_of_two_has_no_tie_whatever_is_found():
    stack = samples()[::4]
    model = one_layer(0.5, 1.0)
    assert FloatNetwork(model).rounded == []
    assert not any(frame.ties or frame.wrong for frame in explained(model, stack))
    other = one_layer(0.5, 1.0, mode="HALF_UP").transform(IntegerLayers())
    frames = explained(model, stack, other)
    assert not any(frame.ties for frame in frames)
    assert next(frame.wrong for frame in frames if frame.wrong) == (
        "element [0, 0] of 't2' is -1, and 0 in the network; what it is made of lies 2.98e-08 of a step from the "
        "threshold between them, and rounding moves it by 0 of a step at most"
    )


def test_the_layers_are_compared_one_by_one_each_with_the_levels_found_before():
    model = two_layers(0.7, 1.4)
    frames = explained(model, samples()[::4])
    assert not any(frame.wrong for frame in frames)
    assert {tie.tensor for frame in frames for tie in frame.ties} == {"t3", "t6"}
    assert {frame.values for frame in frames} == {4}


def test_logits_may_differ_by_their_own_rounding_alone():
    model = two_layers(0.7, 1.4, logits=True)
    network = FloatNetwork(model)
    frame = {"x": np.array([[1.0, 2.0, 4.0]], np.float32)}
    tensors = network.follow(frame, lambda quantiser, given, own: own.value)
    (name,) = network.outputs
    own = tensors[name].value
    near, far = own * np.float32(1 + 2.0**-23), own * np.float32(1 + 2.0**-18)
    assert explain_frame(network, frame, {}, {name: near}, None).wrong == ""
    assert explain_frame(network, frame, {}, {name: far}, None).wrong.startswith(f"output 1 of '{name}' is ")
    assert explain_frame(network, frame, {}, {name: far}, 1.0).wrong == ""
    assert explain_frame(network, frame, {}, {name: own * np.nan}, None).wrong.startswith(
        f"output 0 of '{name}' is nan"
    )


def arg_max(other):
    writer = Writer()
    weights = np.array([[0.7, other], [0.7, other], [0.7, 0.7]], np.float32)
    product = writer.node("MatMul", ["x", writer.constant(weights)], (1, 2))
    names = [product.name, writer.constant([1], np.int64)]
    _, index = writer.split("TopK", names, [(1, 1)] * 2, axis=1, largest=1, sorted=1)
    return FloatNetwork(wrapped(writer, [index], integers=(index.name,)))


def test_a_class_is_right_if_its_value_is_the_largest_but_for_rounding():
    frame = {"x": np.array([[-13.0, 2.0, 11.0]], np.float32)}
    tied, clear = arg_max(0.7), arg_max(0.1)
    (name,) = tied.outputs
    for place in (0, 1):
        assert explain_frame(tied, frame, {}, {name: np.array([[place]])}, None).wrong == ""
    assert explain_frame(clear, frame, {}, {name: np.array([[1]])}, None).wrong == ""
    assert explain_frame(clear, frame, {}, {name: np.array([[0]])}, None).wrong == (
        f"output '{name}' is the index of a value that is 6.6 below the largest one, and rounding moves them by 1.1e-05 at "
        "most"
    )
    assert explain_frame(clear, frame, {}, {name: np.array([[2]])}, None).wrong == (
        f"output '{name}' is 2, and there are 2 values"
    )


def test_levels_of_another_shape_or_between_two_levels_are_wrong():
    network = FloatNetwork(one_layer(0.7, 1.4))
    frame, (name,) = {"x": np.zeros((1, 3), np.float32)}, network.outputs
    found = explain_frame(network, frame, {name: np.zeros((1, 3))}, {}, None)
    assert found.wrong == f"'{name}' has the shape [1, 3] there"
    found = explain_frame(network, frame, {name: np.full((1, 2), 0.5)}, {}, None)
    assert found.wrong == f"element [0, 0] of '{name}' is 0.5, which is not one of its levels"


@pytest.mark.parametrize(("scale", "tie"), [(0.5, True), (0.45, False)])
def test_behind_operators_that_are_not_known_a_hundred_thousandth_is_rounding(scale, tie):
    writer = Writer()
    product = writer.node("MatMul", ["x", writer.constant(np.full((3, 2), 0.7, np.float32))], (1, 2))
    soft = writer.node("Softmax", [product.name], (1, 2), axis=1)
    names = [soft.name, *(writer.constant(value) for value in (scale, 0.0, 4.0))]
    network = FloatNetwork(
        wrapped(
            writer, [writer.node("Quant", names, (1, 2), CUSTOM, signed=0, narrow=0, rounding_mode="FLOOR")]
        )
    )
    frame, (name,) = {"x": np.ones((1, 3), np.float32)}, network.outputs
    own = network.follow(frame, lambda quantiser, given, levels: levels.value)[name].value
    np.testing.assert_allclose(own, [[scale, scale]])
    found = explain_frame(network, frame, {name: own - scale}, {}, None)
    assert [len(found.ties), bool(found.wrong)] == ([2, False] if tie else [0, True])
    assert len(network.rounded) == 2  # the product, and Softmax of it


@pytest.mark.parametrize("function", ["Softmax", "Gelu", "Floor"])
def test_operators_that_are_not_known_are_exact_behind_exact_sums(function):
    writer = Writer()
    product = writer.node("MatMul", ["x", writer.constant(np.full((3, 2), 0.5, np.float32))], (1, 2))
    soft = writer.node(function, [product.name], (1, 2))
    settings = {"signed": 0, "narrow": 0, "rounding_mode": "FLOOR"}
    names = [soft.name, *(writer.constant(value) for value in (0.5, 0.0, 4.0))]
    model = wrapped(writer, [writer.node("Quant", names, (1, 2), CUSTOM, **settings)])
    model.model.opset_import[0].version = 20
    network = FloatNetwork(model)
    frame, (name,) = {"x": np.ones((1, 3), np.float32)}, network.outputs
    own = network.follow(frame, lambda quantiser, given, levels: levels.value)[name].value
    assert network.rounded == []
    assert explain_frame(network, frame, {name: own + 0.5}, {}, None).wrong


@pytest.mark.parametrize("kind", ["Gelu", "x * sigmoid(x)", "HardSwish", "Tanh", "LeakyRelu"])
def test_functions_of_each_element_are_computed_of_exact_sums(kind):
    writer = Writer()
    weights = quantiser(writer, writer.constant(WEIGHTS * 0.7), (3, 2), 0.7, 4.0)
    product = writer.node("MatMul", ["x", weights.name], (1, 2))
    if kind == "x * sigmoid(x)":
        sigmoid = writer.node("Sigmoid", [product.name], (1, 2))
        found = writer.node("Mul", [product.name, sigmoid.name], (1, 2))
    else:
        found = writer.node(kind, [product.name], (1, 2))
    model = wrapped(writer, [quantiser(writer, found.name, (1, 2), 1.4 / 4, 6.0)])
    model.model.opset_import[0].version = 20
    frames = explained(model, samples())
    assert [frame.wrong for frame in frames if frame.wrong] == []


@given(
    st.integers(-3, 3),
    st.integers(-3, 3),
    st.sampled_from(["ROUND", "CEIL", "FLOOR", "HALF_UP", "DOWN"]),
    st.lists(st.integers(-16, 15), min_size=3, max_size=3),
    st.lists(st.integers(-2, 2), min_size=2, max_size=2),
)
def test_where_floats_are_exact_no_level_is_ever_a_tie(scale, level, mode, whole, shifts):
    network = FloatNetwork(one_layer(2.0**scale, 2.0**level, mode))
    frame, (name,) = {"x": np.asarray([whole], np.float32)}, network.outputs
    own = network.follow(frame, lambda quantiser, given, levels: levels.value)[name].value
    found = explain_frame(network, frame, {name: own + np.asarray([shifts]) * 2.0**level}, {}, None)
    assert network.rounded == []
    assert (found.ties, bool(found.wrong)) == ((), any(shifts))


def test_sums_whose_factors_are_near_their_scales_need_not_be_exact_at_ties():
    """Thresholds that are of another side on ties stand for sums that are off by less than float32 rounds them."""
    network = FloatNetwork(one_layer(0.7, 1.4))
    other = LayerLevels(one_layer(0.7, 1.4, mode="HALF_UP").transform(IntegerLayers()))
    stack = samples()[::8]
    _, levels = other.of({other.signature.inputs[0].name: stack})
    strict, near = [], []
    for at, frame in enumerate(stack):
        one = {name: each[at] for name, each in levels.items()}
        strict.append(explain_frame(network, {"x": frame}, one, one, None))
        near.append(explain_frame(network, {"x": frame}, one, one, None, near=frozenset(one)))
    assert any("but the exact sum gives" in each.wrong for each in strict)
    assert [each.wrong for each in near if each.wrong] == []
    assert all(near[at].ties for at, each in enumerate(strict) if each.wrong)


@pytest.mark.parametrize(("other", "near"), [(0.34581634, True), (0.30173483 * 2, False)])
def test_the_layers_say_which_sums_have_factors_that_are_near_their_scales(other, near):
    writer = Writer()
    parts = [quantiser(writer, "x", (1, 16), scale, 8.0).name for scale in (0.30173483, other)]
    both = writer.node("Concat", parts, (1, 32), axis=1)
    numbers = np.random.default_rng(0).integers(-7, 8, (32, 2))
    weights = quantiser(writer, writer.constant(numbers * 0.1), (32, 2), 0.1, 4.0)
    product = writer.node("MatMul", [both.name, weights.name], (1, 2))
    last = quantiser(writer, product.name, (1, 2), 1.4, 8.0)
    model = wrapped(writer, [last], shape=(1, 16), datatype="INT8").transform(IntegerLayers())
    assert LayerLevels(model).near == ({last.name} if near else set())


def test_sums_that_cancel_beyond_24_bits_are_ties_of_several_levels_and_the_layers_have_the_exact_one():
    """Of 2^31 and -2^31 float32 leaves an error of hundreds, and a level is 32 wide."""
    random = np.random.default_rng(2)
    half = random.integers(-(2**15), 2**15, (200, 1)).astype(np.float64)
    net = Net(1, 401, datatype="INT16")
    weights = net.weights(np.concatenate([half, -half, [[1.0]]]), 1.0, 16)
    model = net.node("MatMul", weights, shape=[1, 1]).quant(32.0, bits=8).model()
    given = random.integers(-(2**15), 2**15, (20, 200))
    sums = random.integers(-4000, 4000, (20, 1))
    stack = np.concatenate([given, given, sums], axis=1).astype(np.float32)[:, None]
    found = LayerLevels(model.transform(IntegerLayers())).of({"x": stack})[1]
    np.testing.assert_array_equal(next(iter(found.values())).reshape(20, 1), np.rint(sums / 32) * 32)
    results = explained(model, stack)
    assert [one.wrong for one in results] == [""] * 20
    assert max(tie.distance for one in results for tie in one.ties) > 2
