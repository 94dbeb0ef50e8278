"""Sums of products have as many bits as they need, those by zeros one."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
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


@pytest.mark.parametrize(
    ("last", "kind", "width"), [(False, "UINT6", "UINT8"), (False, "INT6", "INT7"), (True, "INT7", "INT8")]
)
def test_a_sum_has_the_bits_of_a_product_of_any_weight(last, kind, width):
    """FINN's core asks for them, though weights of 1 and 0 need less."""
    nodes = [
        helper.make_node(
            "MVAU", ["x", "w"], ["y"], domain="finn.custom_op.fpgadataflow", backend="fpgadataflow", MW=3, MH=3, SIMD=1,
            PE=1, inputDataType=kind, weightDataType="INT2", outputDataType="INT32", noActivation=1,
        ),
        helper.make_node("Identity", ["y"], ["z"]),
    ]  # fmt: skip
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3]) for name in "xyz"]
    graph = helper.make_graph(nodes[: 1 if last else 2], "ones", ends[:1], [ends[1 if last else 2]])
    model = ModelWrapper(helper.make_model(graph))
    model.set_initializer("w", np.eye(3, dtype=np.float32))
    model.set_tensor_datatype("x", DataType[kind])
    model.set_tensor_datatype("w", DataType["INT2"])
    for _ in range(2):
        model = model.transform(MinimiseAccumulators())
        layer = getCustomOp(model.graph.node[0])
        assert [layer.get_nodeattr(f"{name}DataType") for name in ("acc", "output")] == [width, width]
