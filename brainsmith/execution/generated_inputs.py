"""Inputs that a build makes up beside the golden ones: extremes, patterns, and values around thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.execution.inputs import random_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qonnx.core.modelwrapper import ModelWrapper

Array = np.ndarray[Any, Any]

SEED = 20_130_101
RANDOM = 8
SPARSE = 4
CANDIDATES = 512
NEAREST = 16, 64
"""How many of the candidates are kept at least and at most: those that together reach the ends of all levels."""

RAMPS = 32
"""Frames at most for the values around ties, or all values of a range."""

MOST_VALUES = 1 << 22
"""Elements of all tensors of all candidates; large models get fewer candidates."""

FLOATS = (-3.0, 3.0)
"""The range of an input of floats that no quantiser limits."""

_QUANTISERS = ("Quant", "IntQuant", "BipolarQuant")
MOST_ENDS = 1 << 10
"""Of a quantiser with more levels several ends count as one."""

_BEYOND = 1.25
_ON = 1e-6  # of a level


class Range(NamedTuple):
    """What an input may hold.

    Attributes:
        low: The least value.
        high: The greatest.
        whole: Whether only whole numbers.
        step: Between two values next to each other: 2 for -1 and 1; of floats, between two ties of the quantiser.
    """

    low: float
    high: float
    whole: bool
    step: float


def generated_inputs(model: ModelWrapper, name: str) -> Array:
    """Make inputs for a model; the same model gets the same ones.

    All minimum, all maximum, both in turns, each of a few elements alone, all values of the range one after the other,
    values on, just below and just above each threshold behind the input, random ones. Where all scales of quantisers
    are powers of two, so that QONNX's own result is exact, further ones are searched that bring tensors in front of
    quantisers onto or next to a threshold.

    Returns:
        (runs, *shape of the input), float32.
    """
    shape = tuple(model.get_tensor_shape(name))
    allowed = range_of(model, name)
    frames = [*_patterns(shape, allowed), *_ramps(shape, allowed)]
    stack = np.stack([np.asarray(frame, np.float32) for frame in frames])
    drawn = _random(model, name, allowed, RANDOM)
    nearest = _nearest(model, name, allowed)
    parts = [stack, drawn] if nearest is None else [stack, drawn, nearest]
    every = np.concatenate(parts)
    _, first = np.unique(every.reshape(len(every), -1), axis=0, return_index=True)
    return every[np.sort(first)]


def range_of(model: ModelWrapper, name: str) -> Range:
    """Return what an input may hold: by its datatype, by the quantiser behind it, or from -3 to 3."""
    datatype = model.get_tensor_datatype(name)
    if datatype.name == "BIPOLAR":
        return Range(-1.0, 1.0, True, 2.0)
    if datatype.is_integer():
        low, high = max(datatype.min(), -(2**15)), min(datatype.max(), 2**15)
        return Range(float(low), float(high), True, 1.0)
    limits = [_limits(model, node) for node in model.graph.node if node.input[:1] == [name]]
    known = [limit for limit in limits if limit is not None]
    if not known:
        return Range(*FLOATS, False, 0.0)
    low, high = min(limit[0] for limit in known), max(limit[1] for limit in known)
    return Range(_BEYOND * low, _BEYOND * high, False, min(limit[2] for limit in known))


def _limits(model: ModelWrapper, node: Any) -> tuple[float, float, float] | None:
    """Return the least and the greatest value of a quantiser, and how far its ties are apart."""
    if node.op_type not in ("Quant", "IntQuant"):
        return None
    given = [model.get_initializer(tensor) for tensor in node.input[1:4]]
    if any(value is None or not np.isfinite(value).all() for value in given):
        return None
    scale, zero, bits = (np.asarray(value, np.float64) for value in given)
    size, width = float(np.abs(scale).max()), float(bits.reshape(-1)[0])
    if not 1 <= width <= 24 or not size:
        return None
    reach = 2.0**width + float(np.abs(zero).max())
    signed = any(entry.name == "signed" and entry.i for entry in node.attribute)
    return (
        -size * reach / 2 if signed else -size,
        size * reach / (2 if signed else 1),
        float(np.abs(scale).min()) / 2,
    )


def _patterns(shape: tuple[int, ...], allowed: Range) -> Iterator[Array]:
    low, high = np.float32(allowed.low), np.float32(allowed.high)
    rest = low if allowed.step == 2 else np.float32(min(max(0.0, allowed.low), allowed.high))
    size = int(np.prod(shape))
    places = np.arange(size)
    checked = np.indices(shape).sum(axis=0).reshape(-1) % 2 == 0
    for value in (low, high, rest):
        yield np.full(shape, value)
    for chosen in (checked, ~checked, places % 2 == 0, places % 2 == 1):
        yield np.where(chosen, high, low).reshape(shape)
    for at in np.unique(np.linspace(0, size - 1, SPARSE).astype(int)):
        for value in (low, high):
            yield np.where(places == at, value, rest).reshape(shape)


def _ramps(shape: tuple[int, ...], allowed: Range) -> Iterator[Array]:
    """Yield all values of a small range of integers, or those around a quantiser's ties, one after the other."""
    size = int(np.prod(shape))
    if allowed.whole:
        values = np.arange(allowed.low, allowed.high + 1, allowed.step, dtype=np.float32)
    elif allowed.step:
        count = min(int((allowed.high - allowed.low) / allowed.step), 1 << 10)
        ties = (np.arange(-count, count + 1) * allowed.step).astype(np.float32)
        ties = ties[(ties >= allowed.low) & (ties <= allowed.high)]
        values = np.concatenate(
            [ties, np.nextafter(ties, np.float32(-np.inf)), np.nextafter(ties, np.float32(np.inf))]
        )
    else:
        values = np.linspace(allowed.low, allowed.high, 64, dtype=np.float32)
    frames = min(-(-len(values) // size), RAMPS)
    values = values[np.linspace(0, len(values) - 1, min(len(values), frames * size)).astype(int)]
    for at in range(frames):
        yield np.resize(np.roll(values, -at * size), size).reshape(shape)


def _random(model: ModelWrapper, name: str, allowed: Range, count: int) -> Array:
    if allowed.whole:
        return random_inputs(model, name, count, SEED)
    generator = np.random.default_rng(SEED)
    size = (count, *model.get_tensor_shape(name))
    return np.asarray(generator.uniform(allowed.low, allowed.high, size), np.float32)


def _nearest(model: ModelWrapper, name: str, allowed: Range) -> Array | None:
    """Return random inputs with which what quantisers get lies on, just below and just above where their levels end."""
    from brainsmith.execution.execute import Executor

    found = [node for node in model.graph.node if _is_inner(model, node, name)]
    scales = [
        model.get_initializer(node.input[1]) for node in model.graph.node if node.op_type in _QUANTISERS
    ]
    if not found or any(scale is None or not _are_powers(scale) for scale in scales):
        return None
    executor = Executor(model)
    elements = sum(int(np.prod(executor.shape(node.output[0]) or (1,))) for node in model.graph.node)
    count = int(min(CANDIDATES, MOST_VALUES // max(elements, 1)))
    if count < 1:
        return None
    drawn = _candidates(model, name, allowed, count)
    tensors = frozenset(node.input[0] for node in found)
    results = executor.run({executor.inputs[0]: drawn}, keep=tensors)
    found = [
        node for node in found if node.input[0] in results
    ]  # those of constants that nodes give are folded
    if not found:
        return None
    return drawn[_fewest(np.concatenate([_around(model, node, results[node.input[0]]) for node in found]))]


def _candidates(model: ModelWrapper, name: str, allowed: Range, count: int) -> Array:
    """Return all inputs that there are, if they are no more than so many; else as many random ones."""
    shape = tuple(model.get_tensor_shape(name))
    size = int(np.prod(shape))
    if not allowed.whole:
        return _random(model, name, allowed, count)
    values = np.arange(allowed.low, allowed.high + 1, allowed.step, dtype=np.float32)
    if len(values) < 2 or size * np.log(len(values)) > np.log(count) + 1e-9:
        return _random(model, name, allowed, count)
    return np.stack(np.meshgrid(*[values] * size, indexing="ij"), -1).reshape(-1, *shape)


def _is_inner(model: ModelWrapper, node: Any, name: str) -> bool:
    return (
        node.op_type in _QUANTISERS and node.input[0] != name and model.get_initializer(node.input[0]) is None
        and model.find_producer(node.input[0]) is not None
    )  # fmt: skip


def _around(model: ModelWrapper, node: Any, values: Array) -> Array:
    """Tell for each end of a level, and for on it, below and above it, which frames come nearest: (places, frames).

    Args:
        model: Holds the quantiser's constants.
        node: The quantiser.
        values: What it gets: (frames, ...).
    """
    place = _places(model, node, values).reshape(len(values), -1)
    low, high = _ends(model, node)
    nearest = np.rint(place)
    sides = np.where(np.abs(place - nearest) <= _ON, 0, np.sign(place - nearest))
    frames = np.broadcast_to(np.arange(len(values))[:, None], place.shape)
    reached = np.zeros((3, MOST_ENDS, len(values)), bool)
    for at, side in enumerate((0, -1, 1)):
        # What is not on an end is between two: above the one and below the other.
        end = np.where(sides == side, nearest, nearest - side)
        counts = ((sides == 0) == (side == 0)) & (end >= low) & (end <= high)
        which = (end[counts] - low).astype(np.int64) % MOST_ENDS
        distance = np.abs(place - end)[counts]
        least = np.full(MOST_ENDS, np.inf)
        np.minimum.at(least, which, distance)
        best = distance <= least[which] + _ON
        reached[at, which[best], frames[counts][best]] = True
    rows = reached.reshape(-1, len(values))
    return rows[rows.any(axis=1)]


def _places(model: ModelWrapper, node: Any, values: Array) -> Array:
    """Return where values lie among a quantiser's levels, so that whole numbers are where a level ends."""
    if node.op_type == "BipolarQuant":
        return np.asarray(values, np.float64)
    scale, zero = (np.asarray(model.get_initializer(tensor), np.float64) for tensor in node.input[1:3])
    levels = values / scale + zero
    return levels if _mode(node) in ("CEIL", "FLOOR", "UP", "DOWN") else levels + 0.5


def _ends(model: ModelWrapper, node: Any) -> tuple[float, float]:
    """Return the least and the greatest of the places at which a level ends; some further ones count, too."""
    if node.op_type == "BipolarQuant":
        return 0, 0
    bits = model.get_initializer(node.input[3])
    levels = 2.0 ** min(float(np.max(bits)), 32.0) if bits is not None else 2.0**32
    signed = any(entry.name == "signed" and entry.i for entry in node.attribute)
    return (-levels / 2, levels / 2) if signed else (0, levels)


def _mode(node: Any) -> str:
    return next(
        (entry.s.decode().upper() for entry in node.attribute if entry.name == "rounding_mode"), "ROUND"
    )


def _fewest(reached: Array) -> Array:
    """Return frames that together reach many places: one after the other the one that reaches most of the rest.

    Args:
        reached: Which frames reach a place: (places, frames).
    """
    least, most = (min(number, reached.shape[1]) for number in NEAREST)
    chosen: list[int] = []
    waiting = reached
    while len(chosen) < (most if len(waiting) else least):
        gains = (waiting if len(waiting) else reached).sum(axis=0)
        gains[chosen] = -1
        chosen.append(int(gains.argmax()))
        waiting = waiting[~waiting[:, chosen[-1]]]
    return np.sort(np.asarray(chosen, int))


def _are_powers(scale: Array) -> bool:
    mantissas, _ = np.frexp(np.abs(scale[scale != 0]))
    return bool((mantissas == 0.5).all())
