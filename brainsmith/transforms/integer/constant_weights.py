"""Weights as integers and their scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.lattice.staircases import is_quantiser, quantiser_of
from brainsmith.transforms.lattice.value_lattice import common_unit

if TYPE_CHECKING:
    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.lattice.array_kinds import Doubles, Whole


@dataclass(frozen=True)
class IntegerWeights:
    """Constant weights: integers, times a scale, one or one for each result.

    Attributes:
        values: int64, in the shape of the weights.
        scale: float64.
    """

    values: Whole
    scale: Doubles


def integer_weights(view: GraphView, name: str, axis: int) -> IntegerWeights | None:
    """Return weights as integers; None if they are not constant.

    Args:
        view: The network.
        name: Of the weights: a constant, or a quantiser of one.
        axis: Each of whose indices is a result: the first of a convolution, the last of a matrix product.

    Raises:
        NoLayerError: The weights of one result have no common unit.
    """
    found = _levels(view, name)
    if found is None:
        return None
    values, scale = found
    results = values.shape[axis]
    scales = np.moveaxis(np.broadcast_to(scale, values.shape), axis, 0).reshape(results, -1)
    if (scales == scales[:, :1]).all():
        of_results = scales[:, 0]
        return IntegerWeights(values, of_results[:1] if (of_results == of_results[0]).all() else of_results)
    units = [common_unit(row) for row in scales]
    if None in units:
        raise NoLayerError(
            "the weights of one result have several scales without a common unit",
            "quantise the weights of each result with one scale",
        )
    unit = np.asarray(units, np.float64)
    aligned = [1] * values.ndim
    aligned[axis] = -1
    times = np.rint(scale / unit.reshape(aligned)).astype(np.int64)
    return IntegerWeights(values * times, unit)


def _levels(view: GraphView, name: str) -> tuple[Whole, Any] | None:
    """Return a constant as integers and a scale that broadcasts."""
    constant = view.constant(name)
    if constant is not None:
        return _plain(constant)
    node = view.made_by(name)
    if node is None:
        return None
    if is_quantiser(node) and (source := view.constant(node.input[0])) is not None:
        staircase = quantiser_of(view, node)
        rows = _by_channel(source.astype(np.float32), staircase.axis, staircase.channels)
        levels = _back(staircase.levels(rows), source.shape, staircase.axis, staircase.channels)
        return levels, 1.0 if staircase.scale is None else staircase.scale.astype(np.float64)
    if node.op_type == "Transpose" and (inner := _levels(view, node.input[0])) is not None:
        values, scale = inner
        order = attribute(node, "perm", list(range(values.ndim))[::-1])
        return values.transpose(order), np.broadcast_to(scale, values.shape).transpose(order)
    return None


def _plain(constant: Any) -> tuple[Whole, Any]:
    """Return constants that no quantiser made: their unit is what all are multiples of."""
    exact = constant.astype(np.float64)
    unit = 1.0 if np.array_equal(np.rint(exact), exact) else common_unit(np.unique(exact))
    if unit is None:
        raise NoLayerError("its weights are floats without a common unit", "quantise them")
    return np.rint(exact / unit).astype(np.int64), unit


def _by_channel(values: Any, axis: int | None, channels: int) -> Any:
    return values.reshape(1, -1) if axis is None else np.moveaxis(values, axis, 0).reshape(channels, -1)


def _back(rows: Any, shape: tuple[int, ...], axis: int | None, channels: int) -> Any:
    if axis is None:
        return rows.reshape(shape)
    moved = np.moveaxis(np.empty(shape), axis, 0).shape
    return np.moveaxis(rows.reshape(moved), 0, axis)
