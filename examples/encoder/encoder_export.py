"""Write a trained encoder as QONNX: standard ONNX operators on float32, and Quant nodes.

All scales are powers of two and all biases exact in float32, so products and sums are exact. Only Softmax and
LayerNormalization round, as their runtime does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from encoder_layers import Dense, Grid, LayerNorm, Quantiser
from encoder_network import (
    CLASSES,
    HEADS,
    INPUT,
    PIXELS,
    SCORE_SCALE,
    TOKENS,
    WIDTH,
    Attention,
    Encoder,
)
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 9
QONNX_DOMAIN = "qonnx.custom_op.general"
PIXEL_TYPE = "UINT5"
PER_HEAD = WIDTH // HEADS


class Tensor(NamedTuple):
    """A tensor of the graph: its name and shape."""

    name: str
    shape: list[int]


@dataclass
class Graph:
    """Nodes, initialisers and tensor shapes in the making; each node is named, and its output after it."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    tensors: list[onnx.ValueInfoProto] = field(default_factory=list)

    def constant(
        self, name: str, values: NDArray[np.generic] | float | list[int], dtype: type = np.float32
    ) -> Tensor:
        """Add an initialiser."""
        array: NDArray[np.generic] = np.asarray(values, dtype=dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        return Tensor(name, list(array.shape))

    def node(
        self, op_type: str, name: str, inputs: list[Tensor], shape: list[int], **attributes: object
    ) -> Tensor:
        """Add a node with one output of a shape."""
        output = f"{name}_out"
        names = [tensor.name for tensor in inputs]
        self.nodes.append(helper.make_node(op_type, names, [output], name=name, **attributes))
        self.tensors.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, shape))
        return Tensor(output, shape)

    def quant(self, name: str, x: Tensor, grid: Grid) -> Tensor:
        """Add a Quant node with its scale, zero point and bit width."""
        facts = {"scale": grid.scale, "zeropt": 0.0, "bitwidth": float(grid.bits)}
        inputs = [x, *(self.constant(f"{name}_{key}", value) for key, value in facts.items())]
        kind = {"signed": int(grid.signed), "narrow": int(grid.narrow), "rounding_mode": "ROUND"}
        return self.node("Quant", name, inputs, x.shape, domain=QONNX_DOMAIN, **kind)

    def dense(self, x: Tensor, layer: Dense) -> Tensor:
        """Add a product with quantised weights."""
        values = self.constant(f"{layer.name}_weight", layer.rounded)
        weight = self.quant(f"{layer.name}_weight_quant", values, layer.grid)
        return self.node("MatMul", layer.name, [x, weight], [*x.shape[:-1], values.shape[-1]])

    def quantise(self, x: Tensor, layer: Quantiser) -> Tensor:
        """Add a bias and a Quant node, with a rectifier if the grid is unsigned."""
        bias = self.constant(f"{layer.name}_bias", layer.bias)
        x = self.node("Add", f"{layer.name}_add_bias", [x, bias], x.shape)
        if not layer.grid.signed:
            x = self.node("Relu", f"{layer.name}_relu", [x], x.shape)
        return self.quant(f"{layer.name}_quant", x, layer.grid)

    def norm(self, x: Tensor, layer: LayerNorm) -> Tensor:
        """Add a layer normalisation and a Quant node."""
        scale = self.constant(f"{layer.name}_scale", layer.scale.value)
        bias = self.constant(f"{layer.name}_bias", layer.bias.value)
        epsilon = layer.epsilon
        x = self.node("LayerNormalization", layer.name, [x, scale, bias], x.shape, axis=-1, epsilon=epsilon)
        return self.quant(f"{layer.name}_quant", x, layer.grid)

    def split(self, name: str, x: Tensor, order: list[int]) -> Tensor:
        """Add what brings tokens (1, TOKENS, WIDTH) to heads, and the axes of those into an order."""
        apart = [1, TOKENS, HEADS, PER_HEAD]
        shape = self.constant(f"{name}_heads", [-1, *apart[1:]], np.int64)
        x = self.node("Reshape", f"{name}_split", [x, shape], apart)
        return self.node("Transpose", f"{name}_transpose", [x], [apart[axis] for axis in order], perm=order)

    def merge(self, x: Tensor) -> Tensor:
        """Add what brings heads (1, HEADS, TOKENS, PER_HEAD) back to tokens."""
        apart = [1, TOKENS, HEADS, PER_HEAD]
        x = self.node("Transpose", "mix_transpose", [x], apart, perm=[0, 2, 1, 3])
        shape = self.constant("mix_tokens", [-1, TOKENS, WIDTH], np.int64)
        return self.node("Reshape", "mix_merge", [x, shape], [1, TOKENS, WIDTH])


