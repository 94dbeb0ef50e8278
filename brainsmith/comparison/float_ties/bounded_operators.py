"""What each operator makes of what is known of its inputs: of all values they can ever have, and of one frame's.

Those that add and multiply tensors are in `bounded_sums`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from brainsmith.comparison.float_ties.bounded_tensor import (
    UNIT,
    BoundedTensor,
    around,
    certain,
    enlarged,
)
from brainsmith.comparison.float_ties.dyadic_grid import UNKNOWN, DyadicGrid, grid_of
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx import NodeProto


LARGEST = ("GlobalMaxPool", "MaxPool")
"""Operators that take the largest of some."""

UNKNOWN_ROUNDING = 1e-5
"""What an operator of which nothing is known, such as Softmax, may be off by: a part of its largest result, or of 1."""

SMOOTH = ("Abs", "Erf", "Gelu", "HardSwish", "Mish")
"""Functions of each element that need not rise, and nowhere are steeper than others here."""

_STEEPEST = 2.0
"""No smooth function here rises faster; the steepest is Selu, by 1.76."""


@dataclass(frozen=True)
class BoundedOperator:
    """A node whose inputs vary. This class is for those of which nothing more is known: they are computed once.

    Attributes:
        node: It.
        run: Gives its outputs for the inputs that vary, as the network does.
        inputs: Those that vary, each once.
        elementwise: Whether each result is a function of one element alone.
        is_sum: Whether rounding may differ with the order in which it adds.
    """

    is_sum: ClassVar[bool] = False

    node: NodeProto
    run: Callable[[Mapping[str, Array]], tuple[Array, ...]]
    inputs: tuple[str, ...]
    elementwise: bool = field(default=False, kw_only=True)

    def grids(self, given: Mapping[str, DyadicGrid]) -> list[DyadicGrid]:
        """Return the grid of each output."""
        return [UNKNOWN] * len(self.node.output)

    def bounds(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Return what one frame's inputs make of each output; where these are rounded, nothing is known of the results.

        Exact sums, rounded once, are those of integers, of each of which a function of one element gives one result.
        """
        values = self.run({name: each.value for name, each in given.items()})
        if all(each.is_certain and each.real is None for each in given.values()):
            return [certain(value) for value in values]
        once = self._ends(given) if self.elementwise else [None] * len(values)
        return [
            self._about(value, None if one is None else one.rounded_once)
            for value, one in zip(values, once, strict=True)
        ]

    def _about(self, value: Array, nearest: tuple[Array, Array] | None) -> BoundedTensor:
        if value.dtype != np.float32 or not np.isfinite(value).all():
            return certain(value)
        size = np.full(value.shape, max(1.0, float(np.abs(value).max(initial=0.0))))
        exact = value.astype(np.float64)
        found = around(value, exact, UNKNOWN_ROUNDING * size, size, (value, value), exact)
        return replace(found, nearest=(found.low, found.high) if nearest is None else nearest)

    def rounds(self, given: Mapping[str, DyadicGrid]) -> bool:
        """Tell whether it is a sum that float32 may round, in one way or another; inputs are the grids of all frames."""
        return False

    def exactly(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Return what one frame's inputs make of each output, where nothing is rounded."""
        return [certain(value) for value in self.run({name: each.value for name, each in given.items()})]

    def _ends(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Return what a node that rises or falls with its inputs makes of values, their ends and sums rounded once."""
        values = self.run({name: each.value for name, each in given.items()})
        found = [certain(value) for value in values]
        if any(each.low is not each.value or each.high is not each.value for each in given.values()):
            lows = self.run({name: each.low for name, each in given.items()})
            highs = self.run({name: each.high for name, each in given.items()})
            found = [
                replace(one, low=np.minimum(low, high), high=np.maximum(low, high))
                for one, low, high in zip(found, lows, highs, strict=True)
            ]
        if any(each.nearest is not None for each in given.values()):
            once = [self.run({name: each.rounded_once[at] for name, each in given.items()}) for at in (0, 1)]
            found = [
                replace(one, nearest=(np.minimum(*pair), np.maximum(*pair)))
                for one, pair in zip(found, zip(*once, strict=True), strict=True)
            ]
        return found


@dataclass(frozen=True)
class Move(BoundedOperator):
    """Moves values; each field of a tensor in the same way."""

    filler: float = field(default=0.0, kw_only=True)

    def grids(self, given: Mapping[str, DyadicGrid]) -> list[DyadicGrid]:
        """Return the grid that holds the values of all inputs, and what a Pad adds."""
        first, *others = given.values()
        for other in [*others, grid_of(self.filler)]:
            first = first.beside(other)
        return [first] * len(self.node.output)

    def bounds(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Move values, ends, errors and sizes."""
        found = self._ends(given)
        if any(each.error is not None for each in given.values()):
            errors = self.run({name: _filled(each.error, each.value) for name, each in given.items()})
            found = [replace(one, error=error) for one, error in zip(found, errors, strict=True)]
        if any(each.size is not None for each in given.values()):
            sizes = self.run({name: enlarged(each.sizes) for name, each in given.items()})
            found = [replace(one, size=size) for one, size in zip(found, sizes, strict=True)]
        if any(each.real is not None for each in given.values()) and not self.filler:
            reals = self._largest(given) if self.node.op_type in LARGEST else self._halves(given)
            found = [replace(one, real=real) for one, real in zip(found, reals, strict=True)]
        return found

    def _halves(self, given: Mapping[str, BoundedTensor]) -> list[Array]:
        """Move float64 as two float32, which hold all of its digits but a few."""
        upper = {name: each.exact.astype(np.float32) for name, each in given.items()}
        lower = {name: (each.exact - upper[name]).astype(np.float32) for name, each in given.items()}
        return [
            one.astype(np.float64) + other
            for one, other in zip(self.run(upper), self.run(lower), strict=True)
        ]

    def _largest(self, given: Mapping[str, BoundedTensor]) -> list[Array]:
        """Find the largest float64 by their ranks."""
        ((name, tensor),) = given.items()
        values, ranks = np.unique(tensor.exact, return_inverse=True)
        places = self.run({name: ranks.reshape(tensor.exact.shape).astype(np.float32)})
        return [values[place.astype(np.int64)] for place in places]


@dataclass(frozen=True)
class Affine(BoundedOperator):
    """Multiplies by constants, and adds constants; or cuts off, as ReLU, or bends, as a sigmoid.

    Attributes:
        factor: In the form in which it broadcasts; float64.
        added: Likewise.
        limits: Constants, all finite, that may take a value's place.
        bent: It is a ReLU or the like, with one slope here and another there.
        curved: It is a function that rises all along.
    """

    factor: Array = field(default_factory=lambda: np.ones(()), kw_only=True)
    added: Array = field(default_factory=lambda: np.zeros(()), kw_only=True)
    limits: tuple[float, ...] = field(default=(), kw_only=True)
    bent: bool = field(default=False, kw_only=True)
    curved: bool = field(default=False, kw_only=True)

    def grids(self, given: Mapping[str, DyadicGrid]) -> list[DyadicGrid]:
        """Return the grid of the results; unknown where one may be rounded."""
        (grid,) = given.values()
        if self.curved:
            return [UNKNOWN]
        if (self.factor != 1).any():
            grid = grid.times(grid_of(self.factor))
        if self.added.any():
            grid = grid.plus(grid_of(self.added))
        for limit in self.limits:
            grid = grid.beside(grid_of(limit))
        return [grid]

    def bounds(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Compute values and ends with the network's own operator; note what it rounds."""
        (tensor,) = given.values()
        (found,) = self._ends(given)
        reached = np.maximum(np.abs(found.low), np.abs(found.high)).astype(np.float64)
        if self.curved:
            error, size = 4 * UNIT * reached, _STEEPEST * tensor.sizes + reached
            if tensor.error is not None:
                error = error + _STEEPEST * tensor.error
            return [replace(found, error=enlarged(error), size=enlarged(size))]
        slope = np.abs(self.factor)
        error = np.zeros(found.value.shape) if tensor.error is None else slope * tensor.error
        if (slope != 1).any():
            error = error + UNIT * slope * (np.abs(tensor.middle) + tensor.radius)
        if self.added.any():
            error = error + UNIT * reached
        size = slope * tensor.sizes + np.abs(self.added) + max(map(abs, self.limits), default=0.0)
        # Integers go through a function that is no straight line by its own results, one for each.
        real = (
            found.rounded_once[0].astype(np.float64) if self.bent else tensor.exact * self.factor + self.added
        )
        return [replace(found, error=enlarged(error), size=enlarged(size), real=real)]


@dataclass(frozen=True)
class Smooth(BoundedOperator):
    """A function of each element that may rise here and fall there."""

    def bounds(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Compute values and exact sums with the network's own operator; ends by the steepest slope."""
        (tensor,) = given.values()
        found = self._ends(given)[0]
        value = found.value.astype(np.float64)
        reach = np.maximum(
            tensor.high - tensor.value.astype(np.float64), tensor.value.astype(np.float64) - tensor.low
        )
        rounding = 4 * UNIT * np.abs(value) + _STEEPEST * (0.0 if tensor.error is None else tensor.error)
        size = _STEEPEST * tensor.sizes + np.abs(value)
        once = found.rounded_once
        made = around(found.value, value, _STEEPEST * reach, size, once, once[0].astype(np.float64))
        return [replace(made, error=enlarged(rounding))]


@dataclass(frozen=True)
class BoundedQuantiser(BoundedOperator):
    """Gives each value a level.

    Attributes:
        unit: From one level to the next; float64, in the form in which it broadcasts.
        grid: Of the levels.
        reserve: What an evaluation in integers may have besides a level, such as a zero point.
        scaled: The scale, float32, of which levels are whole multiples, and from one multiple to the next; None where
            levels are no multiples of one.
    """

    unit: Array = field(kw_only=True)
    grid: DyadicGrid = field(kw_only=True)
    reserve: Array = field(kw_only=True)
    scaled: tuple[Array, int] | None = field(kw_only=True)

    def grids(self, given: Mapping[str, DyadicGrid]) -> list[DyadicGrid]:
        """Return the grid of its levels, whatever comes in."""
        return [self.grid]

    def bounds(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Return the levels, and those of the ends."""
        return self._ends(given)

    def settled(self, levels: Array) -> BoundedTensor:
        """Return a tensor of levels that are decided."""
        if self.grid.is_exact and not self.reserve.any():
            return certain(levels)
        real = None
        if self.scaled is not None and not self.grid.is_exact:
            scale = self.scaled[0].astype(np.float64)
            real = np.rint(levels / scale) * scale
        size = enlarged(np.abs(levels) + self.reserve) if self.reserve.any() else None
        return BoundedTensor(levels, levels, levels, None, size, real=real)


@dataclass(frozen=True)
class LargestPlaces(BoundedOperator):
    """Finds the largest values of a row, or their places."""

    axis: int = field(kw_only=True)


def _filled(array: Array | None, like: Array) -> Array:
    return np.zeros(like.shape, np.float32) if array is None else array
