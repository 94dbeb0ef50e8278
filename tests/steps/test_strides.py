"""Strides of windows that are at one place only are dropped, and nothing else changes."""

from pathlib import Path

import numpy as np
import pytest
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import BuildError
from brainsmith.execution.align import align
from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from brainsmith.rtl.stitching.design_folder import read_design
from brainsmith.rtl.verification.link_watch import build_watched, watch_design
from brainsmith.steps.strides import drop_strides_of_single_windows
from tests.steps.conftest import Graph, integers


def conv(size, kernel, stride, pads=(0, 0, 0, 0), dilations=(1, 1)):
    graph = Graph(1, 2, *size).quant(4)
    graph.node(
        "Conv",
        graph.weights(integers(1, 3, 2, *kernel)),
        kernel_shape=kernel,
        strides=stride,
        pads=pads,
        dilations=dilations,
    )
    covered = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    spare = [s + pads[at] + pads[at + 2] - c for at, (s, c) in enumerate(zip(size, covered, strict=True))]
    return graph.quant(4, scale=16.0).model(1, 3, *(s // by + 1 for s, by in zip(spare, stride, strict=True)))


def run(model, stack):
    executor = Executor(model)
    return executor.run({executor.inputs[0]: stack})[executor.outputs[0]].reshape(len(stack), -1)


def strides(model):
    (node,) = model.get_nodes_by_op_type("Conv")
    found = {entry.name: list(entry.ints) for entry in node.attribute}
    return found["strides"], found["pads"]


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pads", "expected"),
    [
        ((1, 1), (1, 1), (2, 2), (0, 0, 0, 0), ([1, 1], [0, 0, 0, 0])),
        ((3, 5), (3, 1), (2, 2), (0, 0, 0, 0), ([1, 2], [0, 0, 0, 0])),
        (
            (2, 4),
            (3, 3),
            (2, 2),
            (1, 1, 1, 1),
            ([1, 2], [1, 1, 0, 0]),
        ),  # the padding below and on the right is read by no window
        ((2, 4), (1, 1), (3, 2), (0, 0, 0, 0), ([3, 2], [0, 0, 0, 0])),  # a row of values is
    ],
)
def test_a_stride_is_dropped_where_the_window_covers_the_image(size, kernel, stride, pads, expected):
    model = conv(size, kernel, stride, pads).transform(InferShapes())
    stack = integers(3, 20, 1, 2, *size)
    before = run(model, stack)
    assert strides(drop_strides_of_single_windows(model)) == expected
    np.testing.assert_array_equal(run(model, stack), before)


LAYERS = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold")
PIXELS = [
    ((1, 1), (2, 2), (0, 0, 0, 0), []),
    ((4, 4), (4, 4), (0, 0, 0, 0), ["CropRTL"]),
    ((2, 6), (3, 2), (0, 0, 0, 0), ["CropRTL"]),
    ((8, 8), (2, 2), (0, 0, 0, 0), ["CropRTL"]),
    ((5, 5), (2, 2), (0, 0, 0, 0), ["PadRTL", "CropRTL"]),
    ((6, 6), (2, 2), (1, 1, 1, 1), ["PadRTL", "CropRTL"]),
    ((1, 2), (2, 2), (2, 0, 2, 0), ["PadRTL", "CropRTL"]),
]


def layers(model, config):
    for name in LAYERS:
        model = steps[name](model, config)
    return model


@pytest.mark.parametrize(
    ("size", "stride", "pads", "kinds"),
    [PIXELS[0], *(pytest.param(*case, marks=pytest.mark.slow) for case in PIXELS[1:])],
)
@pytest.mark.slow
def test_windows_of_one_pixel_become_hardware_and_unread_pixels_are_cropped(
    config, size, stride, pads, kinds
):
    model = conv(size, (1, 1), stride, pads)
    stack = integers(3, 20, 1, 2, *size)
    before = run(model, stack)
    built = layers(model, config)
    moving = [
        node.op_type for node in built.graph.node if not node.op_type.startswith(("MVAU", "Thresholding"))
    ]
    assert [kind for kind in moving if kind not in ("Transpose", "Mul", "Reshape_rtl")] == kinds
    alignment = align(Executor(model).signature, Executor(built).signature)
    ((fed, (_, change)),) = alignment.feed.items()
    ((read, back),) = alignment.read.values()
    found = Executor(built).run({fed: change(stack)})[read]
    np.testing.assert_array_equal(back(found).reshape(len(stack), -1), before)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "stride", "pads", "kinds"), PIXELS[1:])
def test_circuits_of_windows_of_one_pixel_give_as_many_beats_as_there_are(
    config, simulations, size, stride, pads, kinds
):
    model = layers(conv(size, (1, 1), stride, pads), config)
    for name in ("rtl_codegen", "rtl_stitch", "rtl_size_fifos", "rtl_simulate"):
        model = steps[name](model, config)
    design = read_design(Path(config.output_dir) / "rtl" / "design")
    (stream,) = design.inputs
    frames = {stream.layout.tensor: integers(3, 4, *stream.layout.shape)}
    watched = watch_design(build_watched(design, quick=True), design, frames)
    assert watched.result.problem is None


@pytest.mark.slow
def test_a_window_that_finn_cannot_slide_is_refused_with_its_reason(config):
    config.kernel_preferences = {"*": ("rtl",)}
    model = conv((9, 9), (3, 2), (4, 3), dilations=(3, 2))
    for name in ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference"):
        model = steps[name](model, config)
    with pytest.raises(BuildError) as caught:
        steps.specialize(model, config)
    assert (
        "finn:ConvolutionInputGenerator_rtl: FINN's circuit loses values of a window of 3x2 with stride 4x3, which steps "
        "beyond its taps: change the stride or the window"
    ) in str(caught.value)
