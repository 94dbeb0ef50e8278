"""Bounds of what operators make of all floats between two: interval arithmetic, as float32 rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.integer.tabled_link import TabledLink
from brainsmith.transforms.lattice.links import CURVES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.transforms.lattice.array_kinds import Singles
    from brainsmith.transforms.lattice.links import ChainLink

Bounds = tuple["Singles", "Singles"]
"""The least and the greatest, each (channels or 1, any); NaN where nothing is known."""

_RELATIVE, _ABSOLUTE = 2.0**-20, 2.0**-22
"""By how much of itself, and by how much else, what ONNX Runtime computes may be beside a function that rises all along.

It computes the last few of many values in another way than the others: Sigmoid(-35) is 0 in one, up to 1e-7 in the other.
"""

_RISING = (
    "Asin", "Atan", "Ceil", "Celu", "Erf", "Exp", "Floor", "Log", "Round", "Sign", "Softsign", "Sqrt", "ThresholdedRelu",
)  # fmt: skip
_VALLEYS = {"Gelu": -0.7517916, "HardSwish": -1.5, "Mish": -1.1924313}
"""Functions that fall up to a place, and rise from there on."""


def bounds_behind(links: Sequence[ChainLink], given: Bounds) -> Bounds:
    """Return bounds of what operators, one after the other, make of all floats between bounds."""
    for link in links:
        given = _of_table(link, given) if isinstance(link, TabledLink) else _of_link(link, given)
    return given


def _of_link(link: ChainLink, given: Bounds) -> Bounds:
    """Return bounds of an operator that rises, or falls, in each channel."""
    first, last = (link.apply(end) for end in given)
    turned = link.signs[:, None] < 0
    low, high = np.where(turned, last, first), np.where(turned, first, last)
    if link.node.op_type == "HardSigmoid":  # it has no curve to approximate: 0 is 0
        return _widened(low, high, 0.0)
    return _widened(low, high) if link.node.op_type in CURVES else (low, high)


def _widened(low: Singles, high: Singles, sizes: Singles | float = 1.0) -> Bounds:
    """Return bounds that hold in spite of rounding, of values of a size."""
    below, above = (np.abs(end) * _RELATIVE + _ABSOLUTE * sizes for end in (low, high))
    return (low - below).astype(np.float32), (high + above).astype(np.float32)


def _of_table(link: TabledLink, given: Bounds) -> Bounds:
    node = link.node
    several = max((each.size for each in link.operands.values()), default=1)
    known: dict[str, Bounds] = {}
    for name, tensor in link.inputs.items():
        low, high = bounds_behind(tensor.links, given)
        rows = max(several, len(low)) // len(low)
        known[name] = (np.repeat(low, rows, axis=0), np.repeat(high, rows, axis=0))
    operands = [known.get(name) or _twice(link.operands[name]) for name in node.input if name]
    if (joined := _JOINED.get(node.op_type)) is not None and len(operands) == 2:
        return joined(*operands)
    if len(operands) > 1 or len(known) > 1:
        return _unknown(given)
    (bounds,) = known.values()
    if node.op_type in _RISING or (node.op_type == "LeakyRelu" and attribute(node, "alpha", 0.01) >= 0):
        low, high = (link.of_operands({node.input[0]: end}) for end in bounds)
        return _widened(low, high)
    if node.op_type == "Abs":
        return _absolute(bounds)
    place = 0.0 if node.op_type == "LeakyRelu" else _VALLEYS.get(node.op_type)
    return _unknown(given) if place is None else _of_valley(link, bounds, np.float32(place))


def _twice(constant: Any) -> Bounds:
    value = np.asarray(constant, np.float32).reshape(-1, 1)
    return value, value


def _unknown(given: Bounds) -> Bounds:
    nothing = np.full(given[0].shape, np.nan, np.float32)
    return nothing, nothing


def _absolute(bounds: Bounds) -> Bounds:
    low, high = bounds
    least = np.maximum(np.maximum(low, -high), np.float32(0))
    return least, np.maximum(np.abs(low), np.abs(high))


def _of_valley(link: TabledLink, bounds: Bounds, place: np.float32) -> Bounds:
    name = link.node.input[0]
    low, high = (link.of_operands({name: end}) for end in bounds)
    bottom = link.of_operands({name: np.full_like(bounds[0], place)})
    around = (bounds[0] <= place) & (bounds[1] >= place)
    sizes = np.maximum(1.0, np.maximum(*map(np.abs, bounds)))
    # The place is rounded: the bottom may be deeper, by the square of that, which is less than what bounds are widened by.
    return _widened(np.where(around, bottom, np.minimum(low, high)), np.maximum(low, high), sizes)


def _of_corners(function: Callable[..., Any]) -> Callable[[Bounds, Bounds], Bounds]:
    """Return bounds of what is greatest and least where both operands are at their ends, as of a product."""

    def bounds(left: Bounds, right: Bounds) -> Bounds:
        corners = [function(one, two) for one in left for two in right]
        return np.minimum.reduce(corners), np.maximum.reduce(corners)  # NaN stays NaN

    return bounds


def _quotient(left: Bounds, right: Bounds) -> Bounds:
    low, high = _of_corners(np.divide)(left, right)
    around = (right[0] <= 0) & (right[1] >= 0)
    return np.where(around, np.float32(np.nan), low), np.where(around, np.float32(np.nan), high)


_JOINED: dict[str, Callable[[Bounds, Bounds], Bounds]] = {
    "Add": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "Div": _quotient,
    "Max": lambda left, right: (np.maximum(left[0], right[0]), np.maximum(left[1], right[1])),
    "Min": lambda left, right: (np.minimum(left[0], right[0]), np.minimum(left[1], right[1])),
    "Mul": _of_corners(np.multiply),
    "Sub": lambda left, right: (left[0] - right[1], left[1] - right[0]),
}
