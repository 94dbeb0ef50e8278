"""Streamlining of models with forks, sums and means: the same results, and integers from the first quantiser on."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from brainsmith.steps.branches import merge_equal_transposes
from tests.steps.conftest import Graph, integers, op_types

CHANNELS = 4


def convolution(graph, seed, channels, before, after):
    """Append a padded 3x3 convolution and an activation; `before` and `after` are the activations' scales.

    The accumulator counts in units of 1, and the bias is an odd number of halves, so that nothing is halfway.
    """
    weights = graph.weights(integers(seed, CHANNELS, channels, 3, 3), scale=1 / before)
    graph.node("Conv", weights, kernel_shape=[3, 3], pads=[1] * 4)
    return graph.node("Add", integers(seed, 1, CHANNELS, 1, 1) + 0.5).quant(4, scale=after)


def block(graph, seed, scale):
    """Append a residual block: two convolutions and a shortcut, and an activation of twice the scale."""
    fork = graph.tail
    convolution(graph, seed, CHANNELS, scale, 32.0)
    convolution(graph, seed + 1, CHANNELS, 32.0, scale)
    graph.node("Add", fork).node("Add", scale * (integers(seed, 1, CHANNELS, 1, 1) + 0.5))
    return graph.quant(4, scale=2 * scale)


def network(pooled):
    """Make two residual blocks and a mean; the first fork is behind a max-pool or an activation."""
    graph = convolution(Graph(1, 1, 8, 8).quant(4), 1, 1, 1.0, 32.0)
    if pooled:
        graph.node("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    block(block(graph, 3, 32.0), 5, 64.0)
    graph.node("GlobalAveragePool").node("Flatten", axis=1)
    graph.node("MatMul", graph.weights(integers(9, CHANNELS, 3)))
    return graph.model(1, 3)


def compute(model):
    executor = Executor(model)
    pixels = integers(11, 16, *executor.shape(executor.inputs[0]))
    return executor.run({executor.inputs[0]: pixels})[executor.outputs[0]]


@pytest.mark.slow
@pytest.mark.parametrize("pooled", [False, True])
def test_residual_blocks_become_hardware_but_for_the_last_scale(config, pooled):
    model = steps.cleanup(network(pooled), config)
    expected = compute(model)
    for step in ("qonnx_to_finn", "streamline", "hardware_inference"):
        model = steps[step](model, config)
        assert np.array_equal(compute(model), expected), step
    kinds = op_types(model)
    assert kinds.count("DuplicateStreams") == kinds.count("ElementwiseAdd") == 2
    assert (kinds.count("GlobalAccPool"), kinds.count("Pool")) == (1, int(pooled))
    assert [node.op_type for node in model.graph.node if not node.domain.startswith("finn.")] == ["Mul"]
    sums = model.get_nodes_by_op_type("ElementwiseAdd")
    types = [model.get_tensor_datatype(name).name for node in sums for name in node.input]
    assert types == ["INT4"] * 4


@pytest.mark.slow
def test_branches_of_products_need_no_convolution(config):
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 8)))
    fork = graph.node("Add", integers(2, 8) + 0.5).quant(4, scale=16.0).tail
    graph.node("MatMul", graph.weights(integers(3, 8, 8), scale=1 / 16))
    graph.node("Add", integers(4, 8) + 0.5).quant(4, scale=16.0)
    graph.node("Add", fork).node("Add", 16 * (integers(5, 8) + 0.5)).quant(4, scale=32.0)
    model = steps.cleanup(graph.model(1, 8), config)
    expected = compute(model)
    model = steps.streamline(steps.qonnx_to_finn(model, config), config)
    assert np.array_equal(compute(model), expected)
    assert op_types(model)[-3:] == ["Add", "MultiThreshold", "Mul"]
    assert len(np.unique(expected)) > 4


def layout_changes(outputs, **attributes):
    """Make two equal layout changes of the input, each with a reader."""
    nodes = [helper.make_node("Transpose", ["x"], [name], name=name, **attributes) for name in ("t0", "t1")]
    nodes += [helper.make_node("Relu", [f"t{at}"], [f"y{at}"], name=f"y{at}") for at in range(2)]
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 2, 3]), *((name, [3, 2, 1]) for name in outputs))
    ]
    return ModelWrapper(helper.make_model(helper.make_graph(nodes, "layouts", values[:1], values[1:])))


@pytest.mark.parametrize("attributes", [{}, {"perm": [2, 1, 0]}])
def test_equal_layout_changes_are_one(attributes):
    model = merge_equal_transposes(layout_changes(["y0", "y1"], **attributes))
    assert [(node.name, node.input[0]) for node in model.graph.node] == [
        ("t0", "x"),
        ("y0", "t0"),
        ("y1", "t0"),
    ]


@pytest.mark.parametrize("kept", ["t0", "t1"])
def test_a_layout_change_that_is_an_output_of_the_graph_stays(kept):
    model = merge_equal_transposes(layout_changes(["y0", "y1", kept], perm=[2, 1, 0]))
    made = {name for node in model.graph.node for name in node.output}
    assert {value.name for value in model.graph.output} <= made
    assert len(model.graph.node) == (3 if kept == "t0" else 4)
