"""Structure of graphs: random damage is found and named, and what is well formed passes."""

import copy
from pathlib import Path

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from brainsmith.graph.well_formed import structure_fault


def value(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])


def constant(name):
    return helper.make_tensor(name, TensorProto.FLOAT, [1], [1.0])


def branch(name, reads, gives):
    return helper.make_graph(
        [helper.make_node("Relu", [reads], [gives], name=f"in_{name}")], name, [], [value(gives)]
    )


def graph(nodes, outputs=("y",), inputs=("x",), constants=("c",)):
    return helper.make_graph(
        nodes,
        "g",
        [value(name) for name in inputs],
        [value(name) for name in outputs],
        [constant(name) for name in constants],
    )


def chain(*steps):
    return [helper.make_node("Add", list(reads), [gives], name=name) for name, reads, gives in steps]


@st.composite
def graphs(draw):
    """A well-formed graph of up to 12 nodes in any order, some with a branch that reads the graph around it."""
    tensors, nodes = ["x", "c"], []
    for at in range(draw(st.integers(1, 12))):
        reads = draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=3))
        outputs = [f"t{at}"] + ([f"u{at}"] if draw(st.booleans()) else [])
        if draw(st.integers(0, 3)) == 0:
            inner = [branch(f"{side}{at}", draw(st.sampled_from(tensors)), f"i{side}{at}") for side in "ab"]
            node = helper.make_node(
                "If", reads[:1], outputs[:1], name=f"n{at}", then_branch=inner[0], else_branch=inner[1]
            )
            outputs = outputs[:1]
        else:
            node = helper.make_node("Max", [*reads, ""], outputs, name=draw(st.sampled_from([f"n{at}", ""])))
        nodes.append(node)
        tensors += outputs
    return graph(draw(st.permutations(nodes)), outputs=[tensors[-1]])


@given(graphs())
def test_a_well_formed_graph_passes_in_any_order(made):
    assert structure_fault(made) == ""


DAMAGES = ("input", "output", "twice", "shadow", "name", "cycle", "inner")


@given(graphs(), st.sampled_from(DAMAGES), st.data())
@settings(max_examples=150)
def test_random_damage_is_found(made, damage, data):
    nodes = made.node
    node = nodes[data.draw(st.integers(0, len(nodes) - 1))]
    if damage == "input":
        node.input.append("nowhere")
        expected = "needs the tensor 'nowhere', which no input, constant or node gives"
    elif damage == "output":
        made.output.append(value("nowhere"))
        expected = "the graph's output 'nowhere' is given by no input, constant or node"
    elif damage == "twice":
        nodes.append(helper.make_node("Relu", ["x"], [node.output[0]], name="again"))
        expected = f"the tensor '{node.output[0]}' is given twice: by"
    elif damage == "shadow":
        node.output.append(data.draw(st.sampled_from(["x", "c"])))
        expected = "is given twice: by the graph's input or constant and by node"
    elif damage == "name":
        nodes.append(helper.make_node("Relu", ["x"], ["more"], name="same"))
        nodes.append(helper.make_node("Abs", ["x"], ["most"], name="same"))
        expected = "two nodes have the name 'same' (Relu and Abs)"
    elif damage == "cycle":
        back = helper.make_node("Max", [node.output[0]], ["back"], name="back")
        nodes.append(back)
        node.input.append("back")
        expected = "it has a cycle: "
    else:
        inner = branch("body", "nowhere", "o")
        nodes.append(helper.make_node("Loop", ["", ""], ["looped"], name="loop", body=inner))
        expected = (
            "node 'loop' (Loop), in its graph 'body': node 'in_body' (Relu) needs the tensor 'nowhere', "
            "which no input, constant or node gives"
        )
    assert expected in structure_fault(made)


def test_a_cycle_is_named_node_by_node():
    made = graph(
        chain(("a", ["x", "r"], "p"), ("b", ["p", "c"], "q"), ("c", ["q", "c"], "r"), ("d", ["r", "c"], "y"))
    )
    assert structure_fault(made) == (
        "it has a cycle: node 'a' (Add) -> node 'b' (Add) -> node 'c' (Add) -> node 'a' (Add)"
    )


def test_a_node_that_reads_its_own_output_is_a_cycle():
    made = graph(chain(("a", ["x", "y"], "y")))
    assert structure_fault(made) == "it has a cycle: node 'a' (Add) -> node 'a' (Add)"


def test_a_long_cycle_is_shortened():
    count = 40
    made = graph(
        chain(*((f"n{at}", [f"t{(at - 1) % count}", "c"], f"t{at}") for at in range(count))), outputs=["t0"]
    )
    assert structure_fault(made).count("->") == 6
    assert "35 more nodes" in structure_fault(made)


def test_a_cycle_through_a_branch_is_found():
    inner = branch("then", "y", "i")
    nodes = [
        helper.make_node(
            "If", ["c"], ["p"], name="choice", then_branch=inner, else_branch=branch("else", "x", "j")
        ),
        helper.make_node("Relu", ["p"], ["y"], name="after"),
    ]
    assert (
        structure_fault(graph(nodes))
        == "it has a cycle: node 'choice' (If) -> node 'after' (Relu) -> node 'choice' (If)"
    )


def test_equal_names_are_a_fault_only_where_that_is_asked():
    made = graph(chain(("same", ["x", "c"], "t"), ("same", ["t", "c"], "y")))
    assert structure_fault(made) == "two nodes have the name 'same' (Add and Add)"
    assert structure_fault(made, names=False) == ""


def test_a_constant_that_is_also_listed_as_input_is_one_tensor():
    made = graph(chain(("a", ["x", "c"], "y")), inputs=("x", "c"))
    assert structure_fault(made) == ""


MODELS = sorted(Path(__file__).parents[2].glob("examples/**/*.onnx"))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_the_examples_are_well_formed(path):
    assert structure_fault(onnx.load(path).graph, names=False) == ""


def test_the_graph_is_not_changed():
    made = graph(chain(("a", ["x", "c"], "y")))
    before = copy.deepcopy(made)
    structure_fault(made)
    assert made == before
