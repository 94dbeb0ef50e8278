"""Timings of layers, kept by content: the same layer, fed in the same cycles, does the same in another build.

No value counts for when a layer takes and gives beats, so a network that was trained again has those of the one before.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.sizing.layer_timing import time_layer
from brainsmith.rtl.sizing.traces import LayerTiming, Trace
from brainsmith.settings import cache_dir
from brainsmith.store.computed import Computed
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brainsmith.rtl.simulation.simulator import Simulator

_ROOTS = ("brainsmith.rtl.sizing.kept_timings",)

MOST_BYTES = 1 << 20
"""A larger one is simulated again: a few of them would fill what is kept of this kind."""


def kept_timing(
    name: str,
    simulator: Simulator,
    arrivals: Mapping[str, Trace],
    given: Mapping[str, int],
    interval: int,
) -> LayerTiming:
    """Return what `time_layer` does, simulated now or by an earlier build.

    Args:
        name: Of the layer, for people.
        simulator: Of the layer alone.
        arrivals: As `time_layer` says, like the rest.
        given: Likewise.
        interval: Likewise.

    Raises:
        SlowerError: As `time_layer` says; nothing is kept then.
        SimulationError: Likewise.
    """

    def make() -> tuple[LayerTiming, Any, Iterable[str]]:
        timing = time_layer(simulator, arrivals, given, interval)
        return timing, _plain(timing), ()

    fed = [(end, trace.repeated, trace.interval, _packed(trace)) for end, trace in sorted(arrivals.items())]
    content = digest(repr((fed, sorted(given.items()), interval)))
    place = Computed(cache_dir(), "timings", f"{simulator.key} {content}", _ROOTS)
    return place.obtain(_whole, make, lambda: {"of": f"layer {name}"})


def _packed(trace: Trace) -> tuple[tuple[int, ...], bytes]:
    """Return a trace's shape and cycles; their differences repeat, so they need few bytes."""
    steps = np.diff(trace.frames.reshape(-1), prepend=0)
    return trace.frames.shape, zlib.compress(steps.astype("<i8").tobytes(), 1)


def _unpacked(packed: tuple[tuple[int, ...], bytes], repeated: int, interval: int) -> Trace:
    shape, data = packed
    steps = np.frombuffer(zlib.decompress(data), "<i8")
    return Trace(np.cumsum(steps, dtype=np.int64).reshape(shape), repeated, interval)


def _plain(timing: LayerTiming) -> Any:
    """Return a plain form; None of what is too large."""
    given = {end: (_packed(trace), trace.repeated, trace.interval) for end, trace in timing.given.items()}
    if sum(len(packed[1]) for packed, _, _ in given.values()) > MOST_BYTES:
        return None
    fills = {end: int(fill) for end, fill in timing.fills.items()}
    return fills, given, timing.repeats, timing.cycles


def _whole(plain: Any) -> LayerTiming | None:
    """Return what has this plain form; None of another form."""
    try:
        fills, given, repeats, cycles = plain
        return LayerTiming(fills, {end: _unpacked(*one) for end, one in given.items()}, repeats, cycles)
    except (ValueError, TypeError, AttributeError, zlib.error):
        return None
