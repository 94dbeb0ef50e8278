"""Where the levels of a quantiser end, and how far from the ends the values of its input are."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from brainsmith.execution.operators.quantisers import Quantiser, Signs
from brainsmith.execution.operators.readers import read
from brainsmith.execution.operators.thresholds import Threshold
from brainsmith.graph.array_types import Array
from brainsmith.graph.ends import tensors_behind
from brainsmith.graph.model_facts import ModelFacts
from brainsmith.graph.node_view import NodeView, Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.operators.operator import Operator


PARTS = 1 << 20
"""Parts of a level: distances are whole numbers of them, so that sums of quantised values have exact ones."""

_QONNXS = ("BipolarQuant", "IntQuant", "MultiThreshold", "Quant")
_FAMILIES = {**dict.fromkeys(_QONNXS, QONNX), "Thresholding": FINN}
"""Operators with levels, of whatever domain, and the domain whose reader reads them."""

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

    def of_inputs(self, which: Array) -> Distances:
        """Return those of some frames."""
        end, above, below, place = (each[which] for each in (self.end, self.above, self.below, self.place))
        return Distances(end, above, below, place, self.exact)


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
    """Return the ends of all quantisers and thresholds after an input that do not read the input itself."""
    inner = tensors_behind(model.graph, [name]).keys() - {name}
    found = (_ends(view, value) for view, value in quantisers(model) if view.inputs[0] in inner)
    return [ends for ends in found if ends is not None]


def quantisers(model: ModelWrapper) -> Iterator[tuple[NodeView, Operator]]:
    """Yield the nodes that quantise, and what each computes; without those whose parameters are not readable."""
    facts = ModelFacts(
        model, {each.name: model.get_initializer(each.name) for each in model.graph.initializer}
    )
    for node in model.graph.node:
        kind = node.op_type.removesuffix("_rtl").removesuffix("_hls")
        if kind not in _FAMILIES:
            continue
        view = NodeView(node, facts)
        view.family, view.kind = _FAMILIES[kind], kind
        with suppress(Unsupported):
            if (value := read(view)) is not None:
                yield view, value


def _ends(view: NodeView, value: Operator) -> Ends | None:
    """Return the ends of a node's levels; None if it has none, or they are no constants."""
    tensor, shape = view.inputs[0], view.facts.shape(view.inputs[0]) or (1,)
    if isinstance(value, Threshold):
        usable = value.rows.size and np.isfinite(value.rows).all()
        return ThresholdEnds(tensor, value.axis % len(shape), value.rows) if usable else None
    axis = 1 if len(shape) == len("NCHW") else len(shape) - 1
    if isinstance(value, Signs):
        return RoundedEnds(tensor, axis, np.ones(1), np.zeros(1), 0, 1)
    if not isinstance(value, Quantiser) or value.scale is None or value.zero is None:
        return None
    scale, zero = (np.asarray(each, np.float64) for each in (value.scale, value.zero))
    bits = float(value.integers.bits)
    if not scale.all() or bits < 1 or not all(_is_for(each, shape) for each in (scale, zero)):
        return None
    levels = 2 ** int(min(bits, 32))
    shift = zero if value.rounding in _DIRECTED else zero + 0.5
    return RoundedEnds(tensor, axis, scale, shift, -levels // 2 if value.integers.signed else 0, levels + 1)


def _is_for(constant: Array, shape: tuple[int, ...]) -> bool:
    """Tell whether a constant has one finite value for each of a tensor's, for each channel, or for all."""
    whole = (1,) * (constant.ndim - len(shape)) + shape
    with suppress(ValueError):
        return np.broadcast_shapes(constant.shape, whole) == whole and bool(np.isfinite(constant).all())
    return False


def _by_channel(stack: Array, axis: int) -> Array:
    """Return a stack (frames, *shape) as (frames, channels, values of a channel)."""
    moved = np.moveaxis(stack, axis + 1, 1) if stack.ndim > 1 else stack[:, None]
    return moved.reshape(*moved.shape[:2], -1)


def _parts(levels: Array) -> Array:
    return np.asarray(np.rint(np.clip(levels, -_FARTHEST, _FARTHEST) * PARTS), np.int64)
