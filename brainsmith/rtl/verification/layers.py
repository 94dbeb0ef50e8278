"""Every layer of a design alone: fed with the golden model's tensors, compared with the golden model's tensors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from brainsmith.errors import SimulationError, VerificationError
from brainsmith.figures import plural
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.stitching.design import DESIGN, DesignStream, End, Link
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.beat_comparison import compare_words
from brainsmith.rtl.verification.chances import stall_chance
from brainsmith.rtl.verification.design_runs import (
    design_beats,
    estimated_cycles,
    frame_count,
    is_short,
    side_by_side,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.simulation_result import SimulationResult
    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.stitching.design import Design, Layer
    from brainsmith.rtl.verification.beat_comparison import Comparison, Mismatch

_BEATS = 4_000_000
"""Of all links together, that are in memory for one run, about."""

_LEAST_FRAMES = 4
"""Of one run: what a layer keeps from frame to frame is seen, too."""

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

    @property
    def right(self) -> bool:
        """Tell whether all of its outputs are the golden model's, and all of its inputs were taken."""
        return not (self.wrong or self.missing or self.untaken or self.surplus)

    def __str__(self) -> str:
        text = f"layer {self.layer!r} ({self.kernel}) alone"
        if self.right:
            return f"{text} computes what the golden model computes: {self.values} values of {plural(self.frames, 'frame')}"
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
    cache: Path | None = None,
) -> list[LayerCheck]:
    """Simulate each layer with its golden inputs, and compare its outputs with the golden ones.

    All layers are in one simulation, so that one build serves them, but none is connected to another: each is fed and
    emptied by itself. They run without stalls, and again with random ones at all of their streams; a few frames at a
    time, so that not all beats of all links are in memory at once, and side by side.

    Args:
        design: What the layers are of; its FIFOs are left out.
        golden: (frames, *shape of one), by the tensors of all links: what each layer takes.
        given: Likewise, what each layer must give; `golden` by default.
        seed: Of the stalls.
        quick: Whether to compile without optimising; by default where that takes longer than the frames.
        cache: Where simulations are kept; the user's cache folder by default.

    Returns:
        One check for each layer, in the order of the design; the memory of a layer's weights belongs to it.

    Raises:
        SimulationError: The layers cannot be built, or report an error.
        ValueError: Golden values are not whole or do not fit.
    """
    apart = take_apart(design)
    frames = frame_count(golden)
    quick = is_short(design, frames) if quick is None else quick
    simulator = build_simulator(plan_design(apart), cache=cache, quick=quick)
    at_once = max(_LEAST_FRAMES, _BEATS // sum(s.layout.beats for s in (*apart.inputs, *apart.outputs)))
    fed, given = golden, golden if given is None else given
    runs = [
        partial(
            _checked,
            simulator,
            apart,
            _part(fed, begin, at_once),
            _part(given, begin, at_once),
            begin,
            stalls,
        )
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
    cache: Path | None = None,
) -> list[LayerCheck]:
    """Verify each layer alone, as `verify_layers` does.

    Raises:
        VerificationError: All that do not compute what the golden model computes.
        SimulationError: The layers cannot be built, or report an error.
    """
    checks = verify_layers(design, golden, given=given, quick=quick, cache=cache)
    wrong = [str(check) for check in checks if not check.right]
    if wrong:
        listed = "".join(f"\n  {line}" for line in wrong)
        raise VerificationError(f"layers of the RTL do not compute what the golden model computes:{listed}")
    return checks


def take_apart(design: Design) -> Design:
    """Return the same layers, with an output of the design behind each of their outputs, and an input before each input.

    Such streams have the name of the link that was there, with `_fed` or `_given` behind it.
    """
    links, inputs, outputs = [], [], []
    for link in design.links:
        if link.layout is None:
            links.append(link)
            continue
        fed, given = f"{link.name}_fed", f"{link.name}_given"
        if link.target.layer != DESIGN:
            links.append(Link(fed, End(DESIGN, fed), link.target, link.bits, link.layout))
            inputs.append(DesignStream(fed, link.bits, link.layout))
        if link.source.layer != DESIGN:
            links.append(Link(given, link.source, End(DESIGN, given), link.bits, link.layout))
            outputs.append(DesignStream(given, link.bits, link.layout))
    return replace(design, links=tuple(links), inputs=tuple(inputs), outputs=tuple(outputs))


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


def _part(golden: Mapping[str, NDArray[Any]], begin: int, frames: int) -> dict[str, NDArray[Any]]:
    return {name: tensor[begin : begin + frames] for name, tensor in golden.items()}


def _checked(
    simulator: Simulator,
    apart: Design,
    fed: Mapping[str, NDArray[Any]],
    given: Mapping[str, NDArray[Any]],
    begin: int,
    stalls: Mapping[str, Stalls],
) -> list[LayerCheck]:
    """Run frames, of which the first has a number, and return what each layer made of them."""
    frames, words, counts = design_beats(apart, fed)
    limit = 1000 + 20 * estimated_cycles(apart, frames)
    result = simulator.run(words, counts, stalls=stalls, limit=limit, judge=False)
    if result.outcome == "fault":
        raise SimulationError(f"each layer alone: {result.problem}") from result.problem
    return [
        _check(layer, apart, result, given, begin) for layer in apart.layers if layer.kernel != "memstream"
    ]


def _check(
    layer: Layer, apart: Design, run: SimulationResult, golden: Mapping[str, NDArray[Any]], begin: int
) -> LayerCheck:
    found: list[Comparison] = []
    surplus = 0
    for link in apart.links:
        if link.source.layer != layer.name or link.layout is None:
            continue
        traffic = run.streams[link.target.stream]
        found.append(
            compare_words(link.layout, traffic.words, len(traffic.words), golden[link.layout.tensor])
        )
        surplus += 0 if layer.early else traffic.surplus
    first = next((one.first for one in found if one.first), None)
    return LayerCheck(
        layer=layer.name,
        kernel=layer.kernel,
        frames=frame_count(golden),
        values=sum(one.values for one in found),
        wrong=sum(one.wrong for one in found),
        missing=sum(one.beats - one.moved for one in found),
        untaken=_untaken(layer, apart, run, frame_count(golden)),
        surplus=surplus,
        first=first and replace(first, frame=begin + first.frame),
    )


def _together(checks: Sequence[LayerCheck]) -> LayerCheck:
    """Return what several runs of a layer show."""
    return replace(
        checks[0],
        **{name: sum(getattr(check, name) for check in checks) for name in _COUNTED},
        first=next((check.first for check in checks if check.first), None),
    )


def _untaken(layer: Layer, apart: Design, run: SimulationResult, frames: int) -> int:
    """Return how many beats of its inputs a layer did not take: a run that is given up may have all outputs."""
    return sum(
        frames * link.layout.beats - len(run.streams[link.source.stream].words)
        for link in apart.links
        if link.target.layer == layer.name and link.layout is not None
    )
