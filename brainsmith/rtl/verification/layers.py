"""Every layer of a design alone: fed with the golden model's tensors, compared with the golden model's tensors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from brainsmith.errors import SimulationError, VerificationError
from brainsmith.figures import plural, share
from brainsmith.rtl.simulation.side_by_side import side_by_side
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.stitching.design import DESIGN, MEMORY
from brainsmith.rtl.stitching.sections import cut_out, layer_names
from brainsmith.rtl.verification.beat_comparison import compare_words
from brainsmith.rtl.verification.chances import stall_chance
from brainsmith.rtl.verification.design_runs import (
    estimated_cycles,
    first_frames,
    frame_count,
    is_short,
    run_frames,
)
from brainsmith.rtl.verification.link_watch import build_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.simulation_result import SimulationResult
    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.stitching.design import Design, Layer
    from brainsmith.rtl.verification.beat_comparison import Mismatch

_BEATS = 4_000_000
"""Of all links together, that are in memory for one run, about."""

_LEAST_FRAMES = 4
"""Of one run: what a layer keeps from frame to frame is seen, too."""

_CALIBRATION = 50_000
"""Cycles of a run that shows how fast a simulation is."""

_COUNTED = ("values", "wrong", "missing", "untaken", "surplus")


@dataclass(frozen=True)
class LayerCheck:
    """One layer alone against the golden model.

    Attributes:
        layer: Its name.
        kernel: Its operator.
        frames: How many were run, without stalls and again with random ones at all of its streams.
        values: How many were compared.
        wrong: How many of them differ.
        missing: Beats that did not come.
        untaken: Beats of its inputs that it did not take.
        surplus: Cycles in which it offered beats of a frame that was not fed.
        first: The first value that differs.
        cycles: Measured without stalls: from a frame's first beat in to its last beat out, on average; None where not
            all came out.
        estimate: The estimate of the cycles of a frame.
        share: Of the frames' output that was compared; less than 1 where a run was ended early.
        cycles_per_second: How fast it was simulated.
    """

    layer: str
    kernel: str
    frames: int
    values: int
    wrong: int
    missing: int
    untaken: int
    surplus: int
    first: Mismatch | None
    cycles: float | None = field(default=None, compare=False)
    estimate: int = 0
    share: float = 1.0
    cycles_per_second: int = field(default=0, compare=False)

    @property
    def right(self) -> bool:
        """Tell whether all of its outputs are the golden model's, and all of its inputs were taken."""
        return not (self.wrong or self.missing or self.untaken or self.surplus)

    def __str__(self) -> str:
        text = f"layer {self.layer!r} ({self.kernel}) alone"
        if self.right:
            frames = plural(self.frames, "frame")
            frames = frames if self.share == 1 else f"{share(self.share)} of {frames}"
            return f"{text} computes what the golden model computes: {self.values} values of {frames}"
        found = (
            (self.wrong, f"{self.wrong} of {self.values} values are wrong, first in {self.first}"),
            (self.missing, f"{self.missing} beats are missing"),
            (self.untaken, f"{self.untaken} beats of its inputs are not taken"),
            (self.surplus, f"it offers more beats than the frames have, in {plural(self.surplus, 'cycle')}"),
        )
        return f"{text} is wrong: {'; '.join(words for count, words in found if count)}"


