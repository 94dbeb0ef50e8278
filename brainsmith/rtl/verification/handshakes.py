"""One frame's handshakes on its way through a design, as plain data that can be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.simulation.simulation_result import PHASES
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.verification.design_runs import first_frames, frame_count, frame_spans, is_short
from brainsmith.rtl.verification.link_watch import build_watched, watch_design

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from brainsmith.rtl.stitching.design import Design, Link
    from brainsmith.rtl.verification.link_watch import WatchedRun

FOLLOWERS = 2
"""Frames that are fed after the one that is shown, so that it is pressed as in a steady stream."""


def handshakes(design: Design, inputs: Mapping[str, NDArray[Any]], frame: int = 0) -> dict[str, Any]:
    """Run a design at its estimated rate and say what each link did while one frame was in it.

    Inputs come at that rate, their beats spread evenly, because the frame would else wait outside for those before it.

    Args:
        design: What runs.
        inputs: By tensor: (frames, *shape of one), whole numbers.
        frame: Which one is shown, from 0; those before it are run, and two after it if there are as many.

    Returns:
        `frame`, `first_cycle` (that of its first beat at an input), `cycles` (until its last beat at an output),
        `interval` (from then to the last output beat of the next frame; None without one), and `links`, in the order
        of the design: `name`, `source`, `target`, `bits`, `depth` of the FIFO, `beats` (the cycles of the frame's first
        and last beat; a layer that pads may give its first before it has one), and three lists of spans [begin, end):
        `moved`, `blocked` (a beat is there and not taken), `starved` (ready, and no beat is offered). All cycles
        count from `first_cycle` on, as seen where the link ends.

    Raises:
        SimulationError: The run fails.
        ValueError: There is no such frame, or values do not fit.
    """
    frames = frame_count(inputs)
    if not 0 <= frame < frames:
        raise ValueError(f"frame must be from 0 to {frames - 1}, not {frame!r}")
    fed = first_frames(inputs, frame + 1 + FOLLOWERS)
    stalls = {stream.name: Stalls.steady(stream.layout.beats, design.interval) for stream in design.inputs}
    simulator = build_watched(design, quick=is_short(design, frame_count(fed)))
    found = watch_design(simulator, design, fed, stalls=stalls).trusted()
    ends = frame_spans(design, found.result, found.frames)
    span = range(ends[frame][0], ends[frame][1] + 1)
    run = watch_design(simulator, design, fed, stalls=stalls, window=span).trusted()
    links = [
        {
            "name": link.name,
            "source": str(link.source),
            "target": str(link.target),
            "bits": link.bits,
            "depth": link.depth,
            "beats": _beats(run, link, frame, span.start),
            **{what: spans(run.targets[link.name].phases == PHASES.index(what)) for what in PHASES[1:]},
        }
        for link in design.links
        if not link.weights
    ]
    return {
        "frame": frame,
        "first_cycle": span.start,
        "cycles": len(span),
        "interval": ends[frame + 1][1] - ends[frame][1] if frame + 1 < run.frames else None,
        "links": links,
    }


def spans(flags: NDArray[np.bool_]) -> list[list[int]]:
    """Return where flags are set: [begin, end) of each run of them."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [[int(begin), int(end)] for begin, end in edges.reshape(-1, 2)]


def _beats(run: WatchedRun, link: Link, frame: int, begin: int) -> list[int]:
    """Return in which cycles the first and the last beat of a frame passed the end of a link."""
    count = run.beats(link) // run.frames
    moved_at = run.targets[link.name].moved_at[frame * count : (frame + 1) * count]
    return [int(moved_at[0]) - begin, int(moved_at[-1]) - begin]
