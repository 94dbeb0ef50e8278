"""IntegerTensor: integers that a layer gives, and what the network makes floats of them with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.integer_range import IntegerRange, within
from brainsmith.transforms.integer.tabled_link import TabledLink
from brainsmith.transforms.lattice.links import ChainLink, applied, product_of_signs
from brainsmith.transforms.lattice.value_lattice import common_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import NodeProto

    from brainsmith.transforms.lattice.array_kinds import Doubles, Singles, Whole

ORDERS = {1: (0,), 2: (0, 1), 3: (0, 1, 2), 4: (0, 2, 3, 1)}
"""In which order the axes of a tensor lie among the layers, by how many it has: channels are last."""

IMAGE = 4
"""Axes of an image: (1, C, H, W) in the network, (1, H, W, C) among integer layers."""


@dataclass(frozen=True)
class IntegerTensor:
    """A tensor of the network, as integers n of a tensor among the integer layers, whose channels are last.

    The network's values are `scale * n + offset`, rounded to float32 once, after which come the pending operators:
    those that treat each element alone, and were not applied to integers. For example, after a convolution of
    integers with weights of scale 0.5, a BatchNormalization and a ReLU, `scale` is [0.5], `offset` [0], and `links`
    hold the two. A quantiser after them becomes thresholds of n.

    Attributes:
        name: Of the tensor among the integer layers.
        shape: In the network.
        range: Between which integers each n lies: of all, or of each channel, in the network's order.
        scale: float64, one or one for each channel, as are all arrays here; 0 where a channel is constant.
        offset: float64.
        links: The pending operators, the first one first.
        order: Of flattened images, (1, C*H*W) in the network: entry j among the integer layers, where they are
            (1, H*W*C), is entry `order[j]` in the network. None where the orders are the same.
        is_near: They are levels of a sum whose whole factors are its scales only up to float32's rounding of the sum: where
            rounding decides a level, it may be another one than the exact sum gives.
    """

    name: str
    shape: tuple[int, ...]
    range: IntegerRange
    scale: Doubles
    offset: Doubles
    links: tuple[ChainLink, ...] = ()
    order: Whole | None = None
    is_near: bool = False

    @property
    def is_image(self) -> bool:
        """Whether it has height and width."""
        return len(self.shape) == IMAGE

    @property
    def axis(self) -> int:
        """The channels' axis in the network, counted from the last one."""
        return -3 if self.is_image else -1

    @property
    def channels(self) -> int:
        """How many channels it has."""
        return self.shape[self.axis]

    @property
    def told_apart(self) -> int:
        """How many channels have values of their own; 1 where all are alike."""
        sizes = [array.size for array in (*self.range, self.scale, self.offset)]
        return max(*sizes, *(link.channels for link in self.links), 1)

    @property
    def direction(self) -> Whole:
        """1 where values rise with n, -1 where they fall; one, or one for each channel."""
        return np.where(self.scale < 0, -1, 1) * product_of_signs(self.links)

    @property
    def is_tabled(self) -> bool:
        """Whether a pending operator is a function that need not rise or fall, computed for every n."""
        return any(isinstance(link, TabledLink) for link in self.links)

    def values(self, numbers: Whole) -> Singles:
        """Return the network's values of some n, (channels or 1, any), as its operators round them."""
        return self.applied(self.floats(numbers))

    def floats(self, numbers: Whole) -> Singles:
        """Return what some n, (channels or 1, any), stand for before the pending operators."""
        return np.asarray(self.scale[:, None] * numbers + self.offset[:, None], np.float32)

    def applied(self, values: Singles) -> Singles:
        """Return what the pending operators make of values."""
        return applied(self.links, values)

    def behind(self, link: ChainLink) -> IntegerTensor | None:
        """Return what a further operator makes of it; None if its operands are neither one nor one for each channel."""
        fits = link.channels == 1 or (link.axis == self.axis and link.channels == self.channels)
        return replace(self, links=(*self.links, link)) if fits else None

    def affine(self) -> IntegerTensor | None:
        """Return it with its pending multiplications and additions in scale and offset; None if there are others."""
        scale, offset = self.scale, self.offset
        for link in self.links:
            if link.factor is None or link.added is None:
                return None
            scale, offset = scale * link.factor, offset * link.factor + link.added
        return replace(self, scale=scale, offset=offset, links=())

    def each(self, array: Any) -> Any:
        """Return an array as one value for each channel."""
        return np.broadcast_to(array, (self.channels,))

    def in_layer_order(self, array: Any) -> Any:
        """Return values of each channel in the order of the integer layers."""
        return array if self.order is None or len(array) == 1 else array[self.order]


def channels_last(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape that a tensor of the network has among the layers."""
    return tuple(shape[axis] for axis in ORDERS.get(len(shape), range(len(shape))))


def of_range(name: str, shape: tuple[int, ...], low: int, high: int) -> IntegerTensor:
    """Return a tensor of integers whose values are themselves."""
    return IntegerTensor(name, shape, within(low, high), np.ones(1), np.zeros(1))


def adding(node: NodeProto, values: Singles, axis: int) -> ChainLink:
    """Return the operator that adds one value, or one for each channel, as a bias does."""
    column = values.reshape(-1, 1).astype(np.float32)
    exact = column[:, 0].astype(np.float64)
    return ChainLink(node, "", lambda x: x + column, np.ones(1, np.int64), np.ones(1), exact, axis)


def dividing(node: NodeProto, count: int) -> ChainLink:
    """Return the operator that divides a sum by how many it is of, as a mean does."""
    divisor = np.float32(count)
    return ChainLink(
        node, "", lambda x: x / divisor, np.ones(1, np.int64), np.asarray([1 / count]), np.zeros(1)
    )


def multiples(scales: Doubles) -> tuple[float, Whole] | None:
    """Return a unit and how often each scale holds it; None if it is tiny beside one of them."""
    unit = abs(float(scales[0])) if scales.size == 1 and scales[0] else common_unit(scales)
    return None if unit is None else (unit, np.rint(scales / unit).astype(np.int64))
