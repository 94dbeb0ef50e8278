"""Sums of products have as many bits as they need, those by zeros one."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.plugins import steps
from brainsmith.steps.accumulator_widths import MinimiseAccumulators
from tests.steps.conftest import Graph, hardware


def test_a_byte_at_the_end():
    weights = helper.make_node(
        "MVAU", ["x", "w"], ["y"], domain="finn.custom_op.fpgadataflow", backend="fpgadataflow", MW=3, MH=2, SIMD=1, PE=1,
        inputDataType="INT4", weightDataType="INT2", outputDataType="INT32", noActivation=1,
    )  # fmt: skip
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, n]) for name, n in (("x", 3), ("y", 2))
    ]
    graph = helper.make_graph([weights], "zeros", ends[:1], ends[1:])
    model = ModelWrapper(helper.make_model(graph))
    model.set_initializer("w", np.zeros((3, 2), np.float32))
    model = model.transform(MinimiseAccumulators())
    assert model.get_tensor_datatype("y").name == "UINT8"


@pytest.mark.slow
def test_a_product_by_zeros_has_a_bit(config):
    graph = Graph(1, 4).quant(4)
    graph.node("MatMul", graph.weights(np.zeros((4, 3)))).quant(4, scale=16.0)
    model = hardware(graph.node("MatMul", graph.weights(np.zeros((3, 2)))).model(1, 2), config)
    products = [getCustomOp(node) for node in model.get_nodes_by_op_type("MVAU")]
    assert [layer.get_output_datatype().name for layer in products] == ["BINARY", "BINARY"]
    model = steps.specialize(model, config)
    folded = steps.fold(model, config)
    kept = [node for node in folded.graph.node if "MVAU" in node.op_type]
    assert [getCustomOp(node).get_output_datatype().name for node in kept] == ["BINARY", "BINARY"]


@pytest.mark.slow
def test_a_branch_that_nothing_reads_becomes_no_layer(config):
    graph = Graph(1, 4).quant(4)
    kept = graph.tail
    graph.node("MatMul", graph.weights(np.eye(4, 3))).quant(4, scale=16.0)
    graph.tail = kept
    model = hardware(graph.node("MatMul", graph.weights(np.eye(4, 2))).model(1, 2), config)
    assert len(model.get_nodes_by_op_type("MVAU")) == 1
