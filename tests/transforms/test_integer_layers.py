"""IntegerLayers: a network and its layers of integers compute the same, bit by bit, or a node is named."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import ModelError
from brainsmith.execution.read_model import read_model
from brainsmith.plugins import steps
from brainsmith.transforms.integer_layers import IntegerLayers
from tests.hunt.inputs import unseen_inputs
from tests.hunt.judge import reference
from tests.hunt.networks import random_network
from tests.steps.conftest import QONNX, Graph
from tests.transforms.quantised_nets import Net

MODES = ("ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN")


def layers(model):
    return steps.cleanup(model, None).transform(IntegerLayers())


def op_types(model):
    return [node.op_type for node in model.graph.node]


def run(model, samples):
    model = model.transform(InferShapes())
    (name,) = (value.name for value in model.graph.input)
    (result,) = (value.name for value in model.graph.output)
    return np.stack([execute_onnx(model, {name: sample})[result] for sample in samples])


def same(model, samples):
    """Check that a network and its layers give the same bits; return the layers."""
    expected = run(model, samples)
    made = layers(model)
    np.testing.assert_array_equal(run(made, samples), expected)
    return made


def test_levels_of_minus_one_and_zero_have_a_step_that_none_reaches():
    """FINN's core gives two levels in one bit, and their datatype, INT2, has two."""
    made = same(
        Graph(1, 1).node("Mul", [-0.25]).quant(2).model(1, 1, datatype="UINT2"),
        np.arange(4.0, dtype=np.float32).reshape(4, 1, 1),
    )
    (node,) = made.get_nodes_by_op_type("MultiThreshold")
    assert made.get_initializer(node.input[1]).shape == (1, 2)


@pytest.mark.builds
@settings(deadline=None, max_examples=60)
@given(st.integers(0, 1 << 20))
@example(632)  # an arg-max, whose places are int64
def test_a_network_with_scales_that_are_powers_of_two_comes_out_in_every_bit_or_is_refused(seed):
    network = random_network(seed)
    if not network.exact:
        return
    try:
        made = layers(read_model(network.file()))
    except ModelError as error:
        assert "no integer layers for" in str(error) or "has" in str(error)
        return
    samples = unseen_inputs(network.shape, network.datatype, seed)[:16]
    expected = reference(network, samples)
    made = made.transform(InferShapes())
    (name,) = (value.name for value in made.graph.input)
    for at, sample in enumerate(samples):
        parts = np.split(
            sample, len(sample) // made.get_tensor_shape(name)[0]
        )  # a batch, one after the other
        found = [execute_onnx(made, {name: part}) for part in parts]
        for value, wanted in zip(made.graph.output, expected, strict=True):
            np.testing.assert_array_equal(np.concatenate([each[value.name] for each in found]), wanted[at])


@pytest.mark.parametrize("mode", MODES)
def test_ties_go_where_the_rounding_mode_says(mode):
    graph = Graph(1, 1)
    graph.node("MatMul", graph.weights(np.asarray([[1.0, -1.0, 3.0, 2.0]]), bits=4))
    graph.node("Quant", 2.0, 0.0, 4.0, domain=QONNX, signed=1, narrow=0, rounding_mode=mode)
    model = graph.model(1, 4, datatype="INT5")
    made = same(model, np.arange(-16, 16, dtype=np.float32).reshape(-1, 1, 1))
    assert op_types(made) == ["MatMul", "MultiThreshold", "Mul"]


@pytest.mark.slow
def test_what_is_between_a_product_and_a_quantiser_is_evaluated_not_moved():
    """Factors of either sign and 0, a normalisation and a ReLU are no layers; those of falling channels turn weights."""
    graph = Graph(1, 2)
    graph.node("MatMul", graph.weights(np.asarray([[3.0, -2.0, 5.0], [1.0, 4.0, -6.0]]), bits=5, scale=0.25))
    graph.node("Mul", [[0.5, -1.0, 0.0]]).node("Add", [[1.0, 0.25, 3.0]])
    graph.node(
        "BatchNormalization", [1.0, -2.0, 1.0], [0.5, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 4.0, 1.0], epsilon=0.0
    )
    graph.node("Relu").quant(3, 0.5)
    samples = np.asarray([[[a, b]] for a in range(-8, 8) for b in (-8, -3, 0, 1, 7)], np.float32)
    made = same(graph.model(1, 3, datatype="INT4"), samples)
    assert op_types(made) == ["MatMul", "MultiThreshold", "Mul"]


