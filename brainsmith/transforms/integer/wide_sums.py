"""Integers beyond 2^24, which float32 does not hold: tensors of float64, in which all up to 48 bits are exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, helper

from brainsmith.graph.integer_range import FLOAT32_END
from brainsmith.transforms.integer.layer_graph import LayerNode, LayerTensor
from brainsmith.transforms.integer.no_layer import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.transforms.integer.layer_graph import LayerGraph
    from brainsmith.transforms.integer.refusals import Refusals

_OF_DOUBLES = (
    "Add", "ArgMax", "Concat", "Gather", "Im2Col", "Identity", "MatMul", "Max", "MaxPoolNHWC", "Mul", "MultiThreshold",
    "Neg", "Pad", "ReduceSum", "Reshape", "Slice", "Split", "Sub", "TopK", "Transpose",
)  # fmt: skip
"""Layers whose models compute in float64 where that goes in."""

_HELPS = (
    "put a quantiser before it, or use fewer bits for the weights or for the inputs of the product before it"
)


def widen_sums(graph: LayerGraph, inputs: Mapping[str, LayerTensor], refusals: Refusals) -> None:
    """Make tensors of float64 of all whose integers float32 does not hold, and of the floats made of these up to a Cast.

    Casts stand around layers that take or give such a tensor, because an operator of ONNX has operands of one type: what
    else goes in, and the levels that come out, are as before.

    Args:
        graph: All layers of a network, in the order in which they run; changed.
        inputs: Of the network, by name.
        refusals: Of the network so far.

    Raises:
        ModelError: A layer whose model computes in float32 alone reads such a tensor.
    """
    casts: dict[str, str] = {}
    for layer in graph.layers[:]:
        if layer.node.op_type == "Cast" or not _touches_wide(graph, layer):
            continue
        if layer.node.op_type not in _OF_DOUBLES:
            refusals.add(graph.tensors[layer.result].origin, _refusal(graph, layer))
            continue
        for at, given in enumerate(layer.node.input):
            if _is_double(graph, given) or not given or given in graph.held:
                continue
            if given not in casts:
                known = graph.tensors.get(given) or inputs[given]
                casts[given] = _cast_in(graph, layer, given, known)
            layer.node.input[at] = casts[given]
        for at in range(1 if layer.node.op_type in ("ArgMax", "TopK") else len(layer.node.output)):
            _widen(graph, layer, at)
    if refusals:
        raise refusals.error()


def is_wide(tensor: LayerTensor) -> bool:
    """Tell whether float32 does not hold all integers of a tensor."""
    return tensor.range is not None and tensor.range.magnitude > FLOAT32_END


def _is_double(graph: LayerGraph, name: str) -> bool:
    return name in graph.tensors and graph.tensors[name].doubles


def _touches_wide(graph: LayerGraph, layer: LayerNode) -> bool:
    results = any(is_wide(graph.tensors[name]) for name in layer.node.output)
    return results or any(_is_double(graph, name) for name in layer.node.input)


def _refusal(graph: LayerGraph, layer: LayerNode) -> Reason:
    tensors = [
        graph.tensors[name] for name in (*layer.node.input, *layer.node.output) if name in graph.tensors
    ]
    most = max(each.range.magnitude for each in tensors if each.range is not None)
    return Reason(
        f"its integers reach {most}, more than 24 bits, which {layer.node.op_type} does not take", _HELPS
    )


def _cast_in(graph: LayerGraph, layer: LayerNode, given: str, known: LayerTensor) -> str:
    """Put a Cast to float64 in front of a layer, and return the name of its result."""
    result = graph.name(f"{given}_wide")
    node = helper.make_node("Cast", [given], [result], name=result, to=TensorProto.DOUBLE)
    graph.layers.insert(graph.layers.index(layer), LayerNode(node))
    graph.tensors[result] = LayerTensor(known.shape, known.range, doubles=True)
    return result


def _widen(graph: LayerGraph, layer: LayerNode, at: int) -> None:
    """Make one result of a layer float64, with a Cast to float32 behind it where that holds its integers."""
    result = layer.node.output[at]
    tensor = graph.tensors[result]
    if tensor.range is None or is_wide(tensor):
        tensor.doubles = True
        return
    wide = graph.name(f"{result}_wide")
    layer.node.output[at] = wide
    graph.tensors[wide] = LayerTensor(tensor.shape, tensor.range, tensor.origin, doubles=True)
    node = helper.make_node("Cast", [wide], [result], name=graph.name(f"{result}_cast"), to=TensorProto.FLOAT)
    graph.layers.insert(graph.layers.index(layer) + 1, LayerNode(node))
