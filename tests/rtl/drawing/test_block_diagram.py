"""The block diagram: every layer, stream, width, FIFO and memory is in it, and only what is meant is marked."""

import xml.etree.ElementTree as ET

import pytest

from brainsmith.rtl.drawing.block_diagram import (
    STYLE,
    block_diagram,
    heading,
    shortened,
    standing_alone,
)
from brainsmith.rtl.drawing.block_plan import read_plan

from .plans import MLP, chain, layer, link

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "</title><script>alert(1)</script>\"'&<\x00"


def drawn(design, **more):
    return ET.fromstring(standing_alone(block_diagram(read_plan(design), "The design", **more)))


def texts(element):
    return [text.text for text in element.iter(f"{SVG}text")]


def of_class(root, name):
    return [item for item in root.iter() if name in item.get("class", "").split()]


def test_everything_is_in_the_diagram():
    root = drawn(MLP)
    words = texts(root)
    assert root.get("aria-label") == "The design"
    for name in ("s_axis_0", "Thresholding", "StreamingData", "WidthConverter", "MVAU", "m_axis_0"):
        assert name in words
    assert [item.get("aria-label") for item in of_class(root, "block")] == [
        "s_axis_0, a stream of the design",
        "Thresholding_rtl, Thresholding_rtl_0, 64 cycles",
        "StreamingDataWidthConverter_rtl, StreamingDataWidthConverter_rtl_0",
        "MVAU_rtl, MVAU_rtl_0, 512 cycles, bottleneck",
        "m_axis_0, a stream of the design",
    ]
    shown = {item.get("data-link"): texts(item) for item in of_class(root, "link")}
    assert shown == {
        "s_axis_0": ["8 bit", "FIFO 2"],
        "Thresholding_rtl_0_out0_V": ["8 bit"],
        "StreamingDataWidthConverter_rtl_0_out0_V": ["1,024 bit", "FIFO 1,200"],
        "MVAU_rtl_0_out0_V": ["16 bit"],
    }
    (memory,) = of_class(root, "memory")
    assert texts(memory) == ["weights", "24 bit"]
    assert len(of_class(root, "fifo")) == 2


def test_only_the_slowest_are_marked():
    root = drawn({"layers": [layer("a", cycles=3), layer("b", cycles=7), layer("c", cycles=7)]})
    assert len(of_class(root, "top")) == 2
    assert texts(root).count("bottleneck") == 2
    assert "bottleneck" not in texts(drawn({"layers": [layer("a", cycles=None)]}))


@pytest.mark.parametrize(("count", "rows"), [(6, 2), (40, 9)])
def test_designs_of_any_length_are_wrapped_into_rows_of_one_width(count, rows):
    root = drawn(chain(count))
    assert float(root.get("width")) <= 1212
    tops = {item.get("transform").split()[1] for item in root.iter() if item.get("transform", "").count(" ")}
    assert len(tops - {"10)"}) == rows
    assert len(of_class(root, "link")) == count + 1


def test_layers_lead_to_their_places():
    root = drawn(MLP, places={"MVAU_rtl_0": "layer-3"})
    assert [link.get("href") for link in root.iter(f"{SVG}a")] == ["#layer-3"]


def test_odd_names_are_shown_and_do_nothing():
    root = drawn(
        {
            "layers": [layer(EVIL, EVIL)],
            "links": [link(f"{EVIL}.out0_V", "m_axis_0")],
            "outputs": [{"name": "m_axis_0"}],
        }
    )
    assert [item.tag for item in root.iter() if "script" in item.tag] == []
    assert (
        of_class(root, "block")[0]
        .get("aria-label")
        .startswith("</title><script>alert(1)</script>\"'&<\ufffd")
    )


def test_wider_streams_are_thicker():
    widths = [float(item.get("stroke-width")) for item in of_class(drawn(MLP), "wire")]
    assert widths[2] > widths[0] == 1.2


@pytest.mark.parametrize(
    ("kernel", "lines"),
    [
        ("MVAU_rtl", ["MVAU"]),
        ("StreamingDataWidthConverter_rtl", ["StreamingData", "WidthConverter"]),
        ("ConvolutionInputGenerator_rtl", ["ConvolutionInput", "Generator"]),
        ("FMPadding_rtl", ["FMPadding"]),
        ("ElementwiseAdd_hls", ["ElementwiseAdd"]),
        ("my_kernel", ["my_kernel"]),
        ("x" * 30, ["x" * 15 + "…"]),
        ("", [""]),
    ],
)
def test_a_kernel_is_written_in_two_lines_at_most(kernel, lines):
    assert heading(kernel, 16) == lines


def test_a_long_name_keeps_its_end():
    assert shortened("StreamingDataWidthConverter_rtl_12", 20) == "StreamingDa…r_rtl_12"
    assert shortened("MVAU_rtl_0", 20) == "MVAU_rtl_0"


def test_a_drawing_alone_brings_its_colours_and_marks():
    content = standing_alone(block_diagram(read_plan(MLP), "The design"))
    assert STYLE in content
    assert 'id="arrow"' in content
    assert "prefers-color-scheme:dark" in content
    assert content.startswith("<svg ")