def test_a_sum_of_two_scales_has_the_smallest_whole_factors_that_decide_every_pair():
    graph = Graph(1, 2)
    first = graph.quant(4, 0.3).tail
    graph.tail = "in"
    graph.node("MatMul", graph.weights(np.eye(2), bits=2)).quant(3, 0.7)
    graph.node("Add", first).quant(3, 1.1)
    samples = np.asarray([[[a, b]] for a in range(-8, 8) for b in (-3, 0, 2)], np.float32)
    made = same(graph.model(1, 2, datatype="INT4"), samples)
    assert op_types(made).count("Add") == 1


@pytest.mark.parametrize(
    ("size", "kernel", "pads", "strides"),
    [
        ((4, 1), [1, 1], [1, 1, 1, 1], [1, 1]),  # columns of padding beside one column
        ((4, 1), [3, 3], [1, 1, 1, 1], [2, 2]),
        ((1, 1), [3, 3], [2, 2, 1, 1], [1, 1]),
        ((1, 5), [1, 3], [0, 1, 0, 1], [1, 1]),
        ((1, 5), [1, 2], [1, 0, 2, 1], [1, 1]),  # rows of padding beside one row
        ((1, 4), [3, 3], [2, 1, 2, 1], [2, 1]),
        ((5, 5), [1, 1], [0, 0, 0, 0], [2, 2]),  # steps wider than the kernel
        ((5, 6), [2, 1], [1, 0, 0, 0], [3, 2]),
    ],
)
def test_windows_of_any_form(size, kernel, pads, strides):
    graph = Graph(1, 2, *size)
    weights = np.random.default_rng(0).integers(-3, 4, (3, 2, *kernel)).astype(np.float32)
    graph.node("Conv", graph.weights(weights, bits=4), kernel_shape=kernel, pads=pads, strides=strides)
    graph.quant(3, 2.0)
    out = [(size[at] + pads[at] + pads[at + 2] - kernel[at]) // strides[at] + 1 for at in range(2)]
    samples = np.random.default_rng(1).integers(-8, 8, (20, 1, 2, *size)).astype(np.float32)
    same(graph.model(1, 3, *out, datatype="INT4"), samples)


@pytest.mark.slow
@pytest.mark.parametrize("pads", [[1, 1, 1, 1], [0, 2, 1, 0], [2, 0, 2, 1]])
@pytest.mark.parametrize("strides", [[2, 2], [4, 3]])
def test_padding_is_never_the_largest_value_of_a_window(pads, strides):
    graph = Graph(1, 2, 5, 6)
    graph.node("Mul", [[[0.5]], [[-2.0]]])  # one channel falls
    graph.node("MaxPool", kernel_shape=[3, 3], pads=pads, strides=strides).quant(3, 1.0)
    out = [(size + pads[at] + pads[at + 2] - 3) // strides[at] + 1 for at, size in enumerate((5, 6))]
    samples = np.random.default_rng(1).integers(-8, 0, (20, 1, 2, 5, 6)).astype(np.float32)
    made = same(graph.model(1, 2, *out, datatype="INT4"), samples)
    assert op_types(made).count("Pad") == 1


@pytest.mark.slow
def test_an_input_of_floats_is_quantised_by_the_host_with_its_zero_point():
    graph = Graph(1, 3)
    graph.node("Quant", 0.5, 2.0, 3.0, domain=QONNX, signed=0, narrow=0, rounding_mode="ROUND")
    graph.node("MatMul", graph.weights(np.asarray([[1.0], [2.0], [-3.0]]))).quant(4, 0.5)
    samples = np.random.default_rng(0).uniform(-3, 4, (50, 1, 3)).astype(np.float32)
    made = same(graph.model(1, 1, datatype="FLOAT32"), samples)
    assert op_types(made)[:3] == ["Div", "Add", "Quant"]


def test_an_image_that_becomes_a_row_turns_the_weights_behind_it():
    graph = Graph(1, 2, 3, 2)
    graph.node("Flatten", axis=1)
    graph.node("MatMul", graph.weights(np.random.default_rng(0).integers(-7, 8, (12, 3)).astype(np.float32)))
    samples = np.random.default_rng(1).integers(-8, 8, (20, 1, 2, 3, 2)).astype(np.float32)
    made = same(graph.model(1, 3, datatype="INT4"), samples)
    assert op_types(made) == ["Transpose", "Reshape", "MatMul"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda graph: graph.node("Abs").node("MatMul", graph.weights(np.ones((2, 2)))).quant(4),
            "no integer layers for node 'matmul2' (MatMul): Abs 'abs0' before it: its results have 32769 levels, "
            "more than the 256 that thresholds give: put a quantiser after it",
        ),
        (
            lambda graph: graph.quant(4, 0.3).node("MatMul", [[0.1, 0.7], [1.3, 0.2]]).quant(4),
            "no integer layers for node 'matmul1' (MatMul): its weights are floats without a common unit: quantise "
            "them",
        ),
        (
            lambda graph: graph.quant(12),
            "no integer layers for node 'quant0' (Quant): it has 4096 levels, more than the 256 that thresholds give: "
            "use a quantiser with 8 bits or fewer",
        ),
    ],
)
def test_a_node_without_layers_is_named_with_its_reason(change, message):
    graph = Graph(1, 2)
    change(graph)
    with pytest.raises(ModelError) as caught:
        layers(graph.model(1, 2, datatype="INT16"))
    assert str(caught.value) == message


