"""When FINN's RTL layers take and give beats.

The source is FINN's library of RTL (finn-plus 1.6): `mvu_vvu_axi.sv`, `replay_buffer.sv`, `thresholding.sv`,
`fmpadding.sv`, `dwc_axi.sv`, and the templates of `swg`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.cores.frame_cycles import WINDOW, parallel_ends, window_reads
from brainsmith.rtl.synthesis.compute_core import adds_in_slices
from brainsmith.rtl.timing.beat_schedule import (
    ALWAYS,
    BeatSchedule,
    Giving,
    Queue,
    Taking,
    converted,
    gathered,
    one_by_one,
    replayed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_WEIGHTS = 5
"""The first cycle after the reset in which the memory of a layer's weights gives one."""

_CHAINED = 3
"""Products of a slice in a chain."""


@dataclass(frozen=True)
class Fabric:
    """What a layer itself does not say of what it is made of.

    Attributes:
        versal_clock: The clock's period in ns on a Versal, whose chains of DSP slices have as many registers as it needs; 0
            on any other part.
        narrow: Whether the least weight that its datatype holds does not occur.
    """

    versal_clock: float = 0.0
    narrow: bool = False


def matrix_vector_unit(layer: Any, fabric: Fabric) -> BeatSchedule:
    """Return the schedule of FINN's MVAU: vectors are stored, and read once for each group of rows."""
    wide, simd = int(layer.get_nodeattr("MW")), int(layer.get_nodeattr("SIMD"))
    beats, folds = wide // simd, int(layer.get_nodeattr("MH")) // int(layer.get_nodeattr("PE"))
    vectors = prod(map(int, layer.get_nodeattr("numInputVectors")))
    weight, taken = (int(layer.get_input_datatype(at).bitwidth()) for at in (1, 0))
    chained = bool(fabric.versal_clock) and adds_in_slices("versal", weight, taken, fabric.narrow)
    places = 1 << max(1, (beats - 1).bit_length()) if beats > 1 else 2
    schedule = replayed(
        vectors, beats, folds, places, wait=2, delay=_product_delay(layer, fabric, chained), whole=False
    )
    return replace(schedule, begin=_WEIGHTS, given=(_locked(schedule.given[0]),))


def vector_vector_unit(layer: Any, fabric: Fabric) -> BeatSchedule:
    """Return the schedule of FINN's VVAU, whose results each need the beats of a window."""
    beats, results = _beats(layer)
    schedule = gathered(beats, results, _product_delay(layer, fabric, chained=True))
    return replace(schedule, begin=_WEIGHTS, given=(_locked(schedule.given[0]),))


def _locked(given: Giving) -> Giving:
    """Return how results are given whose products are locked while a second result waits behind the first."""
    assert isinstance(given.delay, int)
    return replace(given, queue=Queue(1, freed=2, later=given.delay + 1))


