"""What is read of a graph is what the graph says."""

from onnx import TensorProto, helper

from brainsmith.graph.wiring import Wiring


def test_names_are_those_of_the_graph_in_its_order():
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "w", "y")]
    nodes = [
        helper.make_node("Clip", ["x", "", "w"], ["t"]),
        helper.make_node("Split", ["t"], ["y", "z"]),
    ]
    tensors = [helper.make_tensor(name, TensorProto.FLOAT, [1], [1.0]) for name in ("w", "v")]
    graph = helper.make_graph(nodes, "g", ends[:2], ends[2:], tensors)
    wiring = Wiring(graph)
    assert wiring.nodes == nodes
    assert (wiring.reads, wiring.gives) == ([["x", "", "w"], ["t"]], [["t"], ["y", "z"]])
    assert (wiring.input_names, wiring.constant_names) == (["x", "w"], ["w", "v"])
