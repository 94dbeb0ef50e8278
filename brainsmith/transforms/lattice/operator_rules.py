"""What each operator makes of the lattices of its inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.integer_range import within
from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.lattice.array_kinds import one_of_equal
from brainsmith.transforms.lattice.value_lattice import LARGEST, Lattice, common_unit, of_integers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.lattice.links import ChainLink


def after_link(lattice: Lattice, link: ChainLink) -> Lattice | None:
    """Return the lattice after a multiplication or an addition; None after other functions."""
    if link.factor is None or link.added is None or not _same_axis(lattice, link):
        return None
    scale, offset = lattice.scale * link.factor, lattice.offset * link.factor + link.added
    found, vanished = lattice.range, scale == 0
    if vanished.any():
        found = found.times((~vanished).astype(np.int64))
        scale = np.where(vanished, 1.0, scale)
    axis = lattice.axis if lattice.channels > 1 else (link.axis or -1)
    return Lattice(scale, offset, found, axis)


def _same_axis(lattice: Lattice, link: ChainLink) -> bool:
    return lattice.channels == 1 or link.axis is None or link.axis == lattice.axis


def after_product(
    left: Lattice, weights: np.ndarray[Any, Any], axis: int, padded: bool = False
) -> Lattice | None:
    """Return the lattice of sums of a lattice's values times whole weights.

    Args:
        left: Of the values; channels, where it has them, are the terms in their order.
        weights: (results, channels, terms of each), or with one channel.
        axis: Of the results.
        padded: Zeros may take the place of values.
    """
    if not np.array_equal(np.rint(weights), weights):
        return None
    if left.scale.size > 1 or (left.offset.size > 1 and left.channels != weights.shape[1]):
        whole = left.uniform()
        if whole is None:
            return None
        left = whole
    if padded:
        zeroed = left.with_zero()
        if zeroed is None:
            return None
        left = zeroed
    if max(end.size for end in left.range) not in (1, weights.shape[1]):
        return None
    taps = weights.transpose(1, 2, 0).reshape(-1, len(weights))
    found = left.range.at(np.repeat(np.arange(weights.shape[1]), weights.shape[2])).sums(taps)
    offset = (weights.astype(np.float64) * left.offset.reshape(1, -1, 1)).sum(axis=(1, 2))
    return Lattice(left.scale, one_of_equal(offset), found, axis) if found.magnitude < LARGEST else None


def of_matmul(view: GraphView, node: NodeProto, inputs: Sequence[Lattice | None]) -> Lattice | None:
    """A product of a lattice by constant weights, or of two lattices."""
    left, weights = inputs[0], view.constant(node.input[1])
    if left is None:
        return None
    if weights is not None and weights.ndim == 2:
        if left.channels > 1 and left.axis != -1:
            left = left.uniform()
        return None if left is None else after_product(left, weights.T[:, :, None], -1)
    shape = view.model.get_tensor_shape(node.input[0])
    right = inputs[1]
    if right is None or shape is None:
        return None
    pair = [_zeroed(lattice) for lattice in (left, right)]
    if pair[0] is None or pair[1] is None:
        return None
    sums = pair[0].range.times(pair[1].range).times(int(shape[-1]))
    return Lattice(pair[0].scale * pair[1].scale, np.zeros(1), sums)


def of_conv(view: GraphView, node: NodeProto, inputs: Sequence[Lattice | None]) -> Lattice | None:
    """A convolution by constant weights, without a bias or with a constant one."""
    left, weights = inputs[0], view.constant(node.input[1])
    groups = attribute(node, "group", 1)
    if (
        left is None
        or weights is None
        or weights.ndim < 3
        or attribute(node, "auto_pad", b"NOTSET") != b"NOTSET"
    ):
        return None
    rank = weights.ndim
    axis = 1 - rank
    if left.channels > 1 and (left.axis != axis or groups > 1):
        left = left.uniform()
    if left is None:
        return None
    rows = weights.reshape(len(weights), weights.shape[1], -1)
    found = after_product(left, rows, axis, any(attribute(node, "pads", [])))
    if len(node.input) < 3 or not node.input[2] or found is None:
        return found
    bias = view.constant(node.input[2])
    if bias is None:
        return None
    return Lattice(found.scale, found.offset + bias.astype(np.float64), found.range, axis)


def of_sum(lattices: Sequence[Lattice | None], signs: Sequence[int] = (1, 1)) -> Lattice | None:
    """The sum of two tensors that vary; with signs (1, -1) their difference."""
    found = _uniform(lattices)
    unit = common_unit(np.concatenate([lattice.scale for lattice in found])) if found else None
    if unit is None:
        return None
    total, offset = within(0, 0), 0.0
    for lattice, sign in zip(found, signs, strict=True):
        times = sign * round(float(lattice.scale[0]) / unit)
        total = total.plus(lattice.range.times(times))
        offset += sign * float(lattice.offset[0])
    return Lattice(np.asarray([unit]), np.asarray([offset]), total)


def of_union(lattices: Sequence[Lattice | None]) -> Lattice | None:
    """Values of several tensors side by side."""
    found = _uniform(lattices)
    if not found:
        return None
    steps = [np.asarray([lattice.offset[0] - found[0].offset[0]]) for lattice in found]
    unit = common_unit(np.concatenate([*(lattice.scale for lattice in found), *steps]))
    if unit is None:
        return None
    ranges = []
    for lattice, step in zip(found, steps, strict=True):
        times, shift = round(float(lattice.scale[0]) / unit), round(float(step[0]) / unit)
        ranges.append(lattice.range.times(times).plus(shift))
    return Lattice(np.asarray([unit]), found[0].offset, ranges[0].holding(*ranges))


def of_mean(lattice: Lattice, count: int, divisor: int) -> Lattice | None:
    """Sums of so many values, divided."""
    scale, offset = lattice.scale / divisor, lattice.offset * (count / divisor)
    return Lattice(scale, offset, lattice.range.times(count), lattice.axis)


def of_average_pool(view: GraphView, node: NodeProto, lattice: Lattice) -> Lattice | None:
    """Means over windows; padded ones only where padding counts."""
    size = int(np.prod(attribute(node, "kernel_shape")))
    if attribute(node, "ceil_mode", 0) or attribute(node, "auto_pad", b"NOTSET") != b"NOTSET":
        return None
    if any(attribute(node, "pads", [])):
        padded = lattice.with_zero() if attribute(node, "count_include_pad", 0) else None
        return None if padded is None else of_mean(padded, size, size)
    return of_mean(lattice, size, size)


def of_reduction(view: GraphView, node: NodeProto, lattice: Lattice) -> Lattice | None:
    """Sums or means over axes."""
    from brainsmith.transforms.reduced_axes import reduced_axes

    shape = view.model.get_tensor_shape(node.input[0])
    if node.op_type == "GlobalAveragePool":
        axes: Sequence[int] | None = range(2, len(shape))
    else:
        axes = reduced_axes(view, node)
        lattice_or_none = lattice.uniform()
        if lattice_or_none is None:
            return None
        lattice = lattice_or_none
    if axes is None:
        return None
    count = int(np.prod([shape[axis] for axis in axes]))
    return of_mean(lattice, count, 1 if node.op_type == "ReduceSum" else count)


def of_quant_average(view: GraphView, node: NodeProto) -> Lattice:
    """FINN's average pool, which gives integers of a width that it states."""
    bits, signed = attribute(node, "obits"), attribute(node, "signed", 0)
    return (
        of_integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else of_integers(0, (1 << bits) - 1)
    )


