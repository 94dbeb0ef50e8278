"""Search for inputs that bring tensors inside a network onto, just below and just above where each level ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.generated import Generated
from brainsmith.execution.level_ends import inner_ends
from brainsmith.execution.nearest_inputs import NearestInputs
from brainsmith.figures import count
from brainsmith.graph.array_types import Array
from brainsmith.graph.ends import tensors_behind

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.generated_inputs import Range


SEED = 20_130_102
CANDIDATES = 512
"""Random inputs to begin with, and inputs of one round."""

MOST_VALUES = 1 << 24
"""Elements of all tensors of all inputs that are searched; large models get fewer inputs."""

EVERY_VALUES = 1 << 20
"""Elements of all tensors of all inputs that there are, if all are tried."""

KEPT = 64, 4096
KEPT_VALUES = 1 << 20
"""Elements of all tensors of the inputs that are kept; they are no fewer and no more than KEPT."""

ALONE = 1 << 10
"""As many elements does an input count for in addition where values are not exact: each is then computed alone."""

PATIENCE = 16
"""Rounds without a nearer input after which the search ends."""

MOST_ROUNDS = 128
HALVINGS = 16
"""Of a float's range, to get its smallest move."""


def nearest_inputs(model: ModelWrapper, name: str, allowed: Range, exact: bool = True) -> Generated:
    """Search for inputs that bring what quantisers get onto, just below and just above where their levels end.

    All inputs are tried if there are few. Else the search begins with random ones, and those that bring each channel to
    its extremes. Then, round by round, for each end that none is next to, the nearest so far are changed: one below and
    one above are mixed, or a few elements go up or down or get a new value.

    Args:
        model: It.
        name: Its input.
        allowed: What the input may hold.
        exact: Whether all scales are powers of two. If not, or if a tensor shows that it is not exact, no value is brought
            onto an end, or so near that float32's rounding decides.

    Returns:
        What was found, or why nothing was searched.
    """
    from brainsmith.execution.execute import Executor

    ends = inner_ends(model, name)
    if not ends:
        return none_found(model, name)
    executor = Executor(model)
    if executor.inputs != (name,):
        return none_found(model, name, f"the model has {len(executor.inputs)} inputs")
    varying = tensors_behind(model.graph, [name])
    elements = sum(int(np.prod(executor.shape(tensor) or (1,))) for tensor in varying) + (
        0 if exact else ALONE
    )
    most = MOST_VALUES // elements
    if most < 1:
        reason = f"its tensors have {count(elements)} elements, and the limit is {count(MOST_VALUES)}"
        return none_found(model, name, reason)
    tensors = frozenset(each.tensor for each in ends)
    channels = [(*executor.shape(each.tensor), 1)[each.axis] for each in ends]
    nearest = NearestInputs(ends, channels, lambda inputs: executor.run({name: inputs}, keep=tensors), exact)
    shape = tuple(model.get_tensor_shape(name))
    every = _every(shape, allowed, EVERY_VALUES // elements)
    if every is None:
        _search(nearest, shape, allowed, most)
    else:
        nearest.add(every)
    kept = int(np.clip(KEPT_VALUES // elements, *KEPT))
    found = nearest.fewest(kept, every is not None)
    return found or none_found(model, name, "of each input float32's rounding decides a level")


def none_found(model: ModelWrapper, name: str, reason: str = "") -> Generated:
    """Return no inputs, and why; "" if there are no levels inside the network."""
    return Generated(np.empty((0, *model.get_tensor_shape(name)), np.float32), unsearched=reason)


def _search(nearest: NearestInputs, shape: tuple[int, ...], allowed: Range, most: int) -> None:
    """Try random inputs, extremes, then changed ones, as long as they come nearer and are no more than so many."""
    generator = np.random.default_rng(SEED)
    first = allowed.draw((max(1, min(CANDIDATES, most // 8)), *shape), generator)
    nearest.add(first)
    nearest.add(_extremes(nearest, first, allowed))
    patience = PATIENCE
    for _ in range(min(MOST_ROUNDS, most // len(first) - 4)):
        wanted = nearest.wanted()
        if not len(wanted) or not patience:
            return
        places = _places(nearest, wanted, len(first), generator)
        near = nearest.add(_changed(*nearest.neighbours(places), allowed, generator))
        patience = PATIENCE if near else patience - 1


def _places(nearest: NearestInputs, wanted: Array, count: int, generator: np.random.Generator) -> Array:
    """Return which places to look for: mostly ends that the channel's values lie on both sides of."""
    crossed = nearest.crossed(wanted)
    parts = [wanted[crossed], wanted[~crossed]]
    beyond = count if not len(parts[0]) else count // 4 if len(parts[1]) else 0
    return np.concatenate(
        [
            np.resize(generator.permutation(part), size)
            for part, size in zip(parts, (count - beyond, beyond), strict=True)
        ]
    )


def _every(shape: tuple[int, ...], allowed: Range, most: int) -> Array | None:
    """Return all inputs that there are; None if they are more than so many."""
    if not allowed.whole:
        return None
    size = int(np.prod(shape))
    values = allowed.values()
    if size * np.log(len(values)) > np.log(max(most, 1)) + 1e-9:
        return None
    return np.stack(np.meshgrid(*[values] * size, indexing="ij"), -1).reshape(-1, *shape)


def _extremes(nearest: NearestInputs, inputs: Array, allowed: Range) -> Array:
    """Return inputs that bring channels to their least and greatest values, if these are near to sums.

    Each element is at the end of its range that the random inputs with greater values of the channel are nearer to.
    """
    flat = inputs.reshape(len(inputs), -1)
    places = [far.place[:, :, far.place.shape[2] // 2] for far in nearest.distances(inputs)]
    values = np.concatenate(places, axis=1).astype(np.float64)
    values = values[
        :, np.linspace(0, values.shape[1] - 1, min(values.shape[1], len(inputs) // 2 + 1)).astype(int)
    ]
    slopes = (values - values.mean(axis=0)).T @ (flat - flat.mean(axis=0))
    rising = np.concatenate([slopes > 0, slopes <= 0])
    return np.where(rising, np.float32(allowed.high), np.float32(allowed.low)).reshape(-1, *inputs.shape[1:])


def _changed(below: Array, above: Array, allowed: Range, generator: np.random.Generator) -> Array:
    """Return pairs of inputs mixed, or the one or the other with some elements moved or drawn again."""
    shape, size = below.shape, below[0].size
    first = generator.integers(2, size=(len(below), 1)) == 1
    below, above = below.reshape(-1, size), above.reshape(-1, size)
    start, other = np.where(first, below, above), np.where(first, above, below)
    kind = generator.integers(3, size=(len(below), 1))
    share = np.where(kind == 0, generator.random(kind.shape), 2.0 ** -generator.integers(1, 12, kind.shape))
    chosen = generator.random(start.shape) < share
    chosen[np.arange(len(below)), generator.integers(size, size=len(below))] = True
    span = allowed.high - allowed.low
    least = allowed.step if allowed.whole else span * 2.0**-HALVINGS
    doublings = np.log2(max(span / least, 1)) + 1
    steps = least * 2.0 ** np.floor(doublings * generator.random(start.shape) ** 2)  # small ones more often
    moved = start + np.where(generator.integers(2, size=start.shape), steps, -steps)
    drawn = allowed.draw(start.shape, generator)
    changed = np.select([kind == 0, kind == 1], [other, np.clip(moved, allowed.low, allowed.high)], drawn)
    return np.where(chosen, changed, start).astype(np.float32).reshape(shape)
