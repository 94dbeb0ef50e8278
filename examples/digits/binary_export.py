"""Write a network of 1-bit layers as QONNX: BipolarQuant nodes for its weights and activations.

All scales are 1, so tensors hold the trainer's integers, and no multiplication is left over at the end.
"""

from __future__ import annotations

from pathlib import Path

from binary_layers import BinaryDense, SignActivation
from onnx_graph import QONNX_DOMAIN, Graph
from quantised_network import Network


def export_binary(network: Network, path: Path) -> None:
    """Write a network as a QONNX file; the same network gives the same bytes.

    The input is `image`, (1, 64), integers 0 to 16 in float32, annotated UINT5; the output is `label`, (1, 1).
    """
    graph = Graph("image", [1, 64])
    graph.step("Add", "centre", [graph.constant("image_centre", -8.0)], graph.shape)
    graph.quantise_tail("image_quant", 1.0, network.input_bits)
    for layer in network.layers:
        match layer:
            case BinaryDense():
                _add_dense(graph, layer)
            case SignActivation():
                _add_activation(graph, layer)
            case _:
                raise TypeError(f"a layer must be one of 1 bit, not {layer!r}")
    graph.save(network.name, [1, 64], graph.end_with_label(), path)


def _add_dense(graph: Graph, layer: BinaryDense) -> None:
    """Add a MatMul whose weights go through BipolarQuant."""
    shape = list(layer.weights.shape)
    inputs = [
        graph.constant(f"{layer.name}_weight", layer.weights),
        graph.constant(f"{layer.name}_weight_quant_scale", 1.0),
    ]
    weight = graph.node("BipolarQuant", f"{layer.name}_weight_quant", inputs, shape, domain=QONNX_DOMAIN)
    graph.step("MatMul", layer.name, [weight], [1, shape[1]])


def _add_activation(graph: Graph, layer: SignActivation) -> None:
    """Add the bias and BipolarQuant."""
    bias = graph.constant(f"{layer.name}_bias", layer.bias)
    graph.step("Add", f"{layer.name}_add_bias", [bias], graph.shape)
    scale = graph.constant(f"{layer.name}_quant_scale", 1.0)
    graph.tail = graph.node(
        "BipolarQuant", f"{layer.name}_quant", [graph.tail, scale], graph.shape, domain=QONNX_DOMAIN
    )
