"""A value that is clamped, as a ReLU does, as terms: integers of which it is the sum, where thresholds are too few."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.transforms.integer.integer_tensor import channels_last
from brainsmith.transforms.integer.threshold_rows import ThresholdRows
from brainsmith.transforms.lattice.array_kinds import one_of_equal

if TYPE_CHECKING:
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.lattice.array_kinds import Doubles, Whole

_CLOSE = 1e-9
"""Of a step, by how much a limit may be beside an integer's value and be that all the same: float64 rounded it."""


def clamped_terms(build: LayerBuilder, tensor: IntegerTensor, base: str) -> list[IntegerTensor] | None:
    """Return tensors of integers whose sum a tensor is; None if not one clamp, and factors and summands, are pending.

    For example, `max(0.7 n - 1, 0)` with n from -9 to 9: it is 0 up to n = 1, and then 0.4, 1.1, 1.8 and so on. So it is
    0.7 times `max(n, 2)`, less 1.4, and another 0.4 from n = 2 on, which is 0.4 times one bit.

    Args:
        build: Makes the layers.
        tensor: It.
        base: Of the layers' names.
    """
    at = next((at for at, link in enumerate(tensor.links) if link.limits is not None), None)
    if at is None:
        return None
    limits = tensor.links[at].limits
    given = replace(tensor, links=tensor.links[:at]).affine()
    links = tensor.links[at + 1 :]
    behind = replace(tensor, scale=np.ones(1), offset=np.zeros(1), links=links).affine()
    if given is None or behind is None or limits is None:
        return None
    signs = np.where(given.scale < 0, -1, 1)
    turned = build.scaled(given, signs, f"{base}_turned")
    turned = replace(turned, scale=np.abs(given.scale))
    found = _clamped(build, turned, limits, base)
    if found is None:
        return None
    terms = [replace(term, scale=one_of_equal(term.scale * behind.scale)) for term in found]
    offset = one_of_equal(found[0].offset * behind.scale + behind.offset)
    return [replace(terms[0], offset=offset), *terms[1:]]


def _clamped(
    build: LayerBuilder, tensor: IntegerTensor, limits: tuple[float, float], base: str
) -> list[IntegerTensor] | None:
    """Return the terms of `clip(scale n + offset, *limits)`, with scales of 0 or more; the first one has the offset."""
    count = max(tensor.scale.size, tensor.offset.size, tensor.range.low.size)
    low, high, scale, offset = (
        np.broadcast_to(array, (count,)) for array in (*tensor.range, tensor.scale, tensor.offset)
    )
    least, most = _inside(scale, offset, limits)
    below, above = least > high, most < low
    scale = np.where(below | above, 0.0, scale)  # such a channel has one value
    first: Whole = np.where(scale == 0, low, np.maximum(least, low)).astype(np.int64)
    last: Whole = np.where(scale == 0, high, np.minimum(most, high)).astype(np.int64)
    if (first > last).any():
        return None
    rise = np.where(first > low, scale * first + offset - limits[0], 0.0)
    fall = np.where(last < high, limits[1] - (scale * last + offset), 0.0)
    rise, fall = (
        np.where(np.abs(jump) <= 2 * _CLOSE * scale * np.maximum(1, np.abs(places)), 0.0, jump)
        for jump, places in ((rise, first), (fall, last))
    )
    constant = np.where(below, limits[0], np.where(above, limits[1], np.clip(offset, *limits)))
    held = _between(build, tensor, first, last, base)
    offset = np.where(scale == 0, constant, offset - rise)
    terms = [replace(held, scale=one_of_equal(held.scale * scale), offset=offset)]
    for jump, places, what in ((rise, first, "rise"), (fall, last + 1, "fall")):
        if jump.any():
            rows = ThresholdRows(one_of_equal(places)[:, None], np.ones(1, np.int64), 0)
            bits = build.counted_thresholds(tensor, rows, f"{base}_{what}")
            terms.append(replace(bits, scale=jump))
    return terms


def _inside(scale: Doubles, offset: Doubles, limits: tuple[float, float]) -> tuple[Doubles, Doubles]:
    """Return the least and the greatest n, if there were all integers, with `scale n + offset` between the limits."""
    found = []
    for limit, away in zip(limits, (np.ceil, np.floor), strict=True):
        with np.errstate(all="ignore"):
            exact = (limit - offset) / scale
            whole = np.rint(exact)
            close = np.abs(exact - whole) <= _CLOSE * np.maximum(1.0, np.abs(whole))
        found.append(np.where(close, whole, away(exact)))
    return found[0], found[1]


def _between(
    build: LayerBuilder, tensor: IntegerTensor, first: Whole, last: Whole, base: str
) -> IntegerTensor:
    """Return integers kept between two of each channel, with the scale 1, or -1 where they are turned for that."""
    graph, sign = build.graph, 1
    held = replace(tensor, scale=np.ones(1), offset=np.zeros(1))
    for limit, way, what in ((first, 1, "least"), (last, -1, "most")):
        if not (limit > held.range.low if way > 0 else limit < held.range.high).any():
            continue
        turned = build.scaled(held, np.asarray([way * sign]), f"{base}_{what}_turned")
        bound, sign = one_of_equal(limit * way), way
        reached = turned.range.greater(bound)
        operand = turned.in_layer_order(bound)
        name = graph.add(
            "Max",
            [turned.name],
            f"{base}_{what}",
            channels_last(tensor.shape),
            reached,
            constant=operand,
        )
        held = replace(turned, name=name, range=reached)
    return replace(held, scale=np.asarray([float(sign)]))
