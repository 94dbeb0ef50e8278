"""RowFunction: what Softmax or LayerNormalization makes of rows of integers, until a quantiser follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.transforms.graph_view import attribute, is_standard, opset
from brainsmith.transforms.integer.integer_tensor import of_range
from brainsmith.transforms.integer.no_layer import NoLayerError

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.integer.layouts import Value
    from brainsmith.transforms.lattice.links import ChainLink

OPERATORS = ("LayerNormalization", "Softmax")

_LAST_AXIS_BY_DEFAULT = 13
"""From this opset on Softmax takes one axis, by default the last; before, it flattened all from axis 1."""


@dataclass(frozen=True)
class RowFunction:
    """Floats that a kernel of the chip may make, since a quantiser follows; else the host's.

    Attributes:
        node: The operator, over the last axis.
        source: What it reads.
        chain: Its shape and its pending operators, as those of a tensor of scale 1.
    """

    node: NodeProto
    source: Value
    chain: IntegerTensor

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in the network."""
        return self.chain.shape

    def behind(self, link: ChainLink) -> RowFunction | None:
        """Return what a further operator makes of it; None if its operands are neither one nor one for each channel."""
        if link.channels > 1 and link.axis != -1:
            return None
        # The channels of an image are not those of its rows, so the shape is that of a row here.
        row = replace(self.chain, shape=(1, self.shape[-1])).behind(link)
        return None if row is None else replace(self, chain=replace(row, shape=self.shape))


def row_function(view: GraphView, node: NodeProto, value: Value) -> RowFunction | None:
    """Return what a node makes of rows; None if it is another operator.

    Raises:
        NoLayerError: It computes along another axis than the last.
    """
    if not is_standard(node, *OPERATORS):
        return None
    default = -1
    if node.op_type == "Softmax" and opset(view.model) < _LAST_AXIS_BY_DEFAULT:
        default = 1
    if attribute(node, "axis", default) not in (-1, len(value.shape) - 1):
        raise NoLayerError("it computes along another axis than the last", "transpose what goes into it")
    if any(node.output[1:]):
        raise NoLayerError("its mean or its deviation is used", "use only its first output")
    return RowFunction(node, value, of_range("", value.shape, 0, 0))


def float_ranges(rows: np.ndarray, low: int) -> tuple[np.ndarray, int]:
    """Leave out thresholds that every float reaches, or none; return the others, and the level below them."""
    never, always = (rows >= 2.0**63).all(axis=0), (rows <= -(2.0**63)).all(axis=0)
    kept = rows[:, ~never & ~always]
    return (kept if kept.size else rows[:, :1]), low + int(always.sum() if kept.size else 0)
