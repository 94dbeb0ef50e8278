"""SumsOfScales: makes layers of sums whose scales have no common unit, exact where there is a way."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from brainsmith.graph.integer_range import ACCUMULATOR_END, IntegerRange
from brainsmith.transforms.integer.digit_sums import fine_units, sum_in_digits
from brainsmith.transforms.integer.integer_tensor import IntegerTensor, of_range
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.scaled_sum import MOST_POINTS, ScaledSum, Term, row_of
from brainsmith.transforms.integer.threshold_rows import trimmed
from brainsmith.transforms.integer.whole_factors import (
    CommonUnit,
    common_units,
    deciding_factors,
    differing,
    error_bound,
    float_steps,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.lattice.array_kinds import Doubles, Whole
    from brainsmith.transforms.lattice.staircases import Staircase

MOST_APART = 8
"""Terms that the host adds as floats."""

_TRIED = 512
"""Random combinations of integers of each channel with which an approximation is measured."""

ALLOWING = "`verify: {approximate: {integer: {error: ERROR, classes: SAMPLES}}}`"
"""What a blueprint says to allow it."""


Value = TypeVar("Value")
"""What may be a sum of several scales."""


@dataclass(frozen=True)
class Approximated:
    """One sum that is not exact.

    Attributes:
        node: Before which it stands, or that reads it.
        scale_error: By how much the worth of a factor is off the scale it stands for, as a part of it: the greatest.
        error: By how much the sum can be off, in the network's units.
        differing: Share of levels that differ from the network's, on random integers; None where no quantiser follows.
        steps: By how many levels at most.
    """

    node: str
    scale_error: float
    error: float
    differing: float | None = None
    steps: int | None = None

    def text(self) -> str:
        """Say it in one line."""
        off = f"{self.node}: scales without a common unit are off by at most {self.scale_error:.2g} of each"
        if self.differing is None:
            return f"{off}, its sum by at most {self.error:.3g}"
        return f"{off}; {self.differing:.2%} of its levels differ on random integers, by at most {self.steps} for any"

    def record(self) -> dict[str, Any]:
        """Return its fields, for a report."""
        return asdict(self)


class SumsOfScales:
    """Gives whole factors to sums of several scales.

    Args:
        build: Makes the layers.
        approximate: Whether the closest factors may be taken where none are exact.

    Attributes:
        approximated: What is not exact.
    """

    def __init__(self, build: LayerBuilder, approximate: bool) -> None:
        self._build = build
        self._approximate = approximate
        self.approximated: list[Approximated] = []
        self._single: dict[
            int, tuple[ScaledSum, IntegerTensor]
        ] = {}  # by its rows, which the sum keeps alive

    def quantised(
        self, total: ScaledSum, staircase: Staircase, padded: bool, reader: str, base: str
    ) -> IntegerTensor:
        """Return a quantiser's levels of a sum.

        Raises:
            NoLayerError: No factors decide them, and none may approximate; or its channels are those of another axis.
        """
        self._build.check_channels(staircase, total.chain)
        found = deciding_factors(total, staircase)
        if found is not None:
            summed = replace(total.layers(found[0]), links=total.chain.links)
            rows = trimmed(found[1], summed.range.times(found[1].signs))
            return self._build.levels(summed, rows, staircase, padded, base)
        near = (
            self._near(total)
            or self._fine(total, f"{base}_digits")
            or self._closest(total, reader, staircase)
        )
        return replace(self._build.thresholds(near, staircase, padded, base), is_near=near.is_near)

    def of_one_scale(self, value: Value | ScaledSum, reader: str) -> Value | IntegerTensor:
        """Return a sum as a tensor of one scale for each channel, with its pending operators; other values as they are.

        Raises:
            NoLayerError: It has none, and none may approximate.
        """
        if not isinstance(value, ScaledSum):
            return value
        if (key := id(value.rows)) not in self._single:  # several may read it, with other operators pending
            found = self._near(value) or self._fine(value, "digits") or self._closest(value, reader)
            self._single[key] = value, replace(found, links=())
        return replace(self._single[key][1], links=value.chain.links)

    def terms(self, total: ScaledSum, reader: str) -> list[IntegerTensor]:
        """Return tensors of one scale for each channel whose sum is this one, for the host; one if that is near enough.

        Raises:
            NoLayerError: They are too many, and none may approximate.
        """
        near = self._near(total)
        if near is not None:
            return [replace(near, links=())]
        if max(len(row.scales) for row in total.rows) <= MOST_APART:
            return total.terms()
        return [replace(self._closest(total, reader), links=())]

    def _near(self, total: ScaledSum) -> IntegerTensor | None:
        """Return a sum by small factors that are exact but for float32's rounding; None if there are none."""
        units = common_units(total.rows, exact=True)
        return None if units is None else _in_units(total, units, total.layers)

    def _fine(self, total: ScaledSum, base: str) -> IntegerTensor | None:
        """Return it by factors of any size; None if there are none, or the closest will do."""
        units = None if self._approximate else fine_units(total.rows)
        if units is None:
            return None
        made = sum_in_digits(self._build, total, [unit.factors for unit in units], base)
        return None if made is None else _in_units(total, units, lambda _: made)

    def _closest(self, total: ScaledSum, reader: str, staircase: Staircase | None = None) -> IntegerTensor:
        if not self._approximate:
            raise NoLayerError(
                f"it gets {_listed_scales(total)}, which have no common unit, and no whole factors of them give the "
                "same levels",
                f"give what is added quantisers with one scale, or let the closest factors stand for them: {ALLOWING}",
            )
        near = staircase is None
        units = common_units(total.rows, exact=False, near=near) or common_units(
            total.rows, exact=False, near=near, end=ACCUMULATOR_END
        )
        if units is None:
            raise NoLayerError(
                f"it gets {_listed_scales(total)}, whose closest whole factors make its sums too large",
                "use fewer bits, or give what is added quantisers with one scale",
            )
        error = max(error_bound(row, unit) for row, unit in zip(total.rows, units, strict=True))
        found = Approximated(reader, max(unit.error for unit in units), error)
        if staircase is not None:
            steps, way = float_steps(total.chain, staircase), total.chain.direction
            share, most = differing(total, units, steps, way, _TRIED)
            found = replace(found, differing=share, steps=most)
        self.approximated.append(found)
        return _in_units(total, units, total.layers)


