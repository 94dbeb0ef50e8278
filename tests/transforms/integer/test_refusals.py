"""Refusals: one error names every node without a layer, why, and what would help."""

import ast
from pathlib import Path

import numpy as np
import pytest

from brainsmith.errors import ModelError
from brainsmith.transforms import integer
from brainsmith.transforms.integer.no_layer import NoLayerError
from tests.steps.conftest import QONNX, Graph
from tests.transforms.integer.moving_networks import MovingNetwork
from tests.transforms.integer.test_structure_rules import check
from tests.transforms.test_integer_layers import layers

FILES = sorted(
    [*Path(integer.__path__[0]).glob("*.py"), Path(integer.__path__[0]).parent / "integer_layers.py"]
)


def raised():
    """Return every place of the front end that refuses a node: the file, the line, and the arguments."""
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("NoLayerError", "Reason"):
                yield file.name, node.lineno, node.args


def test_every_refusal_says_what_would_help():
    places = list(raised())
    assert len(places) > 60
    for file, line, arguments in places:
        assert len(arguments) == 2, (file, line)
        helps = arguments[1]
        unknown = isinstance(helps, ast.Constant) and not helps.value and file == "no_layer.py"  # NO_REASON
        assert unknown or not isinstance(helps, ast.Constant) or len(helps.value.split()) > 1, (file, line)


def test_no_refusal_is_made_without_what_would_help():
    with pytest.raises(TypeError):
        NoLayerError("its weights are floats")
    assert (
        str(NoLayerError("its weights are floats", "quantise them"))
        == "its weights are floats: quantise them"
    )


def refusal(graph, columns):
    with pytest.raises(ModelError) as caught:
        layers(graph.model(1, columns, datatype="INT4"))
    return str(caught.value)


def test_what_lies_behind_a_node_without_a_layer_is_read_all_the_same():
    """A quantiser's levels are known whatever comes in; what only depends on a refused node is not blamed."""
    graph = Graph(1, 2)
    graph.node("Hardmax").node("Relu").quant(4, 0.5)  # the ReLU is not to blame
    graph.node("MatMul", [[0.1, 0.7], [1.3, 0.2]]).node("LpNormalization").quant(12, 2.0**-8).quant(4)
    graph.node("MatMul", graph.weights(np.eye(2))).node("MatMul", [[0.3, 0.7], [1.3, 0.2]])
    assert refusal(graph, 2) == (
        "no integer layers for 5 nodes:\n"
        "  node 'hardmax0' (Hardmax), node 'lpnormalization4' (LpNormalization), each: no layer of integers computes this "
        "operator: put operators in its place that have layers (docs/your_model.md lists them), in the model or with a "
        "transform of your own before this step\n"
        "  node 'matmul3' (MatMul), node 'matmul9' (MatMul), each: its weights are floats without a common unit: "
        "quantise them\n"
        "  node 'quant5' (Quant): it has 4096 levels, more than the 256 that thresholds give: use a quantiser with 8 bits "
        "or fewer"
    )


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ((0.0, 0.0, 4.0), "it has a scale that is 0 or not finite: values divided by it have no level"),
        (
            (1.0, 0.5, 4.0),
            "it has the zero point 0.5: one whole number for all channels is needed, for integers to stay",
        ),
        ((1.0, 0.0, 2.5), "it has 2.5 bits: one whole number from 1 to"),
    ],
)
def test_a_quantiser_that_cannot_be_read_is_one_of_the_nodes(parameters, reason):
    graph = Graph(1, 2).quant(4)
    graph.node("Quant", *parameters, domain=QONNX, signed=1, narrow=0, rounding_mode="ROUND").node("Hardmax")
    found = refusal(graph, 2)
    assert found.startswith("no integer layers for 2 nodes:\n  node 'quant1' (Quant): " + reason)
    assert "\n  node 'hardmax2' (Hardmax): no layer of integers computes this operator: put " in found
    assert (
        ": give it constants: scales above 0, one or one for each channel, whole zero points, and a whole"
        in found
    )


def test_floats_that_several_nodes_read_are_one_reason():
    graph = Graph(1, 2)
    graph.node("MatMul", graph.weights(np.eye(2)))
    graph.tail, first = "in", graph.tail
    graph.node("MatMul", graph.weights(np.eye(2))).node("Add", first)
    with pytest.raises(ModelError) as caught:
        layers(graph.model(1, 2, datatype="FLOAT32"))
    assert str(caught.value) == (
        "no integer layers for 2 nodes:\n"
        "  node 'matmul1' (MatMul), node 'matmul3' (MatMul), each: it gets floats: input 'in': it has no quantiser, and no "
        "integer datatype: put a quantiser after it, or state its integer datatype (`inputs` in a blueprint, "
        "--input-datatype)"
    )


def test_levels_with_scales_along_another_axis_are_not_known_behind_their_refusal():
    with pytest.raises(ModelError) as caught:
        check(MovingNetwork(54).grow(6), 1)
    assert str(caught.value) == (
        "no integer layers for node 'Quant_2' (Quant): its scale is neither one number nor one for each channel: quantise "
        "with one scale for all values, or with one for each channel"
    )


def test_a_normalisation_that_gives_no_numbers_is_refused():
    graph = Graph(1, 2, 1, 1).quant(4)
    graph.node("BatchNormalization", [1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, -2.0]).quant(4)
    assert refusal(graph, 2).endswith(
        "node 'batchnormalization1' (BatchNormalization) stays on the host: its parameters are no constants of float32 "
        "that give a finite factor (a variance below 0 has no root): export it with the parameters that were trained"
    )
