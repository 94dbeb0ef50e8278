"""Transposed convolutions: a convolution to blocks of pixels, and their order, give what QONNX gives."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import ModelError
from brainsmith.plugins import steps
from brainsmith.transforms.integer_layers import IntegerLayers
from tests.steps.conftest import Graph


def layers(model):
    return steps.cleanup(model, None).transform(IntegerLayers())


def run(model, samples):
    model = model.transform(InferShapes())
    (name,), (result,) = ([value.name for value in ends] for ends in (model.graph.input, model.graph.output))
    return np.stack([execute_onnx(model, {name: sample})[result] for sample in samples])


def sizes(size, kernel, strides, pads, dilations, beyond):
    return [
        (count - 1) * strides[at]
        - pads[at]
        - pads[at + 2]
        + (kernel[at] - 1) * dilations[at]
        + 1
        + beyond[at]
        for at, count in enumerate(size)
    ]


def network(size, kernel, strides, pads, dilations=(1, 1), beyond=(0, 0), group=1, scales=1.0):
    """Return a transposed convolution of four channels to four, with a bias and a quantiser."""
    graph, out = Graph(1, 4, *size), sizes(size, kernel, strides, pads, dilations, beyond)
    values = np.random.default_rng(0).integers(-3, 4, (4, 4 // group, *kernel)).astype(np.float32)
    weights = graph.weights(values, bits=4, scale=np.asarray(scales, np.float32))
    graph.node(
        "ConvTranspose", weights, [1.0, -2.0, 0.0, 3.0], kernel_shape=kernel, strides=strides, pads=pads,
        dilations=dilations, output_padding=beyond, group=group,
    )  # fmt: skip
    return graph.quant(5, 4.0).model(1, 4, *out, datatype="INT4")


def check(model, size, count=6):
    samples = np.random.default_rng(1).integers(-8, 8, (count, 1, 4, *size)).astype(np.float32)
    expected = run(model, samples)
    made = layers(model)
    np.testing.assert_array_equal(run(made, samples), expected)
    return [node.op_type for node in made.graph.node]


@st.composite
def forms(draw):
    size, kernel, strides, dilations = (
        [draw(st.integers(1, most)) for _ in range(2)] for most in (4, 4, 3, 2)
    )
    spans = [(taps - 1) * by for taps, by in zip(kernel, dilations, strict=True)]
    pads = [draw(st.integers(0, span)) for span in (*spans, *spans)]
    beyond = [draw(st.integers(0, step - 1)) for step in strides]
    found = (size, kernel, strides, pads, dilations, beyond)
    assume(min(sizes(*found)) > 0)
    return found


@pytest.mark.builds
@settings(deadline=None, max_examples=40)
@given(form=forms(), group=st.sampled_from([1, 2, 4]))
def test_any_form(form, group):
    check(network(*form, group=group), form[0])


def test_one_with_windows_of_its_stride_is_a_product_of_pixels():
    """Nothing is multiplied by zeros: the upsampling of a U-Net needs no window."""
    found = check(network((3, 4), [2, 2], [2, 2], [0] * 4), (3, 4))
    assert [each for each in found if each in ("Im2Col", "MatMul", "Pad")] == ["MatMul"]
    assert found.count("Transpose") == 3  # those of the host, and the blocks'


def test_scales_are_those_of_results():
    scales = np.asarray([0.5, 2.0, 1.0, 0.25]).reshape(1, 4, 1, 1)
    check(network((3, 2), [3, 3], [2, 2], [1] * 4, beyond=[1, 1], scales=scales), (3, 2))


@pytest.mark.parametrize(
    ("form", "stated", "message"),
    [
        (
            {},
            {"output_shape": [6, 8]},
            "its padding is stated by output_shape, and could not be converted into pads",
        ),
        # ONNX Runtime leaves pixels undefined there.
        ({"dilations": (3, 1), "beyond": (2, 0)}, {}, "its output_padding is not less than its strides"),
    ],
)
def test_what_has_no_layer_is_refused(form, stated, message):
    model = network((3, 4), [2, 2], [2, 2], [0] * 4, **form)
    (node,) = model.get_nodes_by_op_type("ConvTranspose")
    node.attribute.extend(helper.make_attribute(name, value) for name, value in stated.items())
    with pytest.raises(ModelError) as caught:
        layers(model)
    assert message in str(caught.value)
