"""Cycles of FINN's sliding windows: what is not refused computes right, in exactly the cycles that are counted."""

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

prepare_finn()

from brainsmith.errors import BuildError  # noqa: E402
from brainsmith.rtl.cores.frame_cycles import WINDOW, frame_cycles  # noqa: E402
from brainsmith.rtl.cores.trial import Case  # noqa: E402
from brainsmith.rtl.cores.window_faults import why_not_generated, why_wrong  # noqa: E402
from brainsmith.rtl.stitching.suitable import check_attributes  # noqa: E402
from brainsmith.steps.stated_parallelism import fold_as_stated  # noqa: E402
from tests.backends.rtl.bench import bare_layer, check_cores, law_of_cores  # noqa: E402
from tests.backends.rtl.test_embedded_vvau_rtl import case as depthwise_products  # noqa: E402


def case(image, kernel, stride=(1, 1), dilation=(1, 1), channels=2, simd=1, depthwise=0, parallel=0):
    """Return a sliding window of FINN's."""
    out = [
        (size - (taps - 1) * by - 1) // step + 1
        for size, taps, step, by in zip(image, kernel, stride, dilation, strict=True)
    ]
    return Case(WINDOW, [((1, *image, channels), "INT4")], {
        "ConvKernelDim": kernel, "IFMChannels": channels, "IFMDim": image, "OFMDim": out, "SIMD": simd,
        "Stride": stride, "Dilation": dilation, "depthwise": depthwise, "parallel_window": parallel,
        "inputDataType": "INT4", "outputDataType": "INT4", "exec_mode": "cppsim",
    })  # fmt: skip


@st.composite
def axes(draw):
    """Draw image, taps, stride and dilation along an axis; strides are not beyond the taps."""
    taps = draw(st.integers(1, 4))
    by = draw(st.integers(1, 3)) if taps > 1 else 1
    size = (taps - 1) * by + 1 + draw(st.integers(0, 7))
    return size, taps, draw(st.integers(1, taps)), by


@st.composite
def windows(draw):
    image, kernel, stride, dilation = zip(draw(axes()), draw(axes()), strict=True)
    channels = draw(st.sampled_from([1, 2, 3, 4, 6]))
    simd = draw(st.sampled_from([each for each in range(1, channels + 1) if channels % each == 0]))
    depthwise = draw(st.integers(0, 1))
    parallel = draw(st.integers(0, 1)) if depthwise or simd == channels else 0
    drawn = case(image, kernel, stride, dilation, channels, simd, depthwise, parallel)
    assert why_not_generated(bare_layer(drawn)) == ""
    assume(not why_wrong(bare_layer(drawn)))
    return drawn


test_windows_as_they_are_counted = pytest.mark.slow(law_of_cores(windows(), 6, 10, 40))

DESIGNED = {
    "a convolution": (case((8, 8), (3, 3)), 670),
    "all channels at once": (case((8, 8), (3, 3), simd=2), 336),
    "a pool": (case((8, 8), (2, 2), (2, 2)), 142),
    "steps of two": (case((9, 9), (3, 3), (2, 2)), 314),
    "dilated": (case((9, 9), (3, 3), dilation=(2, 2)), 516),
    "a row": (case((1, 20), (1, 5)), 162),
    "a column": (case((20, 1), (5, 1), (2, 1)), 82),
    "a fold after the other": (case((8, 8), (3, 3), (2, 2), depthwise=1), 212),
    "in one beat": (case((8, 8), (3, 3), simd=2, parallel=1), 65),
    "in one beat, the last row unread": (case((8, 8), (3, 3), (2, 2), simd=2, parallel=1), 64),
    "two taps, once": (case((3, 1), (2, 1), (2, 1), simd=2), 4),
    "two taps, once, in one beat": (case((3, 1), (2, 1), (2, 1), simd=2, parallel=1), 3),
}


def test_designed_windows():
    found = {name: frame_cycles(bare_layer(each)) for name, (each, _) in DESIGNED.items()}
    assert found == {name: cycles for name, (_, cycles) in DESIGNED.items()}


@pytest.mark.slow
def test_designed_windows_take_what_is_counted(tmp_path, simulations):
    check_cores([each for each, _ in DESIGNED.values()], tmp_path)


def test_a_window_of_large_images_is_counted_at_once():
    """28,929,922 cycles, of which the loops are counted once."""
    large = case((226, 226), (3, 3), channels=64)
    assert frame_cycles(bare_layer(large)) == 28_929_922


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (
            case((2, 1), (2, 1), simd=2),
            "of which it never reads the second of two beats: fold it less, or pad the image",
        ),
        (case((6, 9), (2, 2), (4, 4)), "which steps beyond its taps: change the stride or the window"),
        (
            case((5, 3), (2, 2), channels=1, depthwise=1, parallel=1),
            "which it gives in one beat from rows that are hardly longer than it: set parallel_window = 0, or make the "
            "image wider",
        ),
    ],
)
def test_foldings_that_lose_values(wrong, why):
    """Each was simulated: beats are missing, or values are wrong."""
    layer = bare_layer(wrong)
    assert why_wrong(layer) == why
    with pytest.raises(BuildError) as caught:
        check_attributes({"window": layer})
    assert (
        str(caught.value)
        == f"FINN's circuits of these sliding windows lose values:\n  window: a window {why}"
    )


@pytest.mark.parametrize(("width", "parallel"), [(3, 0), (4, 1)])
def test_folding_leaves_windows_apart_where_one_beat_of_them_would_be_wrong(width, parallel):
    """All positions are needed in one beat for the rate; of an image of 3 columns they are one after the other."""
    first = case((5, width), (2, 2), channels=1, depthwise=1)
    window = first.node(0)
    products = depthwise_products(1, (2, 2), 1, 1, size=(4, width - 1)).node(1)
    products.input[0] = window.output[0]
    graph = helper.make_graph([window, products], "two", [], [])
    model = ModelWrapper(helper.make_model(graph))
    fold_as_stated(model, model.graph.node[1], 1)
    layer, folded = (getCustomOp(node) for node in reversed(model.graph.node))
    assert (folded.get_nodeattr("parallel_window"), layer.get_nodeattr("SIMD")) == (
        parallel,
        4 if parallel else 1,
    )
