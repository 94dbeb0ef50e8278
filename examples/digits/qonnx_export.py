"""Write a trained network as QONNX: float weights and activations between Quant nodes.

All scales are powers of two and all biases are exact in float32, so the graph computes the trainer's
integers, scaled, without any rounding. The last layer's weight scale is the inverse of its input's scale: the
logits are integers, and no multiplication is left over at the end.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx_graph import Graph
from pooling import GlobalSum, MaxPool
from quantised_network import Activation, Conv, Dense, Layer, Network, Weighted
from residual import Residual


def export(network: Network, path: Path) -> None:
    """Write a network as a QONNX file; the same network gives the same bytes.

    The input is `image`, (1, 64) or NCHW (1, 1, 8, 8), integers 0 to 16 in float32, annotated UINT5; the
    output is `logits`, (1, 10), or `label`, (1, 1), if the network ends with the class.
    """
    shape = [1, 1, 8, 8] if isinstance(network.layers[0], Conv) else [1, 64]
    graph = Graph("image", shape)
    graph.step("Add", "centre", [graph.constant("image_centre", -8.0)], shape)
    graph.quantise_tail("image_quant", 1.0, network.input_bits)
    _add_layers(graph, network.layers)
    output = graph.end_with_label() if network.labels else graph.end_with_logits()
    graph.save(network.name, shape, output, path)


def _add_layers(graph: Graph, layers: list[Layer], last_scale: float | None = None) -> None:
    """Add layers one after the other; `last_scale` is that of the last one, if it is an activation."""
    for at, layer in enumerate(layers):
        match layer:
            case Conv() | Dense():
                last = at + 2 == len(layers)
                scale = _weight_scale(graph.scale, layers[at + 1 :], last_scale if last else None)
                if isinstance(layer, Conv):
                    _add_conv(graph, layer, scale)
                else:
                    _add_dense(graph, layer, scale)
                graph.scale *= scale
            case Activation():
                _add_activation(graph, layer)
            case MaxPool():
                _add_max_pool(graph, layer)
            case GlobalSum():
                _add_global_sum(graph, layer)
            case Residual():
                _add_residual(graph, layer)
            case _:
                raise TypeError(f"a layer must be one of those that can be exported, not {layer!r}")


def _weight_scale(input_scale: float, following: list[Layer], activation_scale: float | None) -> float:
    """Choose the weight scale with which the accumulator fits the activation that follows.

    Without another wish (`activation_scale`) an activation gets the range -1 to 1.
    """
    if following and isinstance(following[0], Activation):
        wanted = activation_scale or 2.0 ** (1 - following[0].bits)
        return wanted / input_scale * 2.0 ** -following[0].shift
    return 1.0 / input_scale


def _add_activation(graph: Graph, layer: Activation) -> None:
    """Add bias and Quant; the bias is in units of what comes in, and the shift makes them coarser."""
    bias = layer.bias * graph.scale
    shaped = bias.reshape(1, -1, 1, 1) if len(graph.shape) == 4 else bias
    constant = graph.constant(f"{layer.name}_bias", shaped)
    graph.step("Add", f"{layer.name}_add_bias", [constant], graph.shape)
    graph.quantise_tail(f"{layer.name}_quant", graph.scale * 2.0**layer.shift, layer.bits)


def _add_weight(
    graph: Graph, name: str, weight: Weighted, integers: NDArray[np.float64], scale: float
) -> str:
    """Add weights in the layout of their ONNX operator, with their Quant node."""
    values = graph.constant(f"{name}_weight", integers * scale)
    return graph.quant(f"{name}_weight_quant", values, list(integers.shape), scale, weight.bits, narrow=True)


def _add_conv(graph: Graph, layer: Conv, scale: float) -> None:
    """Add a convolution; the weights go from (kh*kw*in, out) to OIHW."""
    size = layer.kernel
    integers = layer.weight.integers.reshape(size, size, *layer.channels).transpose(3, 2, 0, 1)
    weight = _add_weight(graph, layer.name, layer.weight, integers, scale)
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


def _add_dense(graph: Graph, layer: Dense, scale: float) -> None:
    """Add a MatMul; after an image its rows go from NHWC order to NCHW, as Flatten reads."""
    integers = layer.weight.integers
    if len(graph.shape) == 4:
        _, channels, rows, columns = graph.shape
        graph.step("Flatten", "flatten", [], [1, len(integers)], axis=1)
        image = integers.reshape(rows, columns, channels, -1)
        integers = image.transpose(2, 0, 1, 3).reshape(integers.shape)
    weight = _add_weight(graph, layer.name, layer.weight, integers, scale)
    graph.step("MatMul", layer.name, [weight], [1, integers.shape[1]])


def _add_max_pool(graph: Graph, layer: MaxPool) -> None:
    _, channels, height, width = graph.shape
    shape = [1, channels, height // layer.size, width // layer.size]
    size = [layer.size] * 2
    graph.step("MaxPool", layer.name, [], shape, kernel_shape=size, strides=size, pads=[0] * 4)


def _add_global_sum(graph: Graph, layer: GlobalSum) -> None:
    """Add a mean, which is the sum at a finer scale.

    Raises:
        ValueError: An image has a number of pixels that is no power of two, so the mean would be rounded.
    """
    _, channels, height, width = graph.shape
    pixels = height * width
    if pixels & (pixels - 1):
        raise ValueError(f"{layer.name}: the mean of {height}x{width} pixels is not exact in floating point")
    graph.step("GlobalAveragePool", layer.name, [], [1, channels, 1, 1])
    graph.scale /= pixels


def _add_residual(graph: Graph, block: Residual) -> None:
    """Add a block's layers and the sum with what goes into them; both have the scale of the latter."""
    fork, scale = graph.tail, graph.scale
    _add_layers(graph, block.layers, last_scale=scale)
    graph.step("Add", f"{block.name}_add", [fork], graph.shape)
