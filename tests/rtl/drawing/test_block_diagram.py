"""The block diagram: every layer, stream, width, FIFO and memory is in it, and only what is meant is marked."""

import xml.etree.ElementTree as ET

import pytest

from brainsmith.graph_drawing.boxes import shortened
from brainsmith.graph_drawing.graph_svg import STYLE
from brainsmith.rtl.drawing.block_diagram import block_diagram, standing_alone
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
    for name in ("s_axis_0", "Thresholding", "StreamingDataWidthConverter", "MVAU", "weights", "m_axis_0"):
        assert name in words
    assert [item.get("aria-label") for item in of_class(root, "node")] == [
        "s_axis_0, a stream of the design",
        "Thresholding, Thresholding_rtl_0, 64 cycles, Thresholding_rtl",
        "StreamingDataWidthConverter, StreamingDataWidthConverter_rtl_0, StreamingDataWidthConverter_rtl",
        "weights, memstream, MVAU_rtl_0_memstream_wrapper",
        "MVAU, MVAU_rtl_0, 512 cycles, bottleneck, MVAU_rtl",
        "m_axis_0, a stream of the design",
    ]
    shown = {item.get("data-link"): texts(item) for item in of_class(root, "link")}
    assert shown == {
        "s_axis_0": ["8 bit, FIFO 2"],
        "Thresholding_rtl_0_out0_V": ["8 bit"],
        "StreamingDataWidthConverter_rtl_0_out0_V": ["1,024 bit, FIFO 1,200"],
        "MVAU_rtl_0_memstream_wrapper_m_axis_0": ["24 bit"],
        "MVAU_rtl_0_out0_V": ["16 bit"],
    }
    (memory,) = of_class(root, "memory")
    assert texts(memory) == ["weights"]
    assert len(of_class(root, "fifo")) == 2


def test_only_the_slowest_are_marked():
    root = drawn({"layers": [layer("a", cycles=3), layer("b", cycles=7), layer("c", cycles=7)]})
    assert len(of_class(root, "top")) == 2
    assert texts(root).count("7 cycles, bottleneck") == 2
    assert "bottleneck" not in "".join(texts(drawn({"layers": [layer("a", cycles=None)]})))


def test_a_wire_is_open_where_its_label_is():
    wires = [item.get("d") for item in of_class(drawn(MLP), "wire")]
    assert [path.count("M") for path in wires] == [2] * 5
    nameless = {"layers": [layer("a"), layer("b")], "links": [link("a.out0_V", "b.in0_V", bits=None)]}
    (wire,) = of_class(drawn(nameless), "wire")
    end, begin = wire.get("d").split("M")[1].rpartition("L")[2], wire.get("d").split("M")[2].partition("L")[0]
    assert end == begin


@pytest.mark.parametrize("count", [6, 40])
def test_a_chain_of_any_length_is_one_column(count):
    root = drawn(chain(count))
    assert float(root.get("width")) < 300
    tops = [float(item.get("transform").split()[1][:-1]) for item in of_class(root, "node")]
    assert tops == sorted(tops)
    assert len(set(tops)) == count + 2
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
        of_class(root, "node")[0].get("aria-label").startswith("</title><script>alert(1)</script>\"'&<\ufffd")
    )


def test_wider_streams_are_thicker():
    widths = [float(item.get("stroke-width")) for item in of_class(drawn(MLP), "wire")]
    assert widths[2] > widths[0] == 1.2


def test_a_long_name_keeps_its_end():
    assert shortened("StreamingDataWidthConverter_rtl_12", 20) == "StreamingDa…r_rtl_12"
    assert shortened("MVAU_rtl_0", 20) == "MVAU_rtl_0"


def test_a_drawing_alone_brings_its_colours_and_marks():
    content = standing_alone(block_diagram(read_plan(MLP), "The design"))
    assert STYLE in content
    assert 'id="arrow"' in content
    assert "prefers-color-scheme:dark" in content
    assert content.startswith("<svg ")
