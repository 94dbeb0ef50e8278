"""Scales and biases between a tensor of integers and the thresholds behind it, moved into these.

FINN's AbsorbMul- and AbsorbAddIntoMultiThreshold divide thresholds; here the least integer that reaches each threshold
is searched through the very float operators that are removed, so that no value moves to another level by rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper

from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard, keeps_rank
from brainsmith.transforms.lattice.search import find_steps
from brainsmith.transforms.lattice.staircases import LAYOUTS, is_thresholds

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt
    from onnx import NodeProto

    Floats: TypeAlias = npt.NDArray[np.float32]
    Chain: TypeAlias = tuple[tuple[str, Floats], ...]


def absorb_affine(view: GraphView, source: str) -> bool:
    """Connect the MultiThresholds behind a tensor of integers to it, with thresholds that are integers.

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
        link = _affine(view, node, name)
        if link is not None:
            found += _thresholds_behind(view, node.output[0], (*chain, link))
        elif chain and _can_take(view, node, name, chain):
            found.append((node, chain))
    return found


def _affine(view: GraphView, node: NodeProto, name: str) -> tuple[str, Floats] | None:
    """Return what a node does to each channel of a tensor; None where that is not affine and growing."""
    if not is_standard(node, "Mul", "Div", "Add", "Sub"):
        return None
    place = list(node.input).index(name)
    operand = view.constant(node.input[1 - place])
    if operand is None or (place == 1 and node.op_type in ("Div", "Sub")):
        return None
    shape = view.model.get_tensor_shape(name)
    per_channel = shape is not None and operand.size == shape[-1] and operand.shape[-1:] == (shape[-1],)
    if not (operand.size == 1 or per_channel) or not keeps_rank(view, name, operand):
        return None
    values = operand.astype(np.float32).reshape(-1)
    if node.op_type in ("Mul", "Div") and not (values > 0).all():
        return None
    return node.op_type, values


def _can_take(view: GraphView, node: NodeProto, name: str, chain: Chain) -> bool:
    if not is_thresholds(node) or node.input[0] != name:
        return False
    thresholds, shape = view.constant(node.input[1]), view.model.get_tensor_shape(name)
    if thresholds is None or shape is None:
        return False
    uniform = thresholds.shape[0] == 1
    return (uniform and all(values.size == 1 for _, values in chain)) or (
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
    levels = least_integers(chain, np.asarray(old, np.float32), low, high)
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


def least_integers(chain: Chain, thresholds: Floats, low: int, high: int) -> Floats:
    """Return, for each threshold and channel, the least integer from which on the chain's result reaches it.

    Each operator of the chain grows with its input, rounding included.

    Args:
        chain: Operators and operands, each of one element or of one per channel.
        thresholds: (channels or 1, levels).
        low: The least integer there is.
        high: The greatest; `high + 1` is returned for a threshold that it does not reach.
    """
    channels = max(thresholds.shape[0], *(values.size for _, values in chain))
    ends = np.asarray([low]), np.asarray([high])
    found = find_steps(lambda numbers: _apply(chain, numbers), thresholds, *ends, channels)
    return found.astype(np.float32)


def _apply(chain: Chain, numbers: npt.NDArray[np.int64]) -> Floats:
    operators: dict[str, Any] = {"Mul": np.multiply, "Div": np.divide, "Add": np.add, "Sub": np.subtract}
    values = numbers.astype(np.float32)
    for op_type, operand in chain:
        values = operators[op_type](values, operand[:, None])
    return values