def _listed_scales(total: ScaledSum) -> str:
    scales = np.unique(np.concatenate([row.scales for row in total.rows]))
    shown = ", ".join(f"{scale:.6g}" for scale in scales[:3])
    return f"a sum of values with the scales {shown}{' and others' if len(scales) > 3 else ''}"


def _in_units(
    total: ScaledSum, units: Sequence[CommonUnit], layers: Callable[[Sequence[Whole]], IntegerTensor]
) -> IntegerTensor:
    made = layers([unit.factors for unit in units])
    scale = np.asarray([unit.unit for unit in units])
    offset = np.asarray(
        [row.offset_in(unit.unit, unit.factors) for row, unit in zip(total.rows, units, strict=True)]
    )
    is_near = any(unit.is_near for unit in units)
    return replace(made, scale=scale, offset=offset, links=total.chain.links, is_near=is_near)


def sum_of(tensors: Sequence[IntegerTensor], layers: Callable[[Sequence[Whole]], IntegerTensor]) -> ScaledSum:
    """Return the sum of tensors of one shape, added from the first on.

    Args:
        tensors: Without pending operators.
        layers: Adds them, each times whole numbers, (channels or 1, tensors).
    """
    count = max(max(each.scale.size, each.offset.size) for each in tensors)
    first = tensors[0]
    ranges = [each.range.of_all() for each in tensors]
    ends = [each.ends for each in ranges]
    rows = []
    for at in range(count):
        scales = [float(each.scale[at % each.scale.size]) for each in tensors]
        offsets = [float(each.offset[at % each.offset.size]) for each in tensors]
        one = np.ones(1, np.int64)
        terms = [Term(scale, one, own) for scale, own in zip(scales, ranges, strict=True)]
        rows.append(row_of(terms, np.asarray(offsets), MOST_POINTS // count))
    random = np.random.default_rng(0)

    def draw(_: int, points: int) -> Whole:
        return np.stack([random.integers(low, high + 1, points) for low, high in ends])

    chain = replace(of_range("", first.shape, 0, 0), order=first.order)
    return ScaledSum(chain, tuple(rows), layers, draw, lambda: list(tensors), added=True)


def product_of(
    tensor: IntegerTensor,
    taps: Whole,
    scale: Doubles,
    shape: Sequence[int],
    layers: Callable[[Whole], IntegerTensor],
) -> ScaledSum:
    """Return a product of integers whose channels have several scales.

    Args:
        tensor: Without pending operators.
        taps: Weights, (results, channels, places in a window).
        scale: Of the weights, one or one for each result.
        shape: Of the result, in the network.
        layers: Makes the product with the weights times whole numbers, (results, channels).
    """
    results = len(taps)
    of_channel = tensor.each(tensor.scale)
    sizes = np.unique(np.abs(of_channel[of_channel != 0]))
    signs = np.sign(of_channel).astype(np.int64)
    weights = taps * signs[None, :, None]
    low, high = (np.broadcast_to(tensor.each(end)[:, None], taps.shape[1:]) for end in tensor.range)
    offsets = taps.sum(axis=2) * tensor.each(tensor.offset) * scale.reshape(-1, 1)
    used = (weights != 0) & (np.broadcast_to(scale, (results,)) != 0)[:, None, None]
    held: list[list[int]] = []
    rows = []
    for at in range(results):
        found = [
            (place, used[at] & (np.abs(of_channel) == size)[:, None]) for place, size in enumerate(sizes)
        ]
        own = [(place, mask) for place, mask in found if mask.any()]
        factor = float(scale[at % scale.size])
        terms = [
            Term(factor * sizes[place], weights[at][mask], IntegerRange(low[mask], high[mask]))
            for place, mask in own
        ]
        added = np.asarray([offsets[at][np.abs(of_channel) == sizes[place]].sum() for place, _ in own])
        rows.append(row_of(terms, added, MOST_POINTS // results, float(offsets[at][of_channel == 0].sum())))
        held.append([place for place, _ in own])

    def spread(factors: Sequence[Whole]) -> Whole:
        found = np.zeros((results, len(of_channel)), np.int64)
        for at, (places, values) in enumerate(zip(held, factors, strict=True)):
            for place, value in zip(places, values, strict=True):
                found[at, np.abs(of_channel) == sizes[place]] = value
        return np.asarray(found * signs, np.int64)

    random = np.random.default_rng(0)

    def draw(at: int, points: int) -> Whole:
        values = random.integers(low[..., None], high[..., None] + 1, (*low.shape, points))
        masks = [(np.abs(of_channel) == sizes[place])[:, None] for place in held[at]]
        return np.stack([np.tensordot(weights[at] * mask, values, 2) for mask in masks])

    def terms_apart() -> list[IntegerTensor]:
        """Give each scale a product of its own."""
        found = []
        for place, size in enumerate(sizes):
            made = layers(spread([np.asarray([int(each == place) for each in own]) for own in held]))
            found.append(
                replace(made, scale=size * scale, offset=offsets.sum(axis=1) if place == 0 else np.zeros(1))
            )
        return found

    chain = of_range("", tuple(shape), 0, 0)
    return ScaledSum(
        chain, tuple(rows), lambda factors: layers(spread(factors)), draw, terms_apart, added=False
    )
