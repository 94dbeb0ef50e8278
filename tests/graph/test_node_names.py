from onnx import helper

from brainsmith.graph.node_names import make_names_unique
from brainsmith.graph.well_formed import structure_fault


def test_all_but_the_first_node_of_a_name_are_renamed():
    names = ["Mul_0", "Mul_0", "", "Mul_0_1", "Mul_0", ""]
    inner = helper.make_graph(
        [helper.make_node("Relu", ["x"], [f"i{at}"], name="same") for at in range(2)], "inner", [], []
    )
    nodes = [helper.make_node("Mul", ["x", "x"], [f"t{at}"], name=name) for at, name in enumerate(names)]
    nodes.append(helper.make_node("If", ["x"], ["y"], name="If_0", then_branch=inner))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [1])], [])
    assert make_names_unique(graph) == {"Mul_0_2": "Mul_0", "Mul_0_3": "Mul_0", "same_1": "same"}
    assert [node.name for node in graph.node] == ["Mul_0", "Mul_0_2", "", "Mul_0_1", "Mul_0_3", "", "If_0"]
    assert structure_fault(graph) == ""
    assert make_names_unique(graph) == {}
