"""Inputs that a build makes up beside the golden ones: extremes, patterns, and values around thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.execution.inputs import random_inputs
from brainsmith.execution.search_inputs import nearest_inputs
from brainsmith.figures import count, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.nearest_inputs import Nearest

Array = np.ndarray[Any, Any]

SEED = 20_130_101
RANDOM = 8
SPARSE = 4
RAMPS = 32
"""Frames at most for the values around ties, or all values of a range."""

FLOATS = (-3.0, 3.0)
"""The range of an input of floats that no quantiser limits."""

_QUANTISERS = ("Quant", "IntQuant", "BipolarQuant")
_BEYOND = 1.25


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


class Generated(NamedTuple):
    """Inputs for a model, and how well they cover its inner thresholds.

    Attributes:
        stack: (runs, *shape of the input), float32.
        thresholds: How many thresholds of channels inside the network have values on both sides.
        missed: How many of these no run is known to reach on, just below or just above.
        unsearched: Why no inputs were searched for that reach thresholds; empty if they were, or there are none.
    """

    stack: Array
    thresholds: int = 0
    missed: int = 0
    unsearched: str = ""

    def few(self, count: int) -> Array:
        """Return at most so many runs: the first half of extremes and patterns, the rest spread evenly over all others."""
        half, last = count // 2, len(self.stack) - 1
        spread = np.linspace(min(half, last), last, max(1, count - half)).astype(int)
        return np.asarray(self.stack[np.unique([*range(min(half, last)), *spread])])

    @property
    def coverage(self) -> str:
        """Say what of the thresholds inside the network was not reached; empty if nothing is missing."""
        if self.unsearched:
            return f"thresholds inside the network were not searched: {self.unsearched}"
        if not self.missed:
            return ""
        return f"{count(self.missed)} of {plural(self.thresholds, 'threshold')} inside the network not reached exactly"


def generated_inputs(model: ModelWrapper, name: str) -> Generated:
    """Make inputs for a model; the same model gets the same ones.

    All minimum, all maximum, both in turns, each of a few elements alone, all values of the range one after the other,
    values on, just below and just above each threshold behind the input, random ones. And those that a search finds to
    bring tensors inside the network onto, just below and just above where each level ends, as far as it reaches them
    (`nearest_inputs`); onto an end only where QONNX's own result is exact.
    """
    shape = tuple(model.get_tensor_shape(name))
    allowed = range_of(model, name)
    frames = [*_patterns(shape, allowed), *_ramps(shape, allowed)]
    stack = np.stack([np.asarray(frame, np.float32) for frame in frames])
    drawn = _random(model, name, allowed, RANDOM)
    nearest = _nearest(model, name, allowed)
    found = [] if isinstance(nearest, str) else [nearest.stack]
    every = np.concatenate([stack, drawn, *found])
    _, first = np.unique(every.reshape(len(every), -1), axis=0, return_index=True)
    unlike = every[np.sort(first)]
    if isinstance(nearest, str):
        return Generated(unlike, unsearched=nearest)
    return Generated(unlike, nearest.ends, nearest.missed)


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


def _nearest(model: ModelWrapper, name: str, allowed: Range) -> Nearest | str:
    """Return inputs with which what quantisers get lies on, just below and just above where their levels end.

    Or why none are searched. Where a scale is not constant, rounding may decide a level, and nothing shows where.
    """
    scales = [
        model.get_initializer(node.input[1]) for node in model.graph.node if node.op_type in _QUANTISERS
    ]
    known = [scale for scale in scales if scale is not None]
    if len(known) < len(scales):
        return "the scale of a quantiser is not constant"
    return nearest_inputs(model, name, allowed, exact=all(map(_are_powers, known)))


def _are_powers(scale: Array) -> bool:
    mantissas, _ = np.frexp(np.abs(scale[scale != 0]))
    return bool((mantissas == 0.5).all())
