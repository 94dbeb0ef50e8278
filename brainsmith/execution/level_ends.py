"""Where the levels of a quantiser end, and how far from the ends the values of its input are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

Array = np.ndarray[Any, Any]

PARTS = 1 << 20
"""Parts of a level: distances are whole numbers of them, so that sums of quantised values have exact ones."""

_KINDS = {
    "BipolarQuant": "BipolarQuant",
    "IntQuant": "Quant",
    "MultiThreshold": "MultiThreshold",
    "Quant": "Quant",
    "Thresholding": "MultiThreshold",
}
"""Operations with levels, of QONNX and of FINN, and what they are read as."""

_DIRECTED = "CEIL", "FLOOR", "UP", "DOWN"
_FARTHEST = float(1 << 20)  # levels


class Distances(NamedTuple):
    """How far values are from the two ends that are next to them.

    All arrays are (frames, channels, values of a channel), in parts of a level, or of 1 for thresholds.

    Attributes:
        end: The greatest end that is not above the value; -1 where there is none. The next one is `end + 1`.
        above: How far the value is above `end`; 0 on it.
        below: How far it is below the next one.
        place: The value itself.
        exact: Whether all values are whole numbers of parts, as sums of quantised values are.
    """

    end: Array
    above: Array
    below: Array
    place: Array
    exact: bool


@dataclass(frozen=True)
class RoundedEnds:
    """The ends of a Quant or BipolarQuant: equally far apart.

    Attributes:
        tensor: What is quantised.
        axis: Of its channels.
        scale: Of a level.
        shift: What is added to values divided by the scale, so that levels end at whole numbers.
        low: The first of these whole numbers.
        count: How many ends there are.
    """

    tensor: str
    axis: int
    scale: Array
    shift: Array
    low: int
    count: int

    def distances(self, values: Array) -> Distances:
        """Return how far the values of a stack (frames, *shape of the tensor) are from the ends."""
        levels = np.nan_to_num(values / self.scale + self.shift).reshape(values.shape)
        parts = _parts(levels)
        place = _by_channel(parts, self.axis)
        end = np.clip(place // PARTS, self.low - 1, self.low + self.count - 1)
        exact = np.array_equal(parts, levels * PARTS)
        return Distances(end - self.low, place - end * PARTS, (end + 1) * PARTS - place, place, exact)


@dataclass(frozen=True)
class ThresholdEnds:
    """The ends of a MultiThreshold's levels: its thresholds.

    Attributes:
        tensor: What is compared with them.
        axis: Of its channels.
        thresholds: (channels or 1, count), in order.
    """

    tensor: str
    axis: int
    thresholds: Array

    @property
    def count(self) -> int:
        """How many ends a channel has."""
        return int(self.thresholds.shape[1])

    def distances(self, values: Array) -> Distances:
        """Return how far the values of a stack (frames, *shape of the tensor) are from the thresholds."""
        stack = _by_channel(np.asarray(values, np.float64), self.axis)
        edges = np.pad(self.thresholds, ((0, 0), (1, 1)), constant_values=_FARTHEST)
        edges[:, 0] = -_FARTHEST
        edges = np.broadcast_to(edges, (stack.shape[1], edges.shape[1]))
        reached = np.stack(
            [np.searchsorted(row[1:-1], stack[:, at], side="right") for at, row in enumerate(edges)], axis=1
        )
        channels = np.arange(stack.shape[1])[:, None]
        above, below = stack - edges[channels, reached], edges[channels, reached + 1] - stack
        place = _parts(stack)
        return Distances(
            reached - 1, _parts(above), _parts(below), place, np.array_equal(place, stack * PARTS)
        )


Ends = RoundedEnds | ThresholdEnds


def inner_ends(model: ModelWrapper, name: str) -> list[Ends]:
    """Return the ends of all quantisers and thresholds behind an input that do not read the input itself."""
    varying = varying_tensors(model, name)
    found = (
        _ends(model, node)
        for node in model.graph.node
        if node.input and node.input[0] in varying and node.input[0] != name
    )
    return [ends for ends in found if ends is not None]


def varying_tensors(model: ModelWrapper, name: str) -> set[str]:
    """Return an input and all tensors that depend on it."""
    varying = {name}
    for node in model.graph.node:
        if varying.intersection(node.input):
            varying.update(output for output in node.output if output)
    return varying


def _ends(model: ModelWrapper, node: Any) -> Ends | None:
    """Return the ends of a node's levels; None if it has none, or they are no constants."""
    kind = _KINDS.get(node.op_type.removesuffix("_rtl").removesuffix("_hls"), "")
    shape = tuple(model.get_tensor_shape(node.input[0]) or (1,))
    axis = _channel_axis(shape, node)
    if kind == "BipolarQuant":
        return RoundedEnds(node.input[0], axis, np.ones(1), np.zeros(1), 0, 1)
    if not kind:
        return None
    given = [model.get_initializer(tensor) for tensor in node.input[1 : 4 if kind == "Quant" else 2]]
    if any(value is None or not np.isfinite(value).all() for value in given):
        return None
    constants = [np.asarray(value, np.float64) for value in given]
    if kind == "MultiThreshold":
        (bounds,) = constants
        fits = bounds.ndim == 2 and bounds.size and len(bounds) in (1, shape[axis])
        return ThresholdEnds(node.input[0], axis, np.sort(bounds, axis=1)) if fits else None
    scale, zero, bits = constants
    if not scale.all() or not (_is_for(scale, shape) and _is_for(zero, shape)):
        return None
    if not bits.size or bits.min() < 1:
        return None
    levels = 2 ** int(min(bits.max(), 32))
    shift = zero if _attribute(node, "rounding_mode", b"ROUND").upper() in _DIRECTED else zero + 0.5
    low = -levels // 2 if _attribute(node, "signed", 1) else 0
    return RoundedEnds(node.input[0], axis, scale, shift, low, levels + 1)


def _is_for(constant: Array, shape: tuple[int, ...]) -> bool:
    """Tell whether a constant has one value for each of a tensor's, for each channel, or for all."""
    sizes = constant.shape[max(0, constant.ndim - len(shape)) :]
    return constant.size == np.prod(sizes) and all(
        size in (1, whole) for size, whole in zip(reversed(sizes), reversed(shape), strict=False)
    )


def _channel_axis(shape: tuple[int, ...], node: Any) -> int:
    """Return which axis holds the channels: the second of QONNX's images, the last of anything else."""
    last = _attribute(node, "data_layout", b"").endswith("C") or len(shape) != 4 or "finn" in node.domain
    return len(shape) - 1 if last else 1


def _attribute(node: Any, name: str, default: Any) -> Any:
    from onnx import helper

    found = next((helper.get_attribute_value(each) for each in node.attribute if each.name == name), default)
    return found.decode() if isinstance(found, bytes) else found


def _by_channel(stack: Array, axis: int) -> Array:
    """Return a stack (frames, *shape) as (frames, channels, values of a channel)."""
    moved = np.moveaxis(stack, axis + 1, 1) if stack.ndim > 1 else stack[:, None]
    return moved.reshape(*moved.shape[:2], -1)


def _parts(levels: Array) -> Array:
    return np.asarray(np.rint(np.clip(levels, -_FARTHEST, _FARTHEST) * PARTS), np.int64)