def verify_layers(
    design: Design,
    golden: Mapping[str, NDArray[Any]],
    *,
    given: Mapping[str, NDArray[Any]] | None = None,
    seed: int = 1,
    quick: bool | None = None,
    seconds: float | None = None,
) -> list[LayerCheck]:
    """Simulate each layer with its golden inputs, and compare its outputs with the golden ones.

    All layers are in one simulation, that of the whole design with probes, but none is connected to another: each is fed
    and emptied by itself. They run without stalls, and again with random ones at all of their streams; a few frames at a
    time, so that not all beats of all links are in memory at once, and side by side.

    Args:
        design: What the layers are of; nothing moves through its FIFOs.
        golden: (frames, *shape of one), by the tensors of all links: what each layer takes.
        given: Likewise, what each layer must give; `golden` by default.
        seed: Of the stalls.
        quick: Whether to compile without optimising; by default where that takes longer than the frames.
        seconds: After so many, about, a run ends, and what came out until then is compared; a short run shows how fast
            the simulation is. Without it all runs go to their end.

    Returns:
        One check for each layer, in the order of the design; the memory of a layer's weights belongs to it.

    Raises:
        SimulationError: The layers cannot be built, or report an error.
        ValueError: Golden values are not whole or do not fit.
    """
    apart = take_apart(design)
    frames = frame_count(golden)
    quick = is_short(design, frames) if quick is None else quick
    simulator = build_apart(design, quick)
    at_once = max(_LEAST_FRAMES, _BEATS // sum(s.layout.beats for s in (*apart.inputs, *apart.outputs)))
    first = first_frames(golden, at_once)
    most = None if seconds is None else _most_cycles(simulator, apart, first, seconds)

    def checked(begin: int, stalls: Mapping[str, Stalls]) -> list[LayerCheck]:
        chosen = slice(begin, begin + at_once)
        fed, wanted = (
            {name: tensor[chosen] for name, tensor in tensors.items()}
            for tensors in (golden, golden if given is None else given)
        )
        result = _run(simulator, apart, fed, stalls, most)
        layers = [layer for layer in apart.layers if layer.kernel != MEMORY]
        return [_check(layer, apart, result, wanted, begin, ended=most is not None) for layer in layers]

    runs = [
        partial(checked, begin, stalls)
        for begin in range(0, frames, at_once)
        for stalls in ({}, _stalls(apart, seed + begin))
    ]
    checks = side_by_side("each layer alone", runs)
    return [replace(_together(of_layer), frames=frames) for of_layer in zip(*checks, strict=True)]


def check_layers(
    design: Design,
    golden: Mapping[str, NDArray[Any]],
    *,
    given: Mapping[str, NDArray[Any]] | None = None,
    quick: bool | None = None,
) -> list[LayerCheck]:
    """Verify each layer alone, as `verify_layers` does.

    Raises:
        VerificationError: All that do not compute what the golden model computes.
        SimulationError: The layers cannot be built, or report an error.
    """
    checks = verify_layers(design, golden, given=given, quick=quick)
    require_right(checks)
    return checks


def require_right(checks: Iterable[LayerCheck]) -> None:
    """Raise for layers that are wrong.

    Raises:
        VerificationError: All of them, and what is wrong.
    """
    wrong = [str(check) for check in checks if not check.right]
    if wrong:
        listed = "".join(f"\n  {line}" for line in wrong)
        raise VerificationError(f"layers of the RTL do not compute what the golden model computes:{listed}")


def take_apart(design: Design) -> Design:
    """Return the same layers, with an output of the design after each of their outputs, and an input before each input.

    Such streams have the name of the link that was there, with `_fed` or `_given` after it.
    """
    return cut_out(design, layer_names(design), cut=lambda link: True)


def _stalls(apart: Design, seed: int) -> dict[str, Stalls]:
    """Return stalls that fit the pace of each stream's own layer."""
    cycles = {layer.name: layer.cycles for layer in apart.layers}
    ends = {link.source.stream: link.target.layer for link in apart.links if link.source.layer == DESIGN}
    ends |= {link.target.stream: link.source.layer for link in apart.links if link.target.layer == DESIGN}
    chances = {
        stream.name: stall_chance(stream.layout.beats, max(cycles[ends[stream.name]], stream.layout.beats))
        for stream in (*apart.inputs, *apart.outputs)
    }
    return {
        name: Stalls.random(1000 * seed + at, chance) for at, (name, chance) in enumerate(chances.items())
    }


def _run(
    simulator: Simulator,
    apart: Design,
    fed: Mapping[str, NDArray[Any]],
    stalls: Mapping[str, Stalls],
    most: int | None,
) -> SimulationResult:
    limit = most or 1000 + 20 * estimated_cycles(apart, frame_count(fed))
    _, result = run_frames(simulator, apart, fed, stalls=stalls, limit=limit, judge=False)
    if result.outcome == "fault":
        raise SimulationError(f"each layer alone: {result.problem}") from result.problem
    return result


def _most_cycles(
    simulator: Simulator, apart: Design, fed: Mapping[str, NDArray[Any]], seconds: float
) -> int | None:
    """Return how many cycles are simulated in so many seconds; None if the frames take no longer."""
    needed = estimated_cycles(apart, frame_count(fed))
    if needed <= _CALIBRATION:
        return None
    speed = _run(simulator, apart, fed, {}, _CALIBRATION).cycles_per_second
    most = max(_CALIBRATION, int(seconds * speed))
    return most if most < needed else None


def _check(
    layer: Layer,
    apart: Design,
    run: SimulationResult,
    golden: Mapping[str, NDArray[Any]],
    begin: int,
    ended: bool,
) -> LayerCheck:
    """Return what a layer made of frames, of which the first has a number.

    Of a run that was ended early it says how much was compared; what is missing then is no fault. A run that is given up
    may have all outputs, and lack beats of inputs that were not taken.
    """
    frames, links = frame_count(golden), apart.links
    fed = [
        (link.layout, run.streams[link.source.stream])
        for link in links
        if link.layout and link.target.layer == layer.name
    ]
    given = [
        (link.layout, run.streams[link.target.stream])
        for link in links
        if link.layout and link.source.layer == layer.name
    ]
    found = [
        compare_words(layout, traffic.words, len(traffic.words), golden[layout.tensor])
        for layout, traffic in given
    ]
    first = next((one.first for one in found if one.first), None)
    cycles = None
    if run.outcome == "complete" and fed and given:
        started = min(int(traffic.moved_at[0]) for _, traffic in fed)
        cycles = (max(int(traffic.moved_at[-1]) for _, traffic in given) - started + 1) / frames
    return LayerCheck(
        layer=layer.name,
        kernel=layer.kernel,
        frames=frames,
        values=sum(one.values for one in found),
        wrong=sum(one.wrong for one in found),
        missing=0 if ended else sum(one.beats - one.moved for one in found),
        untaken=0 if ended else sum(frames * layout.beats - len(traffic.words) for layout, traffic in fed),
        surplus=0 if layer.early else sum(traffic.surplus for _, traffic in given),
        first=first and replace(first, frame=begin + first.frame),
        cycles=cycles,
        estimate=layer.cycles,
        share=min((one.moved / one.beats for one in found), default=1.0) if ended else 1.0,
        cycles_per_second=round(run.cycles_per_second),
    )


def _together(checks: Sequence[LayerCheck]) -> LayerCheck:
    """Return what several runs of a layer show."""
    return replace(
        checks[0],
        **{name: sum(getattr(check, name) for check in checks) for name in _COUNTED},
        first=next((check.first for check in checks if check.first), None),
        share=min(check.share for check in checks),
    )
