"""Sums beyond 2^24, which float32 does not hold: computed in float64, up to 48 bits, where thresholds follow at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, helper

from brainsmith.graph.integer_range import FLOAT32_END
from brainsmith.transforms.integer.layer_graph import LayerNode, LayerTensor
from brainsmith.transforms.integer.no_layer import Reason

if TYPE_CHECKING:
    from brainsmith.transforms.integer.layer_graph import LayerGraph
    from brainsmith.transforms.integer.refusals import Refusals

_FEWER = "use fewer bits for its weights or for its inputs"
_HELPS = f"put a quantiser right after the product, or {_FEWER}"


def widen_sums(graph: LayerGraph, refusals: Refusals) -> None:
    """Compute products whose sums float32 does not hold in float64, and compare these with thresholds there.

    Casts stand around them, because an operator of ONNX has operands of one type: what goes in and the levels that come
    out are as before. A sum that something else than thresholds reads is refused.

    Args:
        graph: All layers of a network; changed.
        refusals: Of the network so far.

    Raises:
        ModelError: Something else than thresholds reads such a sum.
    """
    wide = {name for name, tensor in graph.tensors.items() if _is_wide(tensor)}
    for name in sorted(wide):
        if (reason := _refusal(graph, name)) is not None:
            refusals.add(graph.tensors[name].origin, reason)
    if refusals:
        raise refusals.error()
    casts: dict[str, str] = {}
    for layer in graph.layers[:]:
        if layer.result in wide:
            given = layer.node.input[0]
            if given not in casts:
                casts[given] = _cast_in(graph, layer, given)
            layer.node.input[0] = casts[given]
            graph.tensors[layer.result].doubles = True
        elif wide.intersection(layer.node.input):
            _cast_back(graph, layer)


def _is_wide(tensor: LayerTensor) -> bool:
    return tensor.range is not None and tensor.range.magnitude > FLOAT32_END


def _refusal(graph: LayerGraph, name: str) -> Reason | None:
    """Return why a wide tensor has no layers; None if a product gives it and thresholds alone read it."""
    maker, span = graph.maker(name), graph.tensors[name].range
    assert span is not None
    what = f"its integers reach {span.magnitude}, more than 24 bits"
    if maker is None or maker.node.op_type != "MatMul":
        return Reason(f"{what}, which only products with constant weights may give", _HELPS)
    if maker.taps_of_channels:
        return Reason(f"{what}, which a depthwise convolution does not give", _FEWER)
    others = [each.node.op_type for each in graph.readers(name) if each.node.op_type != "MultiThreshold"]
    if others or not graph.readers(name):
        reads = f"{others[0]} reads them" if others else "they are an output"
        return Reason(f"{what}, which only thresholds may read, and {reads}", _HELPS)
    return None


def _cast_in(graph: LayerGraph, layer: LayerNode, given: str) -> str:
    """Put a Cast to float64 before a layer, and return the name of its result."""
    assert layer.constant is not None
    tensor, result = graph.tensors.get(given), graph.name(f"{given}_wide")
    node = helper.make_node("Cast", [given], [result], name=result, to=TensorProto.DOUBLE)
    graph.layers.insert(graph.layers.index(layer), LayerNode(node))
    shape = (*graph.tensors[layer.result].shape[:-1], len(layer.constant))
    graph.tensors[result] = LayerTensor(shape, None if tensor is None else tensor.range, doubles=True)
    return result


def _cast_back(graph: LayerGraph, layer: LayerNode) -> None:
    """Put a Cast to float32 after a layer, whose result keeps its name."""
    result = layer.result
    levels = graph.tensors[result]
    wide = graph.name(f"{result}_wide")
    layer.node.output[0] = wide
    graph.tensors[wide] = LayerTensor(levels.shape, levels.range, levels.origin, doubles=True)
    node = helper.make_node("Cast", [wide], [result], name=graph.name(f"{result}_cast"), to=TensorProto.FLOAT)
    graph.layers.insert(graph.layers.index(layer) + 1, LayerNode(node))
