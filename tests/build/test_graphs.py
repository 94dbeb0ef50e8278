from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.build.graphs import graph_data
from tests.build import graphs


def test_nodes_and_edges():
    data = graph_data(graphs.quant_mlp((6, 3)).transform(InferShapes()))
    assert data == {
        "nodes": [
            {"id": "input:x", "name": "x", "op_type": "Input", "shape": [1, 6], "datatype": "FLOAT32"},
            {"id": "node:0", "name": "act0", "op_type": "Quant", "shape": [1, 6], "datatype": "FLOAT32"},
            {"id": "node:1", "name": "weight0", "op_type": "Quant", "shape": [6, 3], "datatype": "FLOAT32"},
            {"id": "node:2", "name": "matmul0", "op_type": "MatMul", "shape": [1, 3], "datatype": "FLOAT32"},
            {"id": "output:m0", "name": "m0", "op_type": "Output", "shape": [1, 3], "datatype": "FLOAT32"},
        ],
        "edges": [
            ["input:x", "node:0", "x", [1, 6], "FLOAT32"],
            ["node:0", "node:2", "a0", [1, 6], "FLOAT32"],
            ["node:1", "node:2", "wq0", [6, 3], "FLOAT32"],
            ["node:2", "output:m0", "m0", [1, 3], "FLOAT32"],
        ],
    }


def test_hardware_layers_are_named():
    model = graphs.quant_mlp((6, 3))
    model.graph.node[-1].domain = "finn.custom_op.fpgadataflow.rtl"
    layers = [node.get("layer") for node in graph_data(model)["nodes"]]
    assert layers == [None, None, None, "matmul0", None]