def add_attention(graph: Graph, x: Tensor, layer: Attention) -> Tensor:
    """Add multi-head attention."""
    orders = {"query": [0, 2, 1, 3], "key": [0, 2, 3, 1], "value": [0, 2, 1, 3]}
    heads = {
        name: graph.split(name, graph.quantise(graph.dense(x, dense), quantiser), orders[name])
        for name, (dense, quantiser) in layer.inputs.items()
    }
    square = [1, HEADS, TOKENS, TOKENS]
    scores = graph.node("MatMul", "scores", [heads["query"], heads["key"]], square)
    scores = graph.node("Mul", "scale", [scores, graph.constant("score_scale", SCORE_SCALE)], square)
    attended = graph.node("Softmax", "softmax", [scores], square, axis=-1)
    attended = graph.quant("softmax_quant", attended, layer.softmax.grid)
    mixed = graph.node("MatMul", "mix", [attended, heads["value"]], [1, HEADS, TOKENS, PER_HEAD])
    mixed = graph.quantise(graph.merge(mixed), layer.mix)
    return graph.quantise(graph.dense(mixed, layer.output), layer.output_quantiser)


def export(network: Encoder, path: Path) -> None:
    """Write the network as a QONNX file; the same network gives the same bytes.

    The input is `image`, (1, 8, 8), integers 0 to 16 in float32, annotated UINT5; the output is `logits`,
    (1, 10).
    """
    graph = Graph()
    tokens = [1, TOKENS, WIDTH]
    image = Tensor("image", [1, TOKENS, PIXELS])
    x = graph.node("Add", "centre", [image, graph.constant("image_centre", -8.0)], image.shape)
    x = graph.quant("image_quant", x, INPUT)
    x = graph.quantise(graph.dense(x, network.embed), network.position)
    attended = add_attention(graph, x, network.attention)
    x = graph.norm(graph.node("Add", "add1", [x, attended], tokens), network.norm1)
    hidden = graph.quantise(graph.dense(x, network.expand), network.rectify)
    fed = graph.quantise(graph.dense(hidden, network.contract), network.contracted)
    x = graph.norm(graph.node("Add", "add2", [x, fed], tokens), network.norm2)
    x = graph.node("ReduceMean", "pool", [x], [1, WIDTH], axes=[1], keepdims=0)
    graph.dense(x, network.classify)
    graph.tensors.pop()  # the graph's output has its shape and its own name
    graph.nodes[-1].output[0] = "logits"
    _save(graph, path)


def _save(graph: Graph, path: Path) -> None:
    """Check and write the model."""
    proto = helper.make_graph(
        graph.nodes,
        "digits_encoder",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, TOKENS, PIXELS])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, CLASSES])],
        graph.constants,
        value_info=graph.tensors,
    )
    annotation = proto.quantization_annotation.add()
    annotation.tensor_name = "image"
    annotation.quant_parameter_tensor_names.add(key="finn_datatype", value=PIXEL_TYPE)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(QONNX_DOMAIN, 1)]
    model = helper.make_model(
        proto, producer_name="brainsmith examples/encoder", ir_version=IR_VERSION, opset_imports=opsets
    )
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString(deterministic=True))
