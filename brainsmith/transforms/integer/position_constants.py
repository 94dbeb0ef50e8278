"""Constants that differ from position to position, before a quantiser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.transforms.graph_view import is_standard
from brainsmith.transforms.lattice.links import arithmetic_link

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.layouts import Layouts, Value
    from brainsmith.transforms.lattice.links import ChainLink


def with_positions(
    view: GraphView, layouts: Layouts, node: NodeProto, value: Value, base: str
) -> Value | None:
    """Return what the arithmetic with a constant makes of a tensor, as one row each of whose values has its own operand.

    For example, eight tokens of 32 channels, to which the embeddings of their positions are added, become a row of 256
    values, which a quantiser after it gives thresholds of their own. None if a node is something else.
    """
    link = _link_of(view, node, value.shape)
    if link is None:
        return None
    size = int(np.prod(value.shape))
    row = layouts.settled(layouts.reshaped(value, (1, 1, size), base), f"{base}_row", in_order=True)
    found = row.behind(link)
    return None if found is None else layouts.reshaped(found, value.shape, base)


def _link_of(view: GraphView, node: NodeProto, shape: tuple[int, ...]) -> ChainLink | None:
    if not is_standard(node, "Add", "Div", "Mul", "Sub") or shape[0] != 1:
        return None
    constants = [view.constant(name) for name in node.input]
    if (constants[0] is None) == (constants[1] is None):
        return None
    at = 0 if constants[0] is None else 1
    operand: Any = constants[1 - at]
    if operand.dtype != np.float32 or not np.isfinite(operand).all() or operand.ndim > len(shape):
        return None
    wide = (1,) * (len(shape) - operand.ndim) + operand.shape
    if any(size not in (1, whole) for size, whole in zip(wide, shape, strict=True)):
        return None
    return arithmetic_link(node, at, np.broadcast_to(operand, shape).reshape(-1), -1)