def test_all_reasons_are_given_at_once():
    graph = Graph(1, 2)
    graph.quant(12, 2.0**-8)
    levels, graph.tail = graph.tail, "in"
    graph.node("MatMul", [[0.1, 0.7], [1.3, 0.2]])
    model = graph.model(1, 2, datatype="INT4")
    model.graph.output.add().CopyFrom(model.graph.output[0])
    model.graph.output[1].name = levels
    with pytest.raises(ModelError) as caught:
        layers(model)
    assert str(caught.value) == (
        "no integer layers for 2 nodes:\n"
        "  node 'quant0' (Quant): it has 3841 levels, more than the 256 that thresholds give: use a quantiser with 8 bits "
        "or fewer\n"
        "  node 'matmul1' (MatMul): its weights are floats without a common unit: quantise them"
    )


def image(signed=1, bits=8, mode="ROUND"):
    """Return a network of images as PyTorch exports it: pixels / 255, mean and deviation of each channel, a quantiser."""
    graph = Graph(1, 3, 4, 4)
    graph.node("Div", 255.0)
    graph.node("Sub", np.asarray([0.485, 0.456, 0.406]).reshape(1, 3, 1, 1))
    graph.node("Div", np.asarray([0.229, 0.224, 0.225]).reshape(3, 1, 1))
    quantiser = {"domain": QONNX, "signed": signed, "narrow": 0, "rounding_mode": mode}
    return graph.node("Quant", 2.7 / 127, 0.0, float(bits), **quantiser)


@pytest.mark.parametrize(("signed", "bits", "mode"), [(1, 8, "ROUND"), (0, 5, "FLOOR"), (1, 3, "CEIL")])
def test_a_pixel_scale_in_front_of_the_first_quantiser_is_part_of_its_thresholds(signed, bits, mode):
    pixels = (
        np.arange(256, dtype=np.float32).reshape(16, 1, 1, 4, 4).repeat(3, axis=2)
    )  # each pixel in each channel
    made = same(image(signed, bits, mode).model(1, 3, 4, 4, datatype="UINT8"), pixels)
    assert op_types(made)[:3] == ["Transpose", "MultiThreshold", "Transpose"]
    assert not {"Div", "Sub", "Quant"} & set(op_types(made))


def test_floats_are_put_into_the_layers_layout_before_the_host_quantises_them():
    samples = np.random.default_rng(0).normal(0.5, 0.4, (20, 1, 3, 4, 4)).astype(np.float32)
    made = same(image(bits=5).model(1, 3, 4, 4, datatype="FLOAT32"), samples)
    assert op_types(made)[:6] == ["Div", "Sub", "Div", "Transpose", "Div", "Quant"]


def test_scales_of_channels_of_a_host_quantiser_follow_the_layout():
    graph = Graph(1, 3, 2, 2)
    scales = np.asarray([0.5, 0.25, -2.0]).reshape(1, 3, 1, 1)
    graph.node("Quant", scales, 0.0, 4.0, domain=QONNX, signed=1, narrow=0, rounding_mode="ROUND")
    samples = np.random.default_rng(0).normal(0, 3, (20, 1, 3, 2, 2)).astype(np.float32)
    same(graph.model(1, 3, 2, 2, datatype="FLOAT32"), samples)


