"""Name the first layer of a design whose inputs are right and whose output is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brainsmith.errors import SimulationStalledError
from brainsmith.rtl.verification.compare import Comparison, compare_words
from brainsmith.rtl.verification.diagnosis import Diagnosis, kernel_of, link_state
from brainsmith.rtl.verification.frames import is_short
from brainsmith.rtl.verification.waits import find_standstill
from brainsmith.rtl.verification.watch import build_watched, watch_design

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.result import Watched
    from brainsmith.rtl.simulation.stalls import Stalls
    from brainsmith.rtl.stitching.design import Design, Link
    from brainsmith.rtl.verification.watch import WatchedRun


def diagnose(
    design: Design,
    inputs: Mapping[str, NDArray[Any]],
    golden: Mapping[str, NDArray[Any]],
    *,
    stalls: Mapping[str, Stalls] | None = None,
    limit: int | None = None,
    cache: Path | None = None,
) -> Diagnosis:
    """Run a design with probes, and compare what moves at every link with the golden model.

    Args:
        design: What is verified.
        inputs: By tensor: (frames, *shape of one), whole numbers.
        golden: Of the same frames, by the tensors of the design's links; a link whose tensor is missing is not
            compared.
        stalls: When the ends stall, as in the run that failed.
        limit: The cycles after which the run is given up; as `run_design` by default.
        cache: Where simulations are kept; the user's cache folder by default.

    Raises:
        SimulationError: The design with probes cannot be built.
        ValueError: Values are not whole, do not fit, or the tensors differ in their frames.
    """
    frames = min(len(tensor) for tensor in inputs.values())
    simulator = build_watched(design, cache, quick=is_short(design, frames))
    run = watch_design(simulator, design, inputs, stalls=stalls, limit=limit)
    return judge_links(run, golden)


def judge_links(run: WatchedRun, golden: Mapping[str, NDArray[Any]]) -> Diagnosis:
    """Find where a run that was watched goes wrong first, in the order of the design's layers."""
    checked = [_check(run, link, golden) for link in run.design.links if not link.weights]
    common: dict[str, Any] = {
        "frames": run.frames,
        "cycles": run.result.cycles,
        "problem": str(run.result.problem or ""),
        "links": tuple(_state(run, one) for one in checked),
    }
    at_fault = _first_wrong(run.design, checked)
    if at_fault is not None:
        layer, link, seen = at_fault
        return Diagnosis(
            kind="layer" if layer else "fifo",
            layer=layer,
            kernel=kernel_of(run.design, layer),
            link=link.name,
            first=seen.first,
            wrong=seen.wrong,
            values=seen.values,
            moved=seen.moved,
            beats=seen.beats,
            **common,
        )
    if run.result.problem is None:
        return Diagnosis(kind="right", **common)
    if not isinstance(run.result.problem, SimulationStalledError):
        return Diagnosis(kind="unseen", **common)
    if _moves(run):
        return Diagnosis(kind="slow", **common)
    standstill = find_standstill(run)
    culprit = standstill.culprit if standstill else ""
    kernel = kernel_of(run.design, culprit)
    return Diagnosis(
        kind="stalled",
        layer=culprit if kernel else "",
        kernel=kernel,
        link=standstill.link if standstill else "",
        standstill=standstill,
        **common,
    )


@dataclass(frozen=True)
class _Checked:
    """A link, both of its ends against the golden model, and whether beats of a frame that was not fed are right."""

    link: Link
    source: Comparison
    target: Comparison
    early: bool


def _check(run: WatchedRun, link: Link, golden: Mapping[str, NDArray[Any]]) -> _Checked:
    early = any(layer.early for layer in run.design.layers if layer.name == link.source.layer)
    source, target = (_compared(run, link, ends[link.name], golden) for ends in (run.sources, run.targets))
    return _Checked(link, source, target, early)


def _compared(run: WatchedRun, link: Link, end: Watched, golden: Mapping[str, NDArray[Any]]) -> Comparison:
    tensor = golden.get(link.layout.tensor) if link.layout else None
    if link.layout is None or tensor is None:
        return Comparison(run.beats(link), end.moved, 0, 0, None)
    return compare_words(link.layout, end.words, end.moved, tensor)


def _first_wrong(design: Design, checked: list[_Checked]) -> tuple[str, Link, Comparison] | None:
    """Return the layer (or, with an empty name, the FIFO) that is the first to give something wrong."""
    for layer in design.layers:
        into = [one for one in checked if one.link.target.layer == layer.name]
        for one in into:
            if not _is_wrong(one.source, one.early) and _is_wrong(
                one.target, one.early or _extra(one.source)
            ):
                return "", one.link, one.target
        if any(_is_wrong(one.target, one.early) for one in into):
            continue
        early = any(_extra(one.target) for one in into)
        for one in checked:
            if one.link.source.layer == layer.name and _is_wrong(one.source, early or one.early):
                return layer.name, one.link, one.source
    for one in checked:
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


def _state(run: WatchedRun, one: _Checked) -> Any:
    source, target = run.sources[one.link.name], run.targets[one.link.name]
    return link_state(one.link, one.source, target.moved, source.blocked, target.starved)
