"""Name the first layer of a design whose inputs are right and whose output is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import SimulationStalledError
from brainsmith.rtl.verification.beat_comparison import Comparison, compare_words
from brainsmith.rtl.verification.diagnosis import Diagnosis, LinkState, kernel_of
from brainsmith.rtl.verification.waits import find_standstill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.simulation_result import Watched
    from brainsmith.rtl.stitching.design import Design, Link
    from brainsmith.rtl.verification.diagnosis import Kind
    from brainsmith.rtl.verification.link_watch import WatchedRun


def judge_links(run: WatchedRun, golden: Mapping[str, NDArray[Any]]) -> Diagnosis:
    """Find where a run that was watched goes wrong first, in the order of the design's layers.

    Args:
        run: Of a design with probes.
        golden: Of the same frames, by the tensors of the design's links; a link whose tensor is missing is not
            compared.
    """
    states = tuple(_state(run, link, golden) for link in run.design.links if not link.weights)
    problem = run.result.problem

    def diagnosis(kind: Kind, **more: Any) -> Diagnosis:
        return Diagnosis(
            kind, run.frames, run.result.cycles, problem=str(problem or ""), links=states, **more
        )

    at_fault = _first_wrong(run.design, states)
    if at_fault is not None:
        layer, link, seen = at_fault
        kernel = kernel_of(run.design, layer)
        return diagnosis("layer" if layer else "fifo", layer=layer, kernel=kernel, link=link.name, seen=seen)
    if problem is None:
        return diagnosis("right")
    if not isinstance(problem, SimulationStalledError):
        return diagnosis("unseen")
    if _moves(run):
        return diagnosis("slow")
    standstill = find_standstill(run)
    if standstill is None:
        return diagnosis("stalled")
    kernel = kernel_of(run.design, standstill.culprit)
    layer = standstill.culprit if kernel else ""
    return diagnosis("stalled", layer=layer, kernel=kernel, link=standstill.link, standstill=standstill)


def _state(run: WatchedRun, link: Link, golden: Mapping[str, NDArray[Any]]) -> LinkState:
    early = any(layer.early for layer in run.design.layers if layer.name == link.source.layer)
    source, target = (_compared(run, link, ends[link.name], golden) for ends in (run.sources, run.targets))
    return LinkState(link, source, target, early)


def _compared(run: WatchedRun, link: Link, end: Watched, golden: Mapping[str, NDArray[Any]]) -> Comparison:
    tensor = golden.get(link.layout.tensor) if link.layout else None
    if link.layout is None or tensor is None:
        return Comparison(run.beats(link), end.moved, 0, 0, None)
    return compare_words(link.layout, end.words, end.moved, tensor)


def _first_wrong(design: Design, states: Sequence[LinkState]) -> tuple[str, Link, Comparison] | None:
    """Return the layer (or, with an empty name, the FIFO) that is the first to give something wrong."""
    for layer in design.layers:
        into = [one for one in states if one.link.target.layer == layer.name]
        for one in into:
            extra = one.early or _extra(one.source)
            if not _is_wrong(one.source, one.early) and _is_wrong(one.target, extra):
                return "", one.link, one.target
        if any(_is_wrong(one.target, one.early) for one in into):
            continue
        early = any(_extra(one.target) for one in into)
        for one in states:
            if one.link.source.layer == layer.name and _is_wrong(one.source, early or one.early):
                return layer.name, one.link, one.source
    for one in states:
        if not _is_wrong(one.source, True) and _is_wrong(one.target, True):
            return "", one.link, one.target
    return None


def _is_wrong(seen: Comparison, extra: bool) -> bool:
    return bool(seen.wrong) or (not extra and _extra(seen))


def _extra(seen: Comparison) -> bool:
    return seen.moved > seen.beats


def _moves(run: WatchedRun) -> bool:
    """Tell whether a beat moved in the last interval of a run."""
    since = run.result.cycles - run.design.interval
    return any(len(end.moved_at) and int(end.moved_at[-1]) >= since for end in run.sources.values())