def test_signs_of_a_float_input_are_bits_from_the_host():
    """FINN multiplies -1 and 1 by its own rule where weights are such, too; a value of 0 is 1, and -0 as well."""
    graph = Graph(1, 4)
    graph.node("BipolarQuant", 0.5, domain=QONNX)
    graph.node("MatMul", graph.weights(np.asarray([[1.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0]])))
    graph.quant(3, 0.5)
    model = graph.model(1, 2, datatype="FLOAT32")
    rng = np.random.default_rng(0)
    samples = np.concatenate([rng.normal(size=(30, 1, 4)), [[[0.0, -0.0, 1e-40, -1e-40]]]]).astype(np.float32)
    made = same(model, samples)
    assert op_types(made)[:3] == ["Neg", "Quant", "XnorPopcountMatMul"]
    assert made.get_tensor_datatype(made.graph.node[1].output[0]).name == "BINARY"


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("behind", ["Relu", "Identity"])
def test_an_output_may_be_made_of_what_another_output_is(behind, first):
    net = Net(1, 3, datatype="INT4")
    net.node("MatMul", net.weights(np.eye(3)[::-1], 1.0, 2), shape=[1, 3]).quant()
    levels = net.tail
    model = net.node(behind, shape=[1, 3]).model()
    inner = next(value for value in model.graph.value_info if value.name == levels)
    outputs = [inner, *model.graph.output] if first else [*model.graph.output, inner]
    made = [type(each).FromString(each.SerializeToString()) for each in outputs]
    model.graph.value_info.remove(inner)
    del model.graph.output[:]
    model.graph.output.extend(made)
    names = [value.name for value in model.graph.output]
    after = layers(model)
    for number in range(-8, 8):
        given = {"x": np.asarray([[number, 7 - number, 3]], np.float32).clip(-8, 7)}
        expected, found = execute_onnx(model, given), execute_onnx(after.transform(InferShapes()), given)
        assert [found[name].tolist() for name in names] == [expected[name].tolist() for name in names]


def test_an_output_that_no_input_changes_is_refused():
    model = Graph(1, 2).node("Mul", [0.5]).quant(2).model(1, 2, datatype="INT2")
    model.graph.node.add(op_type="Identity", name="same", input=["always"], output=["constant"])
    model.set_initializer("always", np.ones(2, np.float32))
    model.graph.output.add().CopyFrom(model.graph.output[0])
    model.graph.output[1].name = "constant"
    with pytest.raises(ModelError) as caught:
        layers(model)
    assert str(caught.value) == (
        "no integer layers for output 'constant': it does not depend on any input: take it out of the outputs: it is "
        "always the same"
    )


def test_a_branch_that_reads_a_computed_tensor_is_refused_by_name():
    """Nothing stands among the inputs of an If but its condition: what its graphs read was taken for constant."""
    from onnx import TensorProto, helper

    model = Graph(1, 2).node("Mul", [0.5]).quant(2).model(1, 2, datatype="INT2")
    inner, end = model.graph.output[0].name, helper.make_tensor_value_info("one", TensorProto.FLOAT, [1, 2])
    branch = helper.make_graph([helper.make_node("Neg", [inner], ["one"])], "branch", [], [end])
    model.graph.node.append(
        helper.make_node("If", ["truth"], ["chosen"], "choose", then_branch=branch, else_branch=branch)
    )
    model.set_initializer("truth", np.array(True))
    model.graph.output[0].name = "chosen"
    with pytest.raises(
        ModelError, match=r"^no integer layers for node 'choose' \(If\): no layer of integers computes"
    ):
        layers(model)


@pytest.mark.parametrize("quantised", [False, True])
def test_one_number_without_axes_is_given_by_the_host(quantised):
    graph = Graph(1, 4).node("ReduceMean", axes=[0, 1], keepdims=0)
    model = (graph.quant(4) if quantised else graph).model(datatype="INT3")
    made = same(model, np.random.default_rng(0).integers(-4, 4, (8, 1, 4)).astype(np.float32))
    assert op_types(made)[-1] == "Squeeze"
