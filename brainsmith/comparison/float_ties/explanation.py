"""Explain a frame whose outputs are others than the network's: by float ties, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.comparison.float_ties.bounded_operators import LargestPlaces
from brainsmith.comparison.float_ties.bounded_tensor import gamma
from brainsmith.comparison.float_ties.level_differences import FloatTie, compare_levels
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from brainsmith.comparison.float_ties.bounded_operators import BoundedQuantiser
    from brainsmith.comparison.float_ties.bounded_tensor import BoundedTensor
    from brainsmith.comparison.float_ties.float_network import FloatNetwork


RELATIVE_ERROR = 1e-5
"""Of an output's largest value: the difference that is allowed where nothing is known of the rounding of floats."""

_AFTER = 4
"""Roundings that the host may add where it makes floats of integers: of scale, product, offset and sum."""


@dataclass(frozen=True)
class Explanation:
    """The outcome of one frame.

    Attributes:
        ties: The values that rounding decides.
        values: How many values quantisers gave, or how many outputs there are where none did.
        wrong: What rounding does not explain; empty if it explains all.
    """

    ties: tuple[FloatTie, ...]
    values: int
    wrong: str = ""


def explain_frame(
    network: FloatNetwork,
    feed: Mapping[str, Array],
    levels: Mapping[str, Array],
    outputs: Mapping[str, Array],
    tolerance: float | None,
    near: Collection[str] = (),
) -> Explanation:
    """Compare every level that another evaluation of a network gave with what the network makes of the levels before it.

    Each layer is fed the levels that were found (teacher forcing), so a difference shows in the layer that makes it, and
    nowhere after it. If all differences are float ties, what was found is an evaluation of the network in which only the
    order of its sums is another one.

    Args:
        network: What is right.
        feed: One frame.
        levels: What was found, by the quantisers' outputs; a quantiser that is not named gives the network's own levels.
        outputs: What was found, by the network's outputs; a single value stands for a class.
        tolerance: The difference of an output that is allowed in any case; None for none, but of outputs after operators
            whose rounding is not known, such as Softmax, a hundred thousandth of the largest value, or of 1.
        near: Outputs of quantisers whose sums were evaluated with scales that are off by less than rounding is.
    """
    ties: list[FloatTie] = []
    wrong: list[str] = []
    values = 0

    def decide(quantiser: BoundedQuantiser, given: BoundedTensor, own: BoundedTensor) -> Array:
        nonlocal values
        values += own.value.size
        name = quantiser.node.output[0]
        found = levels.get(name)
        if found is None or wrong:
            return own.value
        compared = compare_levels(quantiser, given, own, found, once=name not in near)
        ties.extend(compared.ties)
        wrong.extend(filter(None, [compared.wrong]))
        return compared.levels

    tensors = network.follow(feed, decide)
    if not wrong:
        wrong.extend(
            filter(
                None,
                (wrong_output(network, tensors, name, found, tolerance) for name, found in outputs.items()),
            )
        )
    return Explanation(tuple(ties), values, wrong[0] if wrong else "")


def wrong_output(
    network: FloatNetwork,
    tensors: Mapping[str, BoundedTensor],
    name: str,
    found: Array,
    tolerance: float | None,
) -> str:
    """Return what is wrong with an output, if anything.

    Args:
        network: What is right.
        tensors: What it gives.
        name: Of the output.
        found: What another evaluation gave; a single value stands for a class.
        tolerance: As in `explain_frame`.
    """
    own = tensors[name]
    maker = network.maker(name)
    if isinstance(maker, LargestPlaces) and name == maker.node.output[-1]:
        return _choice(tensors[maker.node.input[0]], found.reshape(own.value.shape), maker.axis, name)
    if found.size < own.value.size:
        return _choice(own, found.reshape((1,) * own.value.ndim), None, name)
    rounding = _rounding(own)
    off = np.maximum(found - own.high.astype(np.float64), own.low.astype(np.float64) - found)
    if tolerance is None:
        unknown = own.is_certain and own.size is own.real is None and not network.grids[name].is_exact
        tolerance = RELATIVE_ERROR * max(1.0, float(np.abs(own.value).max(initial=0.0))) if unknown else 0.0
    allowed = np.maximum(rounding, tolerance)
    worst = int(np.argmax(np.nan_to_num(off - allowed, nan=np.inf)))
    if not (off.reshape(-1)[worst] <= np.broadcast_to(allowed, off.shape).reshape(-1)[worst]):
        given, right = found.reshape(-1)[worst], own.value.reshape(-1)[worst]
        bound = float(np.broadcast_to(rounding, off.shape).reshape(-1)[worst] + own.radius.reshape(-1)[worst])
        return (
            f"output {worst} of '{name}' is {given:g}, and {right:g} in the network, where rounding moves it by "
            f"{bound:.2g} at most"
        )
    return ""


def _rounding(tensor: BoundedTensor) -> Array:
    """Return what evaluations in integers and on the host may differ by, beside the ends."""
    if tensor.is_certain and tensor.size is tensor.real is None:
        return np.zeros(tensor.value.shape)
    error = np.zeros(tensor.value.shape) if tensor.error is None else tensor.error
    return np.asarray(error + gamma(_AFTER) * tensor.sizes)


def _choice(values: BoundedTensor, found: Array, axis: int | None, name: str) -> str:
    """Return what is wrong with places of largest values, along an axis or among all; by the gap between values."""
    rounding = _rounding(values)
    low, high = values.low - rounding, values.high + rounding
    if axis is None:
        low, high, found, axis = low.reshape(-1), high.reshape(-1), found.reshape(-1), 0
    places = found.astype(np.int64)
    count = low.shape[axis]
    if places.shape[axis : axis + 1] != (1,) and axis >= 0 and low.ndim > 1:
        return ""
    if (places < 0).any() or (places >= count).any():
        return f"output '{name}' is {places.reshape(-1)[0]}, and there are {count} values"
    reached = np.take_along_axis(high, places, axis)
    gap = float((low.max(axis=axis, keepdims=True) - reached).max())
    if gap > 0:
        bound = float(np.max((high - low) / 2))
        return (
            f"output '{name}' is the index of a value that is {gap:.3g} below the largest one, and rounding moves them by "
            f"{bound:.2g} at most"
        )
    return ""
