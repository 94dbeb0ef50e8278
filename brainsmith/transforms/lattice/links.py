"""Link: an operator that does the same to every element of a channel, and never falls where its input rises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.fallback.node_session import open_node
from brainsmith.transforms.graph_view import attribute, is_standard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.lattice.array_kinds import Doubles, Singles, Whole


_ARITHMETIC = ("Mul", "Add", "Sub", "Div")
_PIECEWISE = ("Relu", "Clip", "LeakyRelu", "Neg", "PRelu", "Identity")
CURVES = ("Elu", "HardSigmoid", "Selu", "Sigmoid", "Softplus", "Tanh")
"""Functions that rise all along, but for the rounding of what computes them."""

OPERATORS = (*_ARITHMETIC, "BatchNormalization", *_PIECEWISE, *CURVES)
"""What may be a link, as its operands are."""


@dataclass(frozen=True)
class ChainLink:
    """One node with one input that varies.

    Attributes:
        node: The node.
        source: Its input.
        apply: Computes (channels or 1, any) float32, rounding as the node does.
        signs: 1 where the result rises with the input, -1 where it falls; one for each channel, or one.
        factor: What it multiplies by, as float64; None where it is no multiplication with an addition.
        added: What it adds then.
        axis: Of the channels, from the last one; None where all are treated alike.
        limits: Between which values it keeps what it gets, where it does nothing else; None of another operator.
        operand: What the node reads beside its input, one or one for each channel, where that is neither factor nor
            summand: the slopes of a PRelu.
    """

    node: NodeProto
    source: str
    apply: Callable[[Singles], Singles]
    signs: Whole
    factor: Doubles | None = None
    added: Doubles | None = None
    axis: int | None = None
    limits: tuple[float, float] | None = None
    operand: Singles | None = None

    @property
    def channels(self) -> int:
        """How many channels it tells apart; 1 where none."""
        arrays = (self.signs, self.factor, self.added)
        return max(array.size for array in arrays if array is not None)


def applied(links: Sequence[ChainLink], values: Singles) -> Singles:
    """Return what operators one after the other make of values."""
    for link in links:
        values = link.apply(values)
    return values


def product_of_signs(links: Sequence[ChainLink]) -> Whole:
    """Return 1 where the result of all operators rises with the input of the first, -1 where it falls."""
    signs = np.ones(1, np.int64)
    for link in links:
        signs = signs * link.signs
    return signs


def link_of(view: GraphView, node: NodeProto) -> ChainLink | None:
    """Return what a node does to each channel; None if it is something else, or not known to rise or fall alone."""
    if is_standard(node, *_ARITHMETIC):
        return _arithmetic(view, node)
    if is_standard(node, "BatchNormalization") and len(node.output) == 1:
        return _batch_norm(view, node)
    if is_standard(node, *_PIECEWISE):
        return _piecewise(view, node)
    return _curve(node) if is_standard(node, *CURVES) else None


def _arithmetic(view: GraphView, node: NodeProto) -> ChainLink | None:
    constants = [view.constant(name) for name in node.input]
    varying = [at for at, value in enumerate(constants) if value is None]
    if len(varying) != 1:
        return None
    (at,) = varying
    operand = constants[1 - at]
    if operand is None:
        return None
    found = by_channel(view, node.input[at], operand)
    if found is None:
        return None
    values, axis = found
    return arithmetic_link(node, at, values, axis)


def arithmetic_link(node: NodeProto, at: int, values: Singles, axis: int | None) -> ChainLink | None:
    """Return a Mul, Add, Sub or Div with constants; None of a division by 0, or of constants by what varies.

    Args:
        node: It.
        at: Which of its inputs varies.
        values: The constants, one or one for each channel.
        axis: Of the channels.
    """
    if at == 1 and node.op_type == "Div":
        return None
    exact, one, none = values.astype(np.float64), np.ones(1), np.zeros(1)
    column = values[:, None]
    if node.op_type == "Mul":
        return _linear(node, at, lambda x: x * column, exact, none, axis)
    if node.op_type == "Div":
        return _linear(node, at, lambda x: x / column, 1 / exact, none, axis) if exact.all() else None
    if node.op_type == "Add":
        return _linear(node, at, lambda x: x + column, one, exact, axis)
    if at == 0:
        return _linear(node, at, lambda x: x - column, one, -exact, axis)
    return _linear(node, at, lambda x: column - x, -one, exact, axis)


def _linear(
    node: NodeProto,
    at: int,
    apply: Callable[[Singles], Singles],
    factor: Doubles,
    added: Doubles,
    axis: int | None,
) -> ChainLink:
    return ChainLink(node, node.input[at], apply, _signs(factor), factor, added, axis)


def by_channel(view: GraphView, name: str, operand: Any) -> tuple[Singles, int | None] | None:
    """Return an operand as one number, or one for each channel of one axis of a tensor; None if it is neither."""
    shape = view.model.get_tensor_shape(name)
    if operand.dtype != np.float32 or not np.isfinite(operand).all():
        return None
    if operand.size == 1:
        same_rank = shape is None or operand.ndim <= max(len(shape), 1)
        return (operand.reshape(-1), None) if same_rank else None
    if shape is None or operand.ndim > len(shape):
        return None
    axes = [at - operand.ndim for at, size in enumerate(operand.shape) if size != 1]
    if len(axes) != 1 or operand.size != shape[axes[0]]:
        return None
    return operand.reshape(-1), axes[0]


def _batch_norm(view: GraphView, node: NodeProto) -> ChainLink | None:
    shape = view.model.get_tensor_shape(node.input[0])
    parameters = [view.constant(name) for name in node.input[1:5]]
    if shape is None or any(value is None or value.dtype != np.float32 for value in parameters):
        return None
    gamma, beta, mean, variance = [np.asarray(value) for value in parameters]
    epsilon = np.float32(attribute(node, "epsilon", 1e-5))
    # As ONNX Runtime computes it: a factor and a summand are made first, in float32.
    with np.errstate(all="ignore"):
        factor = (gamma / np.sqrt(variance + epsilon)).astype(np.float32)
        added = (beta - mean * factor).astype(np.float32)
    if not (np.isfinite(factor).all() and np.isfinite(added).all()):
        return None  # a variance below 0: what it gives is not a number

    def apply(x: Singles) -> Singles:
        return x * factor[:, None] + added[:, None]

    exact = factor.astype(np.float64)
    axis = 1 - len(shape) if factor.size > 1 else None
    return ChainLink(node, node.input[0], apply, _signs(exact), exact, added.astype(np.float64), axis)


def _piecewise(view: GraphView, node: NodeProto) -> ChainLink | None:
    one, none, source = np.ones(1), np.zeros(1), node.input[0]
    rising = np.ones(1, np.int64)
    if node.op_type == "Identity":
        return ChainLink(node, source, lambda x: x, rising, one, none)
    if node.op_type == "Neg":
        return ChainLink(node, source, np.negative, -rising, -one, none)
    if node.op_type == "Relu":
        return ChainLink(node, source, lambda x: np.maximum(x, np.float32(0)), rising, limits=(0.0, np.inf))
    if node.op_type == "LeakyRelu":
        slope = np.float32(attribute(node, "alpha", 0.01))
        return (
            ChainLink(node, source, lambda x: np.where(x < 0, x * slope, x), rising) if slope >= 0 else None
        )
    if node.op_type == "PRelu":
        return _sloped(view, node)
    limits = _clip_limits(view, node)
    if limits is None:
        return None
    ends = float(limits[0]), float(limits[1])
    return ChainLink(node, source, lambda x: np.clip(x, *limits), rising, limits=ends)


def _sloped(view: GraphView, node: NodeProto) -> ChainLink | None:
    slopes = view.constant(node.input[1])
    found = None if slopes is None else by_channel(view, node.input[0], slopes)
    if found is None or (found[0] < 0).any():
        return None
    values, axis = found
    column = values[:, None]
    return ChainLink(
        node,
        node.input[0],
        lambda x: np.where(x < 0, x * column, x),
        np.ones(values.size, np.int64),
        axis=axis,
        operand=values,
    )


def _clip_limits(view: GraphView, node: NodeProto) -> tuple[Any, Any] | None:
    low, high = view.number(node, 1, "min", -np.inf), view.number(node, 2, "max", np.inf)
    return None if low is None or high is None or low > high else (np.float32(low), np.float32(high))


def _curve(node: NodeProto) -> ChainLink:
    """Return a function that rises all along, computed by ONNX Runtime, whose rounding is its own."""
    sessions: list[Any] = []
    source = node.input[0]

    def apply(x: Singles) -> Singles:
        if not sessions:
            sessions.append(open_node(node, 17, {source: np.dtype(np.float32)}, node.output))
        return np.asarray(sessions[0].run(None, {source: x})[0])

    return ChainLink(node, source, apply, np.ones(1, np.int64))


def _signs(factors: Doubles) -> Whole:
    return np.where(factors < 0, -1, 1).astype(np.int64)
