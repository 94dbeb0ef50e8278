from brainsmith.steps.unsupported_nodes import describe_unsupported, unsupported_nodes
from tests.steps.conftest import Graph, digits_model, integers


def test_the_digits_networks_are_supported():
    assert unsupported_nodes(digits_model("mlp")) == {}
    assert unsupported_nodes(digits_model("cnn")) == {}


def test_layers_that_no_step_converts_are_named_with_their_nodes():
    graph = Graph(1, 8).quant(4).node("Hardmax").node("Det").node("Hardmax")
    graph.nodes[-1].name = ""
    found = unsupported_nodes(graph.model(1, 8))
    assert found == {"Hardmax": ["hardmax1", "of tensor tensor3"], "Det": ["det2"]}
    assert describe_unsupported(found) == (
        "no step can turn these layers into hardware: Hardmax (hardmax1, of tensor tensor3); Det (det2)"
    )


def test_what_computes_constants_is_folded_and_so_supported():
    graph = Graph(1, 8)
    graph.tail = graph.constant(integers(1, 8))
    constant = graph.node("Cos").tail
    graph.tail = "in"
    assert unsupported_nodes(graph.node("Add", constant).model(1, 8)) == {}


def test_nodes_of_other_domains_are_left_to_their_plugins():
    model = Graph(1, 8).quant(4).node("Anything", domain="acme.ops").model(1, 8)
    assert unsupported_nodes(model) == {}
