"""Inputs that a build makes up beside the golden ones: extremes, patterns, and values around thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from brainsmith.execution.level_ends import quantisers
from brainsmith.execution.operators.quantisers import Quantiser, Signs
from brainsmith.execution.search_inputs import nearest_inputs, none_found
from brainsmith.graph.array_types import Array
from brainsmith.graph.ends import input_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.generated import Generated
    from brainsmith.execution.operators.operator import Operator


SEED = 20_130_101
RANDOM = 8
SPARSE = 4
RAMPS = 32
"""Frames at most for the values around ties, or all values of a range."""

FLOATS = (-3.0, 3.0)
"""The range of an input of floats that no quantiser limits."""

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

    def values(self) -> Array:
        """Return all values, of whole numbers."""
        return np.arange(self.low, self.high + 1, self.step, dtype=np.float32)

    def draw(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        """Return random values, all equally probable."""
        if not self.whole:
            return generator.uniform(self.low, self.high, shape).astype(np.float32)
        most = int((self.high - self.low) / self.step)
        drawn = self.low + self.step * generator.integers(most, size=shape, endpoint=True)
        return drawn.astype(np.float32)


def generated_inputs(model: ModelWrapper, name: str) -> Generated:
    """Make inputs for a model; the same model gets the same ones.

    All minimum, all maximum, both in turns, each of a few elements alone, all values of the range one after the other,
    values on, just below and just above each threshold after the input, random ones. And those that a search finds to
    bring tensors inside the network onto, just below and just above where each level ends, as far as it reaches them
    (`nearest_inputs`); onto an end only where QONNX's own result is exact.
    """
    shape = tuple(model.get_tensor_shape(name))
    allowed = range_of(model, name)
    frames = [*_patterns(shape, allowed), *_ramps(shape, allowed)]
    stack = np.stack([np.asarray(frame, np.float32) for frame in frames])
    drawn = allowed.draw((RANDOM, *shape), np.random.default_rng(SEED))
    found = _nearest(model, name, allowed)
    every = np.concatenate([stack, drawn, found.stack])
    _, first = np.unique(every.reshape(len(every), -1), axis=0, return_index=True)
    return found._replace(stack=every[np.sort(first)])


def generated_for_all(model: ModelWrapper) -> tuple[Generated, dict[str, Array]]:
    """Make inputs for a model with one input or several.

    Of several, the frames of each are put together in their order: extremes and patterns at the same time, then in shifted
    order, so that each meets other ones. Inputs that reach thresholds are searched of models with one input only.

    Returns:
        Those of the first input, and of the other ones by name; all have as many runs.
    """
    first, *others = (value.name for value in input_values(model.graph))
    made = {name: generated_inputs(model, name) for name in (first, *others)}
    if not others:
        return made[first], {}
    most = max(len(one.stack) for one in made.values())
    runs = {
        name: np.concatenate([_cycled(one.stack, most, 0), _cycled(one.stack, most, at)])
        for at, (name, one) in enumerate(made.items())
    }
    return made[first]._replace(stack=runs.pop(first)), runs


def _cycled(stack: Array, runs: int, shift: int) -> Array:
    """Return so many runs, the same again and again, beginning later by a shift."""
    return stack[(np.arange(runs) + 5 * shift) % len(stack)]


def range_of(model: ModelWrapper, name: str) -> Range:
    """Return what an input may hold: by its datatype, by the quantiser after it, or from -3 to 3."""
    datatype = model.get_tensor_datatype(name)
    if datatype.name == "BIPOLAR":
        return Range(-1.0, 1.0, True, 2.0)
    if datatype.is_integer():
        low, high = max(datatype.min(), -(2**15)), min(datatype.max(), 2**15)
        return Range(float(low), float(high), True, 1.0)
    readers = [value for view, value in quantisers(model) if view.inputs[0] == name]
    known = [limits for value in readers if (limits := _limits(value)) is not None]
    if not known:
        return Range(*FLOATS, False, 0.0)
    low, high = min(limit[0] for limit in known), max(limit[1] for limit in known)
    return Range(_BEYOND * low, _BEYOND * high, False, min(limit[2] for limit in known))


def _limits(value: Operator) -> tuple[float, float, float] | None:
    """Return the least and the greatest value of a quantiser, and how far its ties are apart; None of another."""
    if not isinstance(value, Quantiser) or value.scale is None or value.zero is None:
        return None
    size, width = float(np.abs(value.scale).max(initial=0)), float(value.integers.bits)
    reach = 2.0**width + float(np.abs(value.zero).max(initial=0))
    if not (1 <= width <= 24 and size and np.isfinite([size, reach]).all()):
        return None
    step = float(np.abs(value.scale).min()) / 2
    return (
        (-size * reach / 2, size * reach / 2, step) if value.integers.signed else (-size, size * reach, step)
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
        values = allowed.values()
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


def _nearest(model: ModelWrapper, name: str, allowed: Range) -> Generated:
    """Return inputs with which what quantisers get lies on, just below and just above where their levels end.

    Or why none are searched. Where a scale is not constant, rounding may decide a level, and nothing shows where.
    """
    scales = [value.scale for _, value in quantisers(model) if isinstance(value, Quantiser | Signs)]
    known = [scale for scale in scales if scale is not None]
    if len(known) < len(scales):
        return none_found(model, name, "the scale of a quantiser is not constant")
    return nearest_inputs(model, name, allowed, exact=all(map(_are_powers, known)))


def _are_powers(scale: Array) -> bool:
    mantissas, _ = np.frexp(np.abs(scale[scale != 0]))
    return bool((mantissas == 0.5).all())
