"""Write a trained network as QONNX: float weights and activations between Quant nodes.

All scales are powers of two and all biases are exact in float32, so the graph computes the trainer's
integers, scaled, without any rounding. The last layer's weight scale is the inverse of its input's scale: the
logits are integers, and no multiplication is left over at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from quantised_network import Activation, Conv, Dense, Network, Weighted

OPSET = 17
IR_VERSION = 9
QONNX_DOMAIN = "qonnx.custom_op.general"
PIXEL_TYPE = "UINT5"


@dataclass
class Graph:
    """Nodes, initialisers and tensor shapes in the making.

    `tail` is the tensor that the next node reads, `shape` its shape, `scale` the real value of its integer 1.
    """

    tail: str
    shape: list[int]
    scale: float = 1.0
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    tensors: list[onnx.ValueInfoProto] = field(default_factory=list)

    def constant(self, name: str, values: NDArray[np.generic] | float) -> str:
        """Add a float32 initialiser."""
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=np.float32), name))
        return name

    def node(
        self,
        op_type: str,
        name: str,
        inputs: list[str],
        shape: list[int],
        **attributes: int | str | list[int],
    ) -> str:
        """Add a node and the shape of its one output, which is named after it."""
        output = f"{name}_out"
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=name, **attributes))
        self.tensors.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, shape))
        return output

    def step(
        self, op_type: str, name: str, other: list[str], shape: list[int], **attributes: int | list[int]
    ) -> None:
        """Add a node that reads the tail and becomes the tail."""
        self.tail = self.node(op_type, name, [self.tail, *other], shape, **attributes)
        self.shape = shape

    def quant(self, name: str, source: str, shape: list[int], scale: float, bits: int, narrow: bool) -> str:
        """Add a signed Quant node with its scale, zero point and bit width."""
        inputs = [
            source,
            self.constant(f"{name}_scale", scale),
            self.constant(f"{name}_zeropt", 0.0),
            self.constant(f"{name}_bitwidth", bits),
        ]
        return self.node(
            "Quant",
            name,
            inputs,
            shape,
            domain=QONNX_DOMAIN,
            signed=1,
            narrow=int(narrow),
            rounding_mode="ROUND",
        )

    def weight(self, name: str, weight: Weighted, integers: NDArray[np.float64], scale: float) -> str:
        """Add weights in the layout of their ONNX operator, with their Quant node."""
        values = self.constant(f"{name}_weight", integers * scale)
        return self.quant(
            f"{name}_weight_quant", values, list(integers.shape), scale, weight.bits, narrow=True
        )

    def quantise_tail(self, name: str, scale: float, bits: int) -> None:
        """Add the Quant node of an activation."""
        self.tail = self.quant(name, self.tail, self.shape, scale, bits, narrow=False)
        self.scale = scale


def export(network: Network, path: Path) -> None:
    """Write a network as a QONNX file; the same network gives the same bytes.

    The input is `image`, (1, 64) or NCHW (1, 1, 8, 8), integers 0 to 16 in float32, annotated UINT5; the
    output is `logits`, (1, 10).
    """
    shape = [1, 1, 8, 8] if isinstance(network.layers[0], Conv) else [1, 64]
    graph = Graph("image", shape)
    graph.step("Add", "centre", [graph.constant("image_centre", -8.0)], shape)
    graph.quantise_tail("image_quant", 1.0, network.input_bits)
    channels_last: tuple[int, int, int] | None = None
    for layer, following in zip(network.layers, [*network.layers[1:], None], strict=True):
        if isinstance(layer, Activation):
            _add_activation(graph, layer, spatial=channels_last is not None)
            continue
        scale = _weight_scale(graph.scale, following)
        if isinstance(layer, Conv):
            _add_conv(graph, layer, scale)
            _, rows, columns = layer.grid
            channels_last = (rows, columns, layer.channels[1])
        elif isinstance(layer, Dense):
            _add_dense(graph, layer, scale, channels_last)
            channels_last = None
    graph.tensors.pop()  # the graph's output has its shape and its own name
    graph.nodes[-1].output[0] = "logits"
    _save(graph, network.name, shape, path)


def _weight_scale(input_scale: float, following: object) -> float:
    """Choose the weight scale with which the accumulator fits the activation that follows."""
    if isinstance(following, Activation):
        return _activation_scale(following) / input_scale * 2.0**-following.shift
    return 1.0 / input_scale


def _activation_scale(layer: Activation) -> float:
    """Return the scale that gives an activation the range -1 to 1."""
    return 2.0 ** (1 - layer.bits)


def _add_activation(graph: Graph, layer: Activation, spatial: bool) -> None:
    """Add bias and Quant; the bias is in accumulator units, which are scale / 2^shift."""
    scale = _activation_scale(layer)
    bias = layer.bias * scale * 2.0**-layer.shift
    shaped = bias.reshape(1, -1, 1, 1) if spatial else bias
    constant = graph.constant(f"{layer.name}_bias", shaped)
    graph.step("Add", f"{layer.name}_add_bias", [constant], graph.shape)
    graph.quantise_tail(f"{layer.name}_quant", scale, layer.bits)


def _add_conv(graph: Graph, layer: Conv, scale: float) -> None:
    """Add a convolution; the weights go from (kh*kw*in, out) to OIHW."""
    size = layer.kernel
    integers = layer.weight.integers.reshape(size, size, *layer.channels).transpose(3, 2, 0, 1)
    weight = graph.weight(layer.name, layer.weight, integers, scale)
    graph.step(
        "Conv",
        layer.name,
        [weight],
        [1, layer.channels[1], *layer.grid[1:]],
        kernel_shape=[size, size],
        pads=[layer.pad] * 4,
        strides=[layer.stride] * 2,
        # Defaults, but QONNX's lowering wants them written out.
        dilations=[1, 1],
        group=1,
    )


def _add_dense(graph: Graph, layer: Dense, scale: float, image: tuple[int, int, int] | None) -> None:
    """Add a MatMul; after a convolution its rows go from NHWC order to NCHW, as Flatten reads."""
    integers = layer.weight.integers
    if image is not None:
        graph.step("Flatten", "flatten", [], [1, len(integers)], axis=1)
        integers = integers.reshape(*image, -1).transpose(2, 0, 1, 3).reshape(integers.shape)
    weight = graph.weight(layer.name, layer.weight, integers, scale)
    graph.step("MatMul", layer.name, [weight], [1, integers.shape[1]])


def _save(graph: Graph, name: str, shape: list[int], path: Path) -> None:
    """Check and write the model."""
    proto = helper.make_graph(
        graph.nodes,
        f"digits_{name}",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 10])],
        graph.constants,
        value_info=graph.tensors,
    )
    annotation = proto.quantization_annotation.add()
    annotation.tensor_name = "image"
    annotation.quant_parameter_tensor_names.add(key="finn_datatype", value=PIXEL_TYPE)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(QONNX_DOMAIN, 1)]
    model = helper.make_model(
        proto, producer_name="brainsmith examples/digits", ir_version=IR_VERSION, opset_imports=opsets
    )
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString(deterministic=True))
