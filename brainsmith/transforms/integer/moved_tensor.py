"""MovedTensor: a tensor of integers as the network reshapes and transposes it, before a layer has to move it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.transforms.integer.axis_layout import AxisLayout
from brainsmith.transforms.integer.channel_groups import regrouped_link, regrouped_staircase
from brainsmith.transforms.integer.integer_tensor import ORDERS, IntegerTensor
from brainsmith.transforms.integer.scaled_sum import ScaledSum

if TYPE_CHECKING:
    from brainsmith.transforms.lattice.array_kinds import Whole
    from brainsmith.transforms.lattice.links import ChainLink
    from brainsmith.transforms.lattice.staircases import Staircase


@dataclass(frozen=True)
class MovedTensor:
    """A tensor in another form than its layer gave it.

    Operators that treat each element, or each channel, alone are entered in `base`, which has not moved.

    Attributes:
        base: As the layer gave it.
        layout: Which axes of it are which of the tensor's.
    """

    base: IntegerTensor | ScaledSum
    layout: AxisLayout

    @classmethod
    def of(cls, base: IntegerTensor | ScaledSum) -> MovedTensor:
        """Return a tensor that has not moved yet."""
        return cls(base, AxisLayout.of(base.shape, ORDERS[len(base.shape)]))

    @property
    def chain(self) -> IntegerTensor:
        """The shape of `base`, and its pending operators."""
        return self.base.chain if isinstance(self.base, ScaledSum) else self.base

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in the network."""
        return self.layout.shape

    @property
    def is_rows(self) -> bool:
        """Whether it has three axes, and its values lie in their order."""
        if len(self.shape) != 3:
            return False
        order = self.layout.order(ORDERS[3])
        return order == sorted(order)

    @property
    def is_one_dimensional_image(self) -> bool:
        """Whether it has three axes, of which the second is the channels', as convolutions over one dimension have."""
        if len(self.shape) != 3:
            return False
        if isinstance(self.base, IntegerTensor) and self.base.told_apart == 1:
            order = self.layout.order((0, 2, 1))
            return order == sorted(order) and (self.chain.is_image or not self.is_rows)
        return self.channels(-2) is not None and (self.chain.is_image or self.channels(-1) is None)

    def behind(self, link: ChainLink) -> MovedTensor | None:
        """Return what a further operator makes of it; None if its channels are not those of `base`."""
        index = self._index(link.axis, link.channels)
        if index is None:
            return None
        found = self.base.behind(regrouped_link(link, index, self.chain.axis))
        return None if found is None else replace(self, base=found)

    def staircase(self, staircase: Staircase) -> Staircase | None:
        """Return a quantiser of it as one of `base`; None if its channels are not those of `base`."""
        index = self._index(staircase.axis, staircase.channels)
        return None if index is None else regrouped_staircase(staircase, index, self.chain.axis)

    def _index(self, axis: int | None, channels: int) -> Whole | None:
        """Return for each channel of `base` which of an axis of this tensor it is; None where it is several."""
        if channels == 1:
            return np.zeros(1, np.int64)
        shape = self.shape
        if axis is None or -axis > len(shape) or shape[axis] != channels:
            return None
        numbers = np.arange(channels).reshape(-1, *(1,) * (-1 - axis))
        return one_of_each(self.layout.back(np.broadcast_to(numbers, shape)), self.chain.axis)

    def channels(self, axis: int) -> Whole | None:
        """Return for each place along an axis which channel of `base` is there; None where different ones are."""
        base = self.chain
        numbers = _first_alike(base).reshape(-1, *(1,) * (-1 - base.axis))
        return one_of_each(self.layout.forth(np.broadcast_to(numbers, base.shape)), axis)


def _first_alike(tensor: IntegerTensor) -> Whole:
    """Return for each channel the first one that has its scale, offset and range."""
    if tensor.links:
        return np.arange(tensor.channels)
    fields = [tensor.each(array) for array in (*tensor.range, tensor.scale, tensor.offset)]
    _, first, which = np.unique(np.stack(fields), axis=1, return_index=True, return_inverse=True)
    return np.asarray(first[which.reshape(-1)])


def one_of_each(values: Whole, axis: int) -> Whole | None:
    """Return the one value at each place along an axis; None if there are several."""
    rows = np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)
    return rows[:, 0] if (rows == rows[:, :1]).all() else None
