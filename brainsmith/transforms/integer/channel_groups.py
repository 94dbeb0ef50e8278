"""Channels in other places, or several times: operators that treat each channel alone follow them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_kinds import Whole
    from brainsmith.transforms.lattice.links import ChainLink
    from brainsmith.transforms.lattice.staircases import Staircase


def regrouped_link(link: ChainLink, index: Whole, axis: int) -> ChainLink:
    """Return an operator whose channel j is the given one's channel `index[j]`, for channels of an axis."""
    if link.channels == 1:
        return link

    def taken(array: Any) -> Any:
        return array if array is None or array.size == 1 else array[index]

    return replace(
        link,
        apply=_by_rows(link.apply, link.channels, index),
        signs=taken(link.signs),
        factor=taken(link.factor),
        added=taken(link.added),
        operand=taken(link.operand),
        axis=axis,
    )


def regrouped_staircase(staircase: Staircase, index: Whole, axis: int) -> Staircase:
    """Return a quantiser whose channel j is the given one's channel `index[j]`, for channels of an axis."""
    if staircase.channels == 1:
        return staircase
    scale = staircase.scale
    return replace(
        staircase,
        levels=_by_rows(staircase.levels, staircase.channels, index),
        scale=None if scale is None else scale.reshape(-1)[index],
        axis=axis,
        channels=len(index),
    )


def regrouped(tensor: IntegerTensor, index: Whole, axis: int, **changes: Any) -> IntegerTensor:
    """Return a tensor whose channel j is the given one's channel `index[j]`."""
    scale, offset = (array if array.size == 1 else array[index] for array in (tensor.scale, tensor.offset))
    links = tuple(regrouped_link(link, index, axis) for link in tensor.links)
    return replace(tensor, range=tensor.range.at(index), scale=scale, offset=offset, links=links, **changes)


def _by_rows(apply: Callable[[Any], Any], channels: int, index: Whole) -> Callable[[Any], Any]:
    """Return a function of rows, each of which goes through the channel that the index names."""
    turns = np.zeros(len(index), np.int64)
    for channel in np.unique(index):
        own = index == channel
        turns[own] = np.arange(own.sum())
    most = int(turns.max()) + 1

    def of_rows(x: Any) -> Any:
        if len(x) == 1:
            return apply(x)[index]
        rows = np.zeros((channels, most, x.shape[1]), x.dtype)
        rows[index, turns] = x
        return apply(rows.reshape(channels, -1)).reshape(channels, most, -1)[index, turns]

    return of_rows
