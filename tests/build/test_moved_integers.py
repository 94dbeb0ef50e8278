"""Integers that begin or end in another shape and order than layers have: the host moves them, or a layer with RTL."""

import json

import numpy as np
import pytest
from onnx import numpy_helper
from qonnx.core.datatype import DataType

from brainsmith.build import build
from tests.transforms.quantised_nets import Net

BLUEPRINT = "hw_compiler:\n  target: {part: xczu7ev-ffvc1156-2-e, clock: 5 ns, fps: 1000}\n"


def whole(net, *values):
    """Return the name of constant whole numbers."""
    name = net.constant(0)
    net.constants[-1].CopyFrom(numpy_helper.from_array(np.asarray(values, np.int64), name))
    return name


def convolved(net, channels, *kernel):
    """Add a convolution by random weights of 4 bits that keeps the size, and a quantiser with the scale 1."""
    _, before, *size = net.last_shape()
    values = np.random.default_rng(0).integers(-7, 8, (channels, before, *kernel)) / 4
    pads = [side // 2 for side in kernel] * 2
    net.node("Conv", net.weights(values, 0.25, 4), shape=[1, channels, *size], kernel_shape=kernel, pads=pads)
    return net.quant()


def flattened(net):
    return convolved(net, 4, 3, 3).node("Flatten", shape=[1, 48], axis=1)


def flattened_features(net):
    factors = np.random.default_rng(0).choice([-1, 0.5, 2, 1], (1, 48))
    return flattened(net).node("Mul", factors, shape=[1, 48]).quant()


def blocks(net):
    return convolved(net, 8, 1, 1).node("DepthToSpace", shape=[1, 2, 8, 6], blocksize=2).quant(2.0)


def row(net):
    return convolved(net, 4, 3)


def enlarged(net):
    held = net.weights(np.random.default_rng(0).integers(-7, 8, (3, 2, 2, 2)), 1.0, 4)
    return net.node("ConvTranspose", held, shape=[1, 2, 8, 6], kernel_shape=[2, 2], strides=[2, 2]).quant()


def parts(net):
    """Split the rows of an image."""
    convolved(net, 4, 3, 3)
    net.node("Split", whole(net, 1, 3), shape=[1, 4, 1, 3], axis=2)
    net.nodes[-1].output.append("others")
    return convolved(net, 2, 1, 1)


def image_of_a_row(net):
    return convolved(net.node("Reshape", whole(net, 1, 3, 4, 4), shape=[1, 3, 4, 4]), 4, 3, 3)


def of_five_axes(net):
    return convolved(net.node("Reshape", whole(net, 1, 6, 2, 2), shape=[1, 6, 2, 2]), 4, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "shape"),
    [
        (flattened, (1, 3, 4, 3)),
        (flattened_features, (1, 3, 4, 3)),
        (blocks, (1, 3, 4, 3)),
        (row, (1, 3, 9)),
        (enlarged, (1, 3, 4, 3)),
        (parts, (1, 3, 4, 3)),
        (image_of_a_row, (1, 48)),
        (of_five_axes, (1, 2, 3, 2, 2)),
    ],
)
def test_each_layer_has_rtl_and_the_values_are_the_networks(network, shape, tmp_path):
    net = network(Net(*shape, datatype="INT4"))
    frames = np.random.default_rng(1).integers(-8, 8, (4, *shape)).astype(np.float32)
    built(net.model(), tmp_path, frames)


@pytest.mark.slow
def test_the_host_moves_each_of_two_images(tmp_path):
    net = convolved(Net(1, 3, 4, 3, datatype="INT4"), 4, 3, 3)
    first, net.tail, net.last = net.tail, "second", [1, 3, 4, 3]
    model = convolved(net, 4, 3, 3).node("Add", first, shape=[1, 4, 4, 3]).quant(2.0).model()
    second = model.graph.input.add()
    second.CopyFrom(model.graph.input[0])
    second.name = "second"
    model.set_tensor_datatype("second", DataType["UINT3"])
    built(model, tmp_path, None)


def built(model, folder, frames):
    """Build to estimates, and assert that all steps compute the same, and that each layer has RTL."""
    (folder / "b.yaml").write_text(BLUEPRINT)
    model.save(str(folder / "m.onnx"))
    made = build(
        folder / "m.onnx", folder / "b.yaml", folder / "out", produce="estimates", verify_inputs=frames
    )
    layers = json.loads((made.output / "report/estimates.json").read_text())["layers"]
    assert [one["op_type"] for one in layers if one["op_type"].endswith(("_hls", "HLS"))] == []
    assert [step.verified.mismatches for step in made.steps] == [0] * len(made.steps)
