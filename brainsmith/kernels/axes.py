"""How a transpose walks through memory: its axes as few loops as possible. Without FINN, so that transforms can ask."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Loop(NamedTuple):
    """One loop over values: how many turns it has, and how far apart the values of successive turns are."""

    size: int
    stride: int


def transpose_loops(shape: Sequence[int], perm: Sequence[int]) -> tuple[Loop, ...]:
    """Return the loops that read a row-major tensor in a transposed order, the outermost first.

    Axes of length 1 are left out, and axes that stay neighbours are one loop, so a transpose that moves nothing is
    one loop of stride 1, or none at all.

    Args:
        shape: Of the tensor that is read.
        perm: As numpy and ONNX have it: axis `i` of the result is axis `perm[i]` of the tensor.
    """
    kept = [axis for axis in range(len(shape)) if shape[axis] > 1]
    loops: list[Loop] = []
    previous = -1
    for axis in (axis for axis in perm if shape[axis] > 1):
        stride = prod(shape[axis + 1 :])
        at = kept.index(axis)
        if loops and at and kept[at - 1] == previous:
            loops[-1] = Loop(loops[-1].size * shape[axis], stride)
        else:
            loops.append(Loop(shape[axis], stride))
        previous = axis
    return tuple(loops)


def moves_nothing(shape: Sequence[int], perm: Sequence[int]) -> bool:
    """Tell whether a transpose leaves the order of the values as it is."""
    return len(transpose_loops(shape, perm)) < 2
