"""Scales and biases between a tensor of integers and the thresholds after it, moved into these.

FINN's AbsorbMul- and AbsorbAddIntoMultiThreshold divide thresholds; here the least integer that reaches each threshold
is searched through the very float operators that are removed, so that no value moves to another level by rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import helper

from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard
from brainsmith.transforms.lattice.links import applied, link_of
from brainsmith.transforms.lattice.search import find_steps
from brainsmith.transforms.lattice.staircases import LAYOUTS, is_thresholds

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto

    from brainsmith.transforms.lattice.array_kinds import Singles
    from brainsmith.transforms.lattice.links import ChainLink

    Chain = tuple[ChainLink, ...]


def absorb_affine(view: GraphView, source: str) -> bool:
    """Connect the MultiThresholds after a tensor of integers to it, with thresholds that are integers.

    Between may lie Mul, Div, Add and Sub by constants of one element or of one for each channel (the last axis), and
    forks. Multipliers must be positive. What other readers need of these nodes stays.

    Returns:
        Whether there was such a MultiThreshold.
    """
    found = [*_thresholds_behind(view, source, ())]
    for node, chain in found:
        view.replace(node, [_on_integers(view, node, source, chain)], node.input)
    return bool(found)


def _thresholds_behind(view: GraphView, name: str, chain: Chain) -> list[tuple[NodeProto, Chain]]:
    found = []
    for node in view.nodes_reading(name):
        link = _affine(view, node)
        if link is not None:
            found += _thresholds_behind(view, node.output[0], (*chain, link))
        elif chain and _can_take(view, node, name, chain):
            found.append((node, chain))
    return found


def _affine(view: GraphView, node: NodeProto) -> ChainLink | None:
    """Return what a node does to each channel of a tensor; None where that is not affine and rising."""
    link = link_of(view, node) if is_standard(node, "Mul", "Div", "Add", "Sub") else None
    return link if link is not None and link.axis in (None, -1) and (link.signs > 0).all() else None


def _can_take(view: GraphView, node: NodeProto, name: str, chain: Chain) -> bool:
    if not is_thresholds(node) or node.input[0] != name:
        return False
    thresholds, shape = view.constant(node.input[1]), view.model.get_tensor_shape(name)
    if thresholds is None or shape is None:
        return False
    uniform = thresholds.shape[0] == 1
    return (uniform and all(link.channels == 1 for link in chain)) or (
        _channels_are_last(node, len(shape)) or (uniform and len(shape) in LAYOUTS)
    )


def _channels_are_last(node: NodeProto, rank: int) -> bool:
    layout = attribute(node, "data_layout", b"").decode() or LAYOUTS.get(rank, "")
    return bool(layout.endswith("C"))


def _on_integers(view: GraphView, node: NodeProto, source: str, chain: Chain) -> NodeProto:
    """Return the MultiThreshold that does to the integers what this one does to what the chain makes of them."""
    old = view.constant(node.input[1])
    datatype = view.model.get_tensor_datatype(source)
    low, high = int(datatype.min()), int(datatype.max())
    channels = max(link.channels for link in chain)
    levels = least_integers(
        lambda values: applied(chain, values), channels, np.asarray(old, np.float32), low, high
    )
    kind = integer_datatype(min(low, -1), high + 1)
    name = view.add_constant(f"{node.input[1]}_of_integers", levels, kind)
    new = helper.make_node(
        node.op_type, [source, name], list(node.output), name=node.name, domain=node.domain
    )
    new.attribute.extend(entry for entry in node.attribute if entry.name != "data_layout")
    rank = len(view.model.get_tensor_shape(source))
    layout = attribute(node, "data_layout", b"").decode()
    if not _channels_are_last(node, rank) and levels.shape[0] > 1:
        layout = "NHWC"  # one threshold for all channels until now, so the layout said nothing
    if layout:
        new.attribute.append(helper.make_attribute("data_layout", layout))
    return new


def least_integers(
    apply: Callable[[Singles], Singles], channels: int, thresholds: Singles, low: int, high: int
) -> Singles:
    """Return, for each threshold and channel, the least integer from which on a function's result reaches it.

    Args:
        apply: Of values (channels, any); it rises with its input, rounding included.
        channels: How many it tells apart; 1 where none.
        thresholds: (channels or 1, levels).
        low: The least integer there is.
        high: The greatest; `high + 1` is returned for a threshold that it does not reach.
    """
    ends = np.asarray([low]), np.asarray([high])
    rows = max(len(thresholds), channels)
    found = find_steps(lambda numbers: apply(numbers.astype(np.float32)), thresholds, *ends, rows)
    return found.astype(np.float32)
