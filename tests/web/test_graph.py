"""What a drawing's details say, and how its nodes find their layers."""

from brainsmith.web.design_layers import read_layers
from brainsmith.web.graph import draw
from brainsmith.web.graph_data import read_graph

from .pages import graph


def test_details_hold_names_tensors_and_layer_figures(report):
    layers = read_layers(report)
    drawing = draw(read_graph(report["graphs"]["after"], layers), layers, "after", "The model")
    node = drawing.details["nodes"][2]
    assert node["title"] == "MVAU_rtl"
    assert node["layer"] == 1
    assert node["rows"] == [
        ["Name", "MVAU_rtl_0"], ["Output", "INT4  [1, 64]"], ["Layer", "MVAU_rtl_0"], ["Backend", "rtl"],
        ["Cycles", "784"], ["LUT", "5,230"], ["BRAM18", "11"], ["DSP", "16"], ["URAM", "0"],
        ["PE", "16"], ["weightDataType", "INT4"], ["SIMD", "32"],
    ]  # fmt: skip
    assert drawing.details["edges"][1] == [1, 2, "tensor_n2", "INT4", "[1, 64]"]
    assert drawing.families == ("port", "compute", "threshold")


def test_a_node_finds_its_layer_by_field_or_name(report):
    layers = read_layers(report)
    nodes = [
        {"id": 1, "name": "a", "layer": "MVAU_hls_0"},
        {"id": 2, "name": "Thresholding_rtl_1", "layer": None},
        {"id": 3, "name": "MVAU_rtl_0"},
        {"id": 4, "name": "c", "layer": "absent"},
        {"id": 5, "name": "d", "layer": [99]},
    ]
    found = read_graph({"nodes": nodes, "edges": []}, layers)
    assert [node.layer for node in found.nodes] == [3, 2, 1, None, None]


def test_edges_to_absent_nodes_are_counted():
    broken = graph(("a", "MatMul"))
    broken["edges"] += [["n0", "nowhere", "t", [], ""], []]
    found = read_graph(broken, ())
    assert len(found.edges) == 2
    assert found.dangling == 2
