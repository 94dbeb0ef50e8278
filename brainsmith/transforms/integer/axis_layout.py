"""AxisLayout: a tensor as the network reshapes and transposes it, while its layer stays as it lies."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Atoms = tuple[int, ...]


@dataclass(frozen=True)
class AxisLayout:
    """Which parts of a layer's axes make up each axis of the network's tensor.

    The layer's values lie in memory along *atoms*, the factors of its axes' sizes. For example, an image (1, 6, 2, 4)
    lies with channels last, so its atoms are 2, 4 and 6. Reshaped to (1, 2, 3, 8), channels are two atoms and pixels
    one axis: the atoms are 2, 4, 2 and 3, and `dims` are (), (2,), (3,) and (0, 1).

    Attributes:
        sizes: Of each atom, as they lie in memory.
        home: The atoms of each axis of the tensor as it was computed.
        dims: The atoms of each axis of the tensor as it is now.
    """

    sizes: tuple[int, ...]
    home: tuple[Atoms, ...]
    dims: tuple[Atoms, ...]

    @classmethod
    def of(cls, shape: Sequence[int], order: Sequence[int]) -> AxisLayout:
        """Return the layout of a tensor whose axes lie in memory in the given order."""
        kept = [axis for axis in order if shape[axis] > 1]
        places = {axis: (at,) for at, axis in enumerate(kept)}
        dims = tuple(places.get(axis, ()) for axis in range(len(shape)))
        return cls(tuple(shape[axis] for axis in kept), dims, dims)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor as it is now."""
        return tuple(prod(self.sizes[atom] for atom in dim) for dim in self.dims)

    def transposed(self, order: Sequence[int]) -> AxisLayout:
        """Return the layout with axes in another order."""
        return AxisLayout(self.sizes, self.home, tuple(self.dims[axis] for axis in order))

    def reshaped(self, shape: Sequence[int]) -> AxisLayout | None:
        """Return the layout of another shape of the same values; None where an atom would have to be split in fractions."""
        layout, waiting = self, [atom for dim in self.dims for atom in dim]
        found: list[list[int]] = []
        for size in shape:
            found.append([])
            while size > 1:
                atom, waiting = waiting[0], waiting[1:]
                have = layout.sizes[atom]
                if have > size:
                    if have % size:
                        return None
                    layout, waiting = layout._split(atom, size), [_later(each, atom) for each in waiting]
                    found = [[_later(each, atom) for each in dim] for dim in found]
                    waiting, have = [atom + 1, *waiting], size
                if size % have:
                    return None
                found[-1].append(atom)
                size //= have
        return AxisLayout(layout.sizes, layout.home, tuple(map(tuple, found)))

    def _split(self, atom: int, first: int) -> AxisLayout:
        """Return the layout with an atom as two, of which the first has a size."""
        sizes = (*self.sizes[:atom], first, self.sizes[atom] // first, *self.sizes[atom + 1 :])

        def renamed(dims: tuple[Atoms, ...]) -> tuple[Atoms, ...]:
            return tuple(
                tuple(
                    part
                    for each in dim
                    for part in ((atom, atom + 1) if each == atom else (_later(each, atom),))
                )
                for dim in dims
            )

        return AxisLayout(sizes, renamed(self.home), renamed(self.dims))

    def order(self, axes: Sequence[int]) -> list[int]:
        """Return the atoms in the order in which they lie if the axes lie in the given one."""
        return [atom for axis in axes for atom in self.dims[axis]]

    def moves(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return the shape, the order of axes and the shape by which the tensor as it was computed becomes that of now."""
        return self._moves(self.home, self.dims)

    def forth(self, values: Any) -> Any:
        """Return values of the tensor as it was computed as they are in the tensor now."""
        split, order, shape = self.moves()
        return values.reshape(split).transpose(order).reshape(shape)

    def back(self, values: Any) -> Any:
        """Return values of the tensor now as they were in the tensor as it was computed."""
        split, order, shape = self._moves(self.dims, self.home)
        return values.reshape(split).transpose(order).reshape(shape)

    def _moves(
        self, before: tuple[Atoms, ...], after: tuple[Atoms, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        have = [atom for dim in before for atom in dim]
        order = tuple(have.index(atom) for dim in after for atom in dim)
        shape = tuple(prod(self.sizes[atom] for atom in dim) for dim in after)
        return tuple(self.sizes[atom] for atom in have), order, shape

    def places(self) -> Any:
        """Return for each value in memory, one after the other, which value of the tensor it is, counted in rows."""
        have = [atom for dim in self.dims for atom in dim]
        numbers = np.arange(prod(self.sizes)).reshape([self.sizes[atom] for atom in have])
        return numbers.transpose([have.index(atom) for atom in range(len(self.sizes))]).reshape(-1)


def _later(each: int, atom: int) -> int:
    return each + 1 if each > atom else each
