"""Quantisers become thresholds that give QONNX's levels for every value that comes in, in every rounding mode."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.transforms.quantisers_to_thresholds import QuantisersToThresholds
from tests.transforms.quantised_nets import CUSTOM, Net, every_integer, kinds, run

MODES = ("ROUND", "HALF_EVEN", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN")


def assert_same(model, stack=None):
    stack = every_integer(model) if stack is None else stack
    before = run(model, stack)
    changed = model.transform(QuantisersToThresholds(), make_deepcopy=True)
    assert "Quant" not in kinds(changed)
    np.testing.assert_array_equal(run(changed, stack), before)
    return changed


@pytest.mark.parametrize("mode", MODES)
def test_ties_go_where_the_rounding_mode_says(mode):
    model = Net(1, 6).node("Mul", [[0.5, -0.5, 0.25, 1.0, 0.125, -3.0]]).quant(mode=mode).model()
    assert kinds(assert_same(model)) == ["Mul", "MultiThreshold"]  # -1 turns the channels that fall


def test_fifteen_halves_go_to_the_even_level():
    model = Net(1, 1, datatype="INT5").quant(scale=2.0).model()
    changed = assert_same(model)
    assert run(changed, np.full((1, 1, 1), -15, np.float32)).item() == -16
    assert run(changed, np.full((1, 1, 1), -13, np.float32)).item() == -12


powers = st.sampled_from([2.0**exponent for exponent in range(-4, 5)])
signs = st.sampled_from([1.0, -1.0])
dyadic = st.builds(lambda size, sign: size * sign, powers, signs)


@st.composite
def quantisers(draw, scales):
    signed = draw(st.integers(0, 1))
    bits = draw(st.integers(1, 6))
    return {
        "scale": [draw(scales) for _ in range(4)] if draw(st.booleans()) else draw(scales),
        "zero": float(draw(st.integers(-5, 5))),
        "bits": bits,
        "signed": signed,
        "narrow": draw(st.integers(0, 1)) if bits > 1 else 0,
        "mode": draw(st.sampled_from(MODES)),
    }


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_every_integer_comes_out_as_qonnx_computes_it(data):
    """The law: any range, scales of both signs, zero point, bits, mode; and what lies before the quantiser."""
    datatype = data.draw(st.sampled_from(["INT2", "INT5", "INT8", "UINT3", "UINT7", "BIPOLAR"]))
    real = data.draw(st.booleans())
    scales = (
        st.floats(0.015625, 20, width=32).flatmap(lambda size: signs.map(lambda sign: size * sign))
        if real
        else dyadic
    )
    net = Net(1, 4, datatype=datatype)
    for op_type in data.draw(
        st.lists(st.sampled_from(["Mul", "Add", "Sub", "Div", "Relu", "LeakyRelu"]), max_size=4)
    ):
        operands = (
            []
            if "Relu" in op_type
            else [[data.draw(scales) for _ in range(data.draw(st.sampled_from([1, 4])))]]
        )
        net.node(op_type, *operands)
    stack = None
    if datatype == "BIPOLAR":
        stack = np.asarray([[[-1.0] * 4], [[1.0] * 4]], np.float32)
    assert_same(net.quant(**data.draw(quantisers(scales))).model(), stack)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_every_float_comes_out_as_qonnx_computes_it(data):
    """Without a range of integers a threshold is the least float that reaches the level."""
    scales = st.floats(0.015625, 20, width=32)
    net = Net(1, 4, datatype="FLOAT32")
    parameters = data.draw(quantisers(scales))
    model = net.node("Mul", data.draw(scales)).node("Add", data.draw(scales)).quant(**parameters).model()
    size = float(np.max(parameters["scale"])) * 40
    stack = np.random.default_rng(0).uniform(-size, size, (200, 1, 4)).astype(np.float32)
    ties = (
        np.arange(-80, 80, dtype=np.float32)[:, None, None] * np.asarray(parameters["scale"], np.float32) / 2
    )
    near = [np.nextafter(ties, np.float32(end)) for end in (-np.inf, np.inf)]
    assert_same(model, np.concatenate([stack, *(np.broadcast_to(t, (160, 1, 4)) for t in (ties, *near))]))


def test_what_comes_out_of_a_product_is_followed_to_the_next_quantiser():
    weights = np.random.default_rng(1).integers(-7, 8, (4, 3)).astype(np.float32)
    net = Net(1, 4, datatype="UINT4").quant(scale=0.5, bits=4, signed=0, mode="FLOOR")
    net.node("MatMul", weights, shape=[1, 3]).node("Mul", [0.25, -0.5, 0.125], shape=[1, 3])
    model = net.node("Relu", shape=[1, 3]).quant(scale=0.5, zero=2.0, mode="HALF_DOWN").model()
    stack = np.random.default_rng(2).integers(0, 16, (300, 1, 4)).astype(np.float32)
    changed = assert_same(model, stack)
    product = next(node for node in changed.graph.node if node.op_type == "MatMul")
    (reader,) = changed.find_consumers(product.output[0])  # the scale and the ReLU went into the thresholds
    thresholds = changed.get_initializer(changed.find_consumers(reader.output[0])[0].input[1])
    assert kinds(changed).count("Relu") == 0
    assert np.array_equal(thresholds * 2 % 1, np.full_like(thresholds, 0.5))  # products count in halves


def test_the_thresholds_that_a_graph_has_are_placed_between_its_values():
    net = Net(1, 2, datatype="INT4").node("Mul", 0.5)
    net.node("MultiThreshold", [[-1.0, 0.0, 1.5]], domain=CUSTOM, out_dtype="INT3", out_bias=-1.0)
    changed = assert_same(net.model())
    (node,) = changed.graph.node
    assert changed.get_initializer(node.input[1]).tolist() == [[-2.5, -0.5, 2.5]]


def test_what_something_else_reads_stays():
    net = Net(1, 2).node("Mul", 0.5)
    shared = net.tail
    model = net.quant(mode="CEIL").node("Add", shared).model()
    assert kinds(assert_same(model)) == ["Mul", "MultiThreshold", "Add"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scale": 0.0}, "has a scale that is 0 or not finite: values divided by it have no level"),
        (
            {"zero": 0.5},
            "has the zero point 0.5: one whole number for all channels is needed, for integers to stay integers",
        ),
        ({"mode": "NEAREST"}, "has the rounding mode 'NEAREST', which QONNX does not have"),
        ({"bits": 2.5}, "has 2.5 bits: one whole number from 1 to 32 is needed"),
        (
            {"scale": [[[1.0, 2.0]], [[1.0, 4.0]]]},
            "has a scale of shape [2, 1, 2]: one for all values or one for each channel is needed",
        ),
    ],
)
def test_what_thresholds_cannot_give_is_refused(parameters, message):
    model = Net(1, 2, 1, 2).quant(**parameters).model()
    with pytest.raises(ModelError) as caught:
        model.transform(QuantisersToThresholds())
    assert str(caught.value) == f"Quant 'quant0' {message}"


def test_channels_on_a_middle_axis_are_refused():
    model = Net(1, 2, 3, 2).quant(scale=[[1.0], [2.0], [3.0]]).model()
    with pytest.raises(ModelError) as caught:
        model.transform(QuantisersToThresholds())
    assert str(caught.value) == (
        "Quant 'quant0' has its channels on axis 2 of 4: thresholds need channels on the second axis or on the last one"
    )


@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_signs_are_counted_with_two_thresholds_where_no_product_of_signs_takes_them(scale):
    net = Net(1, 2, datatype="INT4").node("Add", 0.5).node("BipolarQuant", scale, domain=CUSTOM)
    changed = assert_same(net.model())
    (node,) = changed.get_nodes_by_op_type("MultiThreshold")
    assert changed.get_initializer(node.input[1]).tolist() == [[-0.5, -0.5]]
    assert changed.get_tensor_datatype(node.output[0]).name == "INT2"
