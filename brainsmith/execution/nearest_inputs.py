"""Keep, of many inputs, those that bring each quantiser's input nearest to each end of its levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.generated import Generated
from brainsmith.execution.level_ends import PARTS
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from brainsmith.execution.level_ends import Distances, Ends


MOST_ENDS = 1 << 10
"""Of a quantiser with more levels several ends count as one."""

MOST_OF_CHANNELS = 1 << 11
"""Ends of all channels of a quantiser; where there are more, several channels count as one."""

SAMPLES = 64
"""Of how many inputs of each addition the step between values is found."""

_SIDES = 3
_ON, _BELOW, _ABOVE = range(_SIDES)
UNDECIDED = 2.0**-16
"""Of the largest value, in levels: what is nearer to an end may be on either side of it by float32's rounding."""

_ALIKE = PARTS >> 12
_NEXT = PARTS >> 6
_NUMBERS = 1 << 20  # inputs are numbered below it; a place's record is distance * _NUMBERS + number
_NONE = np.int64(2**62)


@dataclass(frozen=True)
class _Block:
    """The places of one quantiser: (groups of channels, ends, sides), from `first` on."""

    ends: Ends
    first: int
    groups: int
    count: int

    @property
    def size(self) -> int:
        return self.groups * self.count * _SIDES

    def sides(self, far: Distances) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the places of values on an end, below and above one, their distances, and which of them count."""
        groups = np.arange(far.end.shape[1])[:, None] % self.groups
        lower, upper = far.end >= 0, far.end + 1 < self.ends.count
        for side, end, distance, counts in (
            (_ON, far.end, far.above, lower & (far.above == 0)),
            (_BELOW, far.end + 1, far.below, upper),
            (_ABOVE, far.end, far.above, lower & (far.above > 0)),
        ):
            place = self.first + (groups * self.count + end % self.count) * _SIDES + side
            yield place, distance, counts


class NearestInputs:
    """For each place the nearest input so far. A place is an end of a quantiser's channel, and on, below or above it.

    Where values are not exact, float32's rounding decides on which side of an end a value is that is almost on it. Other
    arithmetic that is as right may decide otherwise, so inputs that bring any value there are not taken.

    Args:
        ends: Of the quantisers.
        channels: How many each has.
        compute: Runs a stack of inputs and returns the tensors that are quantised.
        exact: Whether values are exact, as far as is known. They are not where any is no whole number of parts of a level.
    """

    def __init__(
        self,
        ends: Sequence[Ends],
        channels: Sequence[int],
        compute: Callable[[Array], Mapping[str, Array]],
        exact: bool,
    ) -> None:
        self._compute = compute
        self._exact = exact
        self._blocks: list[_Block] = []
        first = 0
        for each, width in zip(ends, channels, strict=True):
            count = min(each.count, MOST_ENDS)
            block = _Block(each, first, min(width, max(1, MOST_OF_CHANNELS // count)), count)
            self._blocks.append(block)
            first += block.size
        self._records = np.full(first, _NONE)
        self._steps = [np.zeros(block.groups, np.int64) for block in self._blocks]
        self._origins: list[Array] = []
        self._inputs: dict[int, Array] = {}
        self._next = 0

    def add(self, inputs: Array) -> bool:
        """Try inputs.

        Returns:
            Whether any came nearer to an end than all before.
        """
        before = self._records // _NUMBERS
        inputs, found = self._decided(inputs)
        if not len(inputs):
            return False
        for block, far in zip(self._blocks, found, strict=True):
            number = self._next + np.arange(len(inputs))[:, None, None]
            for place, distance, counts in block.sides(far):
                record = distance * _NUMBERS + number
                nearer = counts & (record < self._records[place])
                np.minimum.at(self._records, place[nearer], record[nearer])
        self._note_steps([far.place[:SAMPLES] for far in found])
        used = np.unique(self._records[self._records < _NONE] % _NUMBERS).tolist()
        self._inputs = {
            number: self._inputs[number] if number < self._next else inputs[number - self._next]
            for number in used
        }
        self._next += len(inputs)
        return bool((self._records // _NUMBERS < before - self._alike).any())

    def wanted(self) -> Array:
        """Return the places to which an input may come nearer.

        The values of a channel differ by multiples of a step. What is at most one step away from an end is next to it;
        and it can be on the end only if that is a multiple of the step away. Values that are not exact have no such step;
        they are next to an end within a 64th of a level, and never on it.
        """
        wanted = []
        for block, step in zip(self._blocks, self._steps, strict=True):
            records, unit = self._of(block), np.maximum(step, 1 if self._exact else _NEXT)[:, None]
            distance = records // _NUMBERS
            further = distance > unit[..., None]
            apart = (records[..., _BELOW] < _NONE) & (distance[..., _BELOW] % unit != 0)
            further[..., _ON] = (records[..., _ON] == _NONE) & ~apart & self._exact
            wanted.append((further & (step > 0)[:, None, None]).reshape(-1))
        return np.flatnonzero(np.concatenate(wanted))

    def crossed(self, places: Array) -> Array:
        """Tell of places whether values of the channel lie on both sides of the end."""
        ends = places // _SIDES * _SIDES
        return np.asarray((self._records[ends + _BELOW] < _NONE) & (self._records[ends + _ABOVE] < _NONE))

    def neighbours(self, places: Array) -> tuple[Array, Array]:
        """Return the nearest inputs below and above the ends of places; where there is none, others of the channel."""
        sides = [
            np.concatenate(
                [np.repeat(_filled(self._of(block)[..., side]).reshape(-1), _SIDES) for block in self._blocks]
            )[places]
            for side in (_BELOW, _ABOVE)
        ]
        below, above = (
            np.where(one < _NONE, one, other) % _NUMBERS for one, other in (sides, reversed(sides))
        )
        return self._stack(below), self._stack(above)

    def fewest(self, most: int, every: bool) -> Generated | None:
        """Return few inputs that reach what was reached: for each quantiser's ends, then for those of its channels.

        Args:
            most: How many are returned at most.
            every: Whether all inputs that there are were tried, so that no other can come nearer.

        Returns:
            None if there are none.
        """
        stack, found = self._decided(np.stack([*self._inputs.values()])) if self._inputs else ((), [])
        if not len(stack):
            return None
        least = self._records // _NUMBERS
        pairs = []
        for block, far in zip(self._blocks, found, strict=True):
            number = np.arange(len(stack))[:, None, None]
            for place, distance, counts in block.sides(far):
                nearest = counts & (distance <= least[place] + self._alike)
                pairs.append(np.unique((place * _NUMBERS + number)[nearest]))
        place, number = np.divmod(np.concatenate(pairs), _NUMBERS)
        whole, best = self._of_quantisers()
        first = least[place] <= best[place] + self._alike
        chosen = _cover(whole[place[first]], number[first], [], most)
        chosen = _cover(place, number, chosen, most)
        open_places = np.setdiff1d(place, place[np.isin(number, chosen)])
        if not every:
            open_places = np.union1d(open_places, self.wanted())
        missed = np.unique(open_places[self.crossed(open_places)] // _SIDES)
        crossed = self.crossed(np.arange(0, len(self._records), _SIDES))
        return Generated(np.asarray(stack[np.sort(chosen)]), int(crossed.sum()), len(missed))

    def _of_quantisers(self) -> tuple[Array, Array]:
        """Return for each place a number that all channels of its quantiser share, and their least distance."""
        numbers, least = [], []
        for block in self._blocks:
            shape = (block.groups, block.count, _SIDES)
            shared = block.first + np.arange(block.count * _SIDES).reshape(shape[1:])
            numbers.append(np.broadcast_to(shared, shape).reshape(-1))
            least.append(np.broadcast_to(self._of(block).min(axis=0) // _NUMBERS, shape).reshape(-1))
        return np.concatenate(numbers), np.concatenate(least)

    def distances(self, inputs: Array) -> list[Distances]:
        """Return for each quantiser how far from ends its values are with some inputs."""
        results = self._compute(inputs)
        return [block.ends.distances(results[block.ends.tensor]) for block in self._blocks]

    def _decided(self, inputs: Array) -> tuple[Array, list[Distances]]:
        """Return those of inputs with which no value's side of an end is a matter of rounding, and the distances."""
        found = self.distances(inputs)
        self._exact = self._exact and all(far.exact for far in found)
        if self._exact:
            return inputs, found
        good = np.ones(len(inputs), bool)
        for block, far in zip(self._blocks, found, strict=True):
            sides = [np.where(counts, distance, _NONE) for _, distance, counts in block.sides(far)]
            largest = np.maximum(np.abs(far.place).max(axis=(1, 2)), PARTS)
            good &= np.min(sides, axis=(0, 2, 3)) > UNDECIDED * largest
        return inputs[good], [far.of_inputs(good) for far in found]

    @property
    def _alike(self) -> int:
        """How far distances may differ and still be the same: by rounding."""
        return 0 if self._exact else _ALIKE

    def _note_steps(self, values: Sequence[Array]) -> None:
        """Bring the steps between values up to date; `values` are (inputs, channels, ...) for each quantiser."""
        if not self._origins:
            self._origins = [each[0, :, 0] for each in values]
        for block, step, each, origin in zip(self._blocks, self._steps, values, self._origins, strict=True):
            width = each.shape[1]
            group = np.arange(width) % block.groups
            differences = np.moveaxis(each - origin[group][:, None], 1, 0).reshape(width, -1)
            np.gcd.at(step, group, np.gcd.reduce(differences, axis=1))

    def _stack(self, numbers: Array) -> Array:
        return np.stack([self._inputs[number] for number in numbers.tolist()])

    def _of(self, block: _Block) -> Array:
        records = self._records[block.first : block.first + block.size]
        return records.reshape(block.groups, block.count, _SIDES)


def _filled(records: Array) -> Array:
    """Return (groups, ends) with the record of the next end where there is none."""
    at = np.where(records < _NONE, np.arange(records.shape[1]), -1)
    before = np.maximum.accumulate(at, axis=1)
    first = np.argmax(at >= 0, axis=1)[:, None]
    return np.take_along_axis(records, np.where(before >= 0, before, first), axis=1)


def _cover(place: Array, number: Array, chosen: list[int], most: int) -> list[int]:
    """Return at most so many inputs that together reach many places: each time the one that reaches most of the rest.

    Args:
        place: A place that an input reaches.
        number: Of this input.
        chosen: Inputs to begin with.
        most: How many are returned.
    """
    chosen = list(chosen)
    rest = ~np.isin(place, place[np.isin(number, chosen)])
    place, number = place[rest], number[rest]
    while len(chosen) < most and len(place):
        chosen.append(int(np.bincount(number).argmax()))
        rest = ~np.isin(place, place[number == chosen[-1]])
        place, number = place[rest], number[rest]
    return chosen