def of_relu(lattice: Lattice) -> Lattice | None:
    """What is below 0 becomes 0, if 0 is one of the values."""
    plain = lattice.at_zero()
    if plain is None:
        return None
    rising = np.where(plain.scale > 0, 1, -1)
    return replace(plain, range=plain.range.times(rising).greater(0).times(rising))


def of_pad(view: GraphView, node: NodeProto, lattice: Lattice) -> Lattice | None:
    """Zeros around an image, or copies of its values."""
    plain = lattice.uniform()
    if plain is None or attribute(node, "mode", b"constant") != b"constant":
        return plain
    given = view.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else np.zeros(1)
    return plain.with_zero() if given is not None and not given.any() else None


def of_transpose(view: GraphView, node: NodeProto, lattice: Lattice) -> Lattice | None:
    """The channels' axis goes where the transpose puts it."""
    rank = len(view.model.get_tensor_shape(node.input[0]))
    order = list(attribute(node, "perm", list(range(rank))[::-1]))
    if lattice.channels == 1:
        return lattice
    axis = order.index(lattice.axis + rank) - rank
    return replace(lattice, axis=axis)


OF_ONE: dict[str, Callable[[GraphView, NodeProto, Lattice], Lattice | None]] = {
    "AveragePool": of_average_pool,
    "GlobalAveragePool": of_reduction,
    "Pad": of_pad,
    "ReduceMean": of_reduction,
    "ReduceSum": of_reduction,
    "Transpose": of_transpose,
}
"""Operators with one input that varies, and what they make of it."""

MOVES = (
    "Flatten", "Gather", "Reshape", "Slice", "Split", "Squeeze", "Unsqueeze", "Expand", "Tile", "DepthToSpace",
    "SpaceToDepth", "Upsample",
)  # fmt: skip
"""Operators whose results are values of their first input, in other places."""

KEEPS: dict[str, Callable[[NodeProto], bool]] = {
    "MaxPool": lambda node: len(node.output) == 1,
    "Dropout": lambda node: True,
    "Resize": lambda node: attribute(node, "mode", b"nearest") == b"nearest",
}
"""Operators whose results are values of the same channel, and when."""


def _uniform(lattices: Sequence[Lattice | None]) -> list[Lattice]:
    """Return each as one for all of its channels; none of them if one is not known, or has no common unit."""
    plain = [None if lattice is None else lattice.uniform() for lattice in lattices]
    return [] if None in plain else [lattice for lattice in plain if lattice is not None]


def _zeroed(lattice: Lattice) -> Lattice | None:
    plain = lattice.uniform()
    return None if plain is None else plain.at_zero()