def _product_delay(layer: Any, fabric: Fabric, chained: bool) -> int:
    """Return the cycles from the last beat of a sum to the sum: the pipeline of the products, and the queue behind it.

    Args:
        layer: An MVAU or a VVAU.
        fabric: What it is made of.
        chained: Whether it is a chain of slices, of a Versal.
    """
    simd = int(layer.get_nodeattr("SIMD"))
    if not chained:
        return 6 + simd.bit_length()
    segment = max(1, int(layer._resolve_segment_len(fabric.versal_clock)))
    return 5 + (-(-simd // _CHAINED) - 1) // segment


def thresholding(layer: Any, fabric: Fabric) -> BeatSchedule:
    """Return the schedule of FINN's thresholds: a stage for each bit of the result, of one cycle or two, and a queue."""
    beats, _ = _beats(layer)
    stages = int(layer.get_nodeattr("numSteps")).bit_length()
    delay = stages * (1 + int(layer.get_nodeattr("deep_pipeline"))) + 2
    schedule = one_by_one(beats, delay=delay)
    # The queue has places for all beats of the stages, which never stand still.
    given = replace(schedule.given[0], queue=Queue(delay + 1, freed=1))
    return replace(schedule, given=(given,))


def padding(layer: Any, fabric: Fabric) -> BeatSchedule:
    """Return the schedule of FINN's padding, which gives what is in front of the image before that comes."""
    (high, wide), folds = (
        layer.get_nodeattr("ImgDim"),
        int(layer.get_nodeattr("NumChannels") // layer.get_nodeattr("SIMD")),
    )
    top, left, bottom, right = map(int, layer.get_nodeattr("Padding"))
    whole = np.arange((high + top + bottom) * (wide + left + right) * folds)
    inside = whole.reshape(high + top + bottom, wide + left + right, folds)[
        top : top + high, left : left + wide
    ]
    needed = inside.reshape(-1)
    room = np.append(needed[-1] - len(whole), needed[:-1])  # one beat waits in a register
    return BeatSchedule(len(whole), (Taking(needed, room, freed=1, wait=0),), (Giving(whole),))


def width_converter(layer: Any, fabric: Fabric) -> BeatSchedule:
    """Return the schedule of FINN's width converter, of which one width is a multiple of the other."""
    return converted(*_beats(layer))


def reshaping(layer: Any, fabric: Fabric) -> BeatSchedule:
    """Return the schedule of FINN's Reshape, a converter between equal widths: a wire."""
    return one_by_one(_beats(layer)[0], delay=0)


def sliding_window(layer: Any, fabric: Fabric) -> BeatSchedule:
    """Return the schedule of FINN's sliding window, whose frames do not overlap in its buffer.

    A beat of the image is read if its place is free: what lies in front of the next window may be overwritten as soon
    as a window has begun.
    """
    if layer.select_impl_style() == "parallel":
        elements, ends = parallel_ends(layer)
        turns = elements + (ends[-1] == elements - 1)
        return BeatSchedule(turns, (Taking(np.arange(elements)),), (Giving(np.asarray(ends)),))
    elements, places, order, loops, final = window_reads(layer)
    starts = np.zeros(1, np.int64)
    for count, by in loops:
        starts = (starts[:, None] + np.arange(count) * by).reshape(-1)
    wanted = (starts[:, None] + np.asarray(order)).astype(np.int64)
    kept = np.repeat(np.append(starts[1:], final)[:, None], len(order), axis=1)
    kept[:, 0] = starts
    free = np.maximum.accumulate((np.minimum(kept, wanted) + places).reshape(-1))
    newest = np.maximum.accumulate(wanted.reshape(-1))
    beats = np.arange(elements)
    room = np.searchsorted(free, beats, side="right") - 1  # behind the turn before the one that has room
    room = np.where(room < 0, ALWAYS, room)
    turns = wanted.size
    needed = np.searchsorted(newest, beats, side="left")
    # What no window needs is read behind the last turn, for which there is room then.
    taking = Taking(needed, np.minimum(room, turns - 1), freed=1, wait=1)
    return BeatSchedule(turns, (taking,), (Giving(np.arange(turns)),), apart=1)


def _beats(layer: Any) -> tuple[int, int]:
    """Return the beats of a frame, of the first input and of the output."""
    taken, given = layer.get_folded_input_shape(), layer.get_folded_output_shape()
    return prod(map(int, taken[:-1])), prod(map(int, given[:-1]))


FINN_SCHEDULES: Mapping[str, Callable[[Any, Fabric], BeatSchedule]] = {
    "MVAU_rtl": matrix_vector_unit,
    "VVAU_rtl": vector_vector_unit,
    "Thresholding_rtl": thresholding,
    "FMPadding_rtl": padding,
    "StreamingDataWidthConverter_rtl": width_converter,
    "Reshape_rtl": reshaping,
    WINDOW: sliding_window,
}
"""By operator."""
