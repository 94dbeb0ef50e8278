"""The form of layer normalisation that TensorFlow writes: scale and bias are folded into the normalisation."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

from brainsmith.transforms.graph_view import GraphView, is_standard
from brainsmith.transforms.norm_pattern import read_variance, reduction_axes, under_inverse_root

if TYPE_CHECKING:
    from onnx import NodeProto


class FoldedNorm(NamedTuple):
    """`x * factor + (bias - mean * factor)` with `factor = inverse * scale`, found in a graph.

    Attributes:
        node: The last node, the Add.
        centred: The tensor `x - mean(x)`, which is there for the variance.
        inverse: The tensor `1 / sqrt(variance + epsilon)`.
        scale: A tensor; empty if there is none.
        bias: A tensor.
    """

    node: NodeProto
    centred: str
    inverse: str
    scale: str
    bias: str


def find_folded_norm(view: GraphView, node: NodeProto) -> FoldedNorm | None:
    """Return the normalisation that ends in this node, scale and bias included, or None.

    Source: `tf.nn.batch_normalization`, which Keras and BERT use for layer normalisation too.
    """
    if not is_standard(node, "Add"):
        return None
    for scaled, rest in permutations(node.input):
        product, difference = view.producer(scaled, "Mul"), view.producer(rest, "Sub")
        if product is None or difference is None:
            continue
        for source, factor in permutations(product.input):
            mean = _other_operand(view, difference.input[1], factor)
            for inverse, scale in _inverse_and_scale(view, factor):
                if centred := _centred(view, source, mean, inverse):
                    return FoldedNorm(node, centred, inverse, scale, difference.input[0])
    return None


def _other_operand(view: GraphView, name: str, operand: str) -> str:
    """Return what a tensor `operand` is multiplied by to give this tensor; empty if it is not so made."""
    product = view.producer(name, "Mul")
    if product is None or operand not in product.input:
        return ""
    return str(product.input[1] if product.input[0] == operand else product.input[0])


def _inverse_and_scale(view: GraphView, factor: str) -> list[tuple[str, str]]:
    """Return how a tensor can be read as an inverse deviation, or as one times a scale."""
    readings = [(factor, "")]
    product = view.producer(factor, "Mul")
    return readings + list(permutations(product.input)) if product is not None else readings


def _centred(view: GraphView, source: str, mean: str, inverse: str) -> str:
    """Return the tensor `source - mean` whose inverse deviation this is, or an empty name."""
    reduction = view.producer(mean, "ReduceMean")
    shifted, _ = under_inverse_root(view, inverse)
    variance = read_variance(view, shifted) if shifted else None
    if reduction is None or variance is None or reduction.input[0] != source:
        return ""
    difference = view.producer(variance.of, "Sub")
    if difference is None or list(difference.input) != [source, mean]:
        return ""
    return variance.of if reduction_axes(view, reduction) == variance.axes else ""
