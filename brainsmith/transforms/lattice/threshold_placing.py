"""Place the thresholds of a staircase between the values that its input can hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.graph.ends import input_values
from brainsmith.graph.integer_range import within
from brainsmith.transforms.lattice.links import applied, link_of, product_of_signs
from brainsmith.transforms.lattice.search import FLOAT_END, find_steps, float_of

if TYPE_CHECKING:
    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.lattice.array_kinds import Singles, Whole
    from brainsmith.transforms.lattice.links import ChainLink
    from brainsmith.transforms.lattice.reader import Lattices
    from brainsmith.transforms.lattice.staircases import Staircase
    from brainsmith.transforms.lattice.value_lattice import Lattice


@dataclass(frozen=True)
class PlacedThresholds:
    """Thresholds of a tensor before a staircase.

    Attributes:
        source: The tensor that they are compared with.
        signs: What it is multiplied by before: 1 or -1, one for each channel or one.
        thresholds: (channels or 1, levels), float32, rising.
        axis: Of the channels, from the last one; None where there is one row.
        low: The least level that is reached.
        high: The greatest.
        proven: Whether the tensor's values are known, and every threshold lies between two of them.
    """

    source: str
    signs: Whole
    thresholds: Singles
    axis: int | None
    low: int
    high: int
    proven: bool


def place(view: GraphView, lattices: Lattices, staircase: Staircase) -> PlacedThresholds | None:
    """Place a staircase's thresholds as far before it as the operators before it allow.

    Operators that treat each element alone, which nothing else reads, are absorbed: the levels are computed through
    them, for the values at both sides of each threshold. Where a lattice is known, a threshold is the middle between
    two neighbouring values, so that no rounding of a later step can bring a value to its other side. Else it is the
    least float that reaches the level.

    Returns:
        None if the staircase's own channels are neither on the second axis nor on the last one.
    """
    tensor = staircase.node.input[0]
    links = _links_before(view, tensor)
    for at in range(len(links) + 1):
        source = links[at].source if at < len(links) else tensor
        lattice = lattices.of(source)
        free = lattice is None and source in {value.name for value in input_values(view.graph)}
        if lattice is None and not free and not all(link.factor is None for link in links[at:]):
            continue
        found = _placed(view, staircase, lattice, source, links[at:])
        if found is None and lattice is not None and (plain := lattice.uniform()) is not None:
            found = _placed(view, staircase, plain, source, links[at:])
        if found is not None:
            return found
    return _placed(view, staircase, None, tensor, [])


def _links_before(view: GraphView, name: str) -> list[ChainLink]:
    """Return the operators before a tensor that treat each element alone, the first one first."""
    found: list[ChainLink] = []
    shape = view.model.get_tensor_shape(name)
    while (node := view.made_by(name)) is not None:
        link = link_of(view, node)
        if link is None or view.model.get_tensor_shape(link.source) != shape:
            break
        found.insert(0, link)
        name = link.source
    return found


def _placed(
    view: GraphView, staircase: Staircase, lattice: Lattice | None, source: str, links: list[ChainLink]
) -> PlacedThresholds | None:
    """Place thresholds with a source and the operators after it; None if channels are on several axes."""
    axes = {link.axis for link in links if link.channels > 1} | (
        {staircase.axis} if staircase.channels > 1 else set()
    )
    if lattice is not None and lattice.per_channel:
        axes.add(lattice.axis)
    axes.discard(None)
    rank = len(view.model.get_tensor_shape(source) or ())
    if len(axes) > 1 or not axes <= {-1, 1 - rank}:
        return None
    axis = next(iter(axes), None)
    channels = 1 if axis is None else view.model.get_tensor_shape(source)[axis]
    absorbed = _single_readers(view, links)
    return _Placing(staircase, lattice, links, absorbed, channels).place(source, axis)


def _single_readers(view: GraphView, links: list[ChainLink]) -> int:
    """Return from which operator on nothing else reads what they compute."""
    at = len(links)
    while at and view.readers(links[at - 1].node.output[0]) == 1:
        at -= 1
    return at


class _Placing:
    """One staircase, the values that come in, and the operators between."""

    def __init__(
        self,
        staircase: Staircase,
        lattice: Lattice | None,
        links: list[ChainLink],
        absorbed: int,
        channels: int,
    ) -> None:
        self._staircase = staircase
        self._lattice = None if lattice is None else _one_range(lattice)
        self._seen, self._hidden = links[:absorbed], links[absorbed:]
        self._channels = channels
        outer = product_of_signs(self._seen)
        self.signs = product_of_signs(self._hidden)
        scale = np.ones(1) if self._lattice is None else self._lattice.scale
        self._way = outer * self.signs * np.where(scale < 0, -1, 1)

    def place(self, source: str, axis: int | None) -> PlacedThresholds:
        staircase, way = self._staircase, self._way
        numbers = within(-FLOAT_END, FLOAT_END)
        if self._lattice is not None:
            numbers = self._lattice.range
        low, high = numbers.times(way)
        with np.errstate(all="ignore"):
            first = find_steps(self._levels, staircase.reached, low, high, self._channels)
            reached = self._levels(np.broadcast_to(np.stack([low, high], axis=-1), (self._channels, 2)))
            thresholds = self._between(first, low[:, None], high[:, None])
        tensor = self._hidden[0].source if self._hidden else staircase.node.input[0]
        if not self._hidden and not self._seen:
            tensor = source
        return PlacedThresholds(
            tensor,
            self.signs,
            thresholds,
            axis,
            int(reached.min()),
            int(reached.max()),
            self._lattice is not None,
        )

    def _values(self, numbers: Whole) -> Singles:
        """Return what the tensor that is compared holds; times its signs, it rises with the numbers."""
        turned = numbers * self._way[:, None]
        values = float_of(turned) if self._lattice is None else self._lattice.values(turned)
        return applied(self._seen, values)

    def _levels(self, numbers: Whole) -> Whole:
        values = applied(self._hidden, self._values(numbers))
        return np.broadcast_to(self._staircase.levels(values), numbers.shape)

    def _between(self, first: Whole, low: Whole, high: Whole) -> Singles:
        """Return a threshold for each first number with which a level is reached."""
        signs = self.signs[:, None].astype(np.float32)
        upper = self._values(np.clip(first, low, high)) * signs
        if self._lattice is None:
            bounded = np.where(first > high, np.float32(np.inf), upper)
            return np.where(first <= low, np.float32(-np.inf), bounded).astype(np.float32)
        lower = self._values(np.clip(first - 1, low, high)) * signs
        top, bottom = (self._values(np.broadcast_to(end, (self._channels, 1))) * signs for end in (high, low))
        gap = (top.astype(np.float64) - bottom) / np.maximum(high - low, 1)
        gap = np.where(gap > 0, gap, 1.0)
        exact = (lower.astype(np.float64) + upper) / 2
        exact = np.where(first > high, top + gap / 2, np.where(first <= low, bottom - gap / 2, exact))
        middle = exact.astype(np.float32)
        inside = (middle <= upper) & ((middle > lower) | (first <= low)) | (first > high)
        return np.where(inside, middle, upper)


def _one_range(lattice: Lattice) -> Lattice:
    """Return a lattice whose channels have one range if they have one scale and one offset."""
    if lattice.per_channel:
        return lattice
    return replace(lattice, range=lattice.range.of_all())
