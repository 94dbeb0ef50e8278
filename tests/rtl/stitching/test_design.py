"""Which outputs of a design may give beats of a frame that is not fed."""

import pytest

from brainsmith.rtl.stitching.design import (
    DESIGN,
    Design,
    DesignStream,
    End,
    Layer,
    Layout,
    Link,
)

PADDING, PIXELS, WINDOWS, PRODUCT = "FMPadding_rtl", "1 x 1", "3 x 3", "MVAU_rtl"
"""The second and third are kernels of sliding windows."""
GENERATOR = "ConvolutionInputGenerator_rtl"
CHANNELS = {PADDING: 2, PIXELS: 2, WINDOWS: 18, PRODUCT: 2}
"""In the last axis of what each gives."""


def chain(*kinds):
    """Return a design of layers one behind another."""
    layers = [
        Layer(f"l{at}", f"l{at}", GENERATOR if kind in (PIXELS, WINDOWS) else kind, (), 9, kind == PADDING)
        for at, kind in enumerate(kinds)
    ]
    layouts = [Layout(f"t{at}", (1, 3, 3, CHANNELS[kind]), 1, 8, True) for at, kind in enumerate(kinds)]
    first = Layout("x", (1, 3, 3, 2), 1, 8, True)
    ends = [End(DESIGN, "s_axis_0"), *(End(layer.name, "out0_V") for layer in layers)]
    targets = [*(End(layer.name, "in0_V") for layer in layers), End(DESIGN, "m_axis_0")]
    links = [
        Link(f"{source.layer}_out", source, target, 8, layout)
        for source, target, layout in zip(ends, targets, [first, *layouts], strict=True)
    ]
    return Design(
        "top",
        tuple(layers),
        tuple(links),
        (DesignStream("s_axis_0", 8, first),),
        (DesignStream("m_axis_0", 8, layouts[-1]),),
        (),
        (),
    )


@pytest.mark.parametrize(
    ("kinds", "ahead"),
    [
        ((PRODUCT, WINDOWS), False),
        ((PADDING, WINDOWS, PRODUCT), False),  # the borders alone fill no window
        ((PADDING, PIXELS, PRODUCT), True),
        ((PADDING, PIXELS, PRODUCT, PADDING, WINDOWS, PRODUCT), True),  # seed 3410000455 of the hunt
        ((PADDING, WINDOWS, PRODUCT, PADDING, WINDOWS, PRODUCT), False),
    ],
)
def test_outputs_may_begin_the_next_frame_if_padding_is_read_pixel_by_pixel(kinds, ahead):
    assert chain(*kinds).surplus == (("m_axis_0",) if ahead else ())
