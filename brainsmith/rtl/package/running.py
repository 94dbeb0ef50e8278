"""A packed accelerator, prepared once and run any number of times; its tensors at the boundaries of layers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError, InputError, SimulationError, SimulationStalledError
from brainsmith.forks import lock_of
from brainsmith.rtl.package.frame_order import as_frames
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.verification.chances import random_stalls
from brainsmith.rtl.verification.design_runs import frame_cycles, is_short, layout_values, run_design
from brainsmith.rtl.verification.explained_runs import explain
from brainsmith.rtl.verification.watch import build_watched, watch_design

if TYPE_CHECKING:
    from _thread import RLock
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from brainsmith.rtl.package.reading import AcceleratorPackage
    from brainsmith.rtl.simulation.simulation_result import SimulationResult
    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.simulation.stalls import Stalls
    from brainsmith.rtl.stitching.design import Design, Link
    from brainsmith.rtl.verification.watch import WatchedRun

    Tensors = dict[str, NDArray[np.int64]]

RUNS_OF_A_BUILD = 4
"""With all golden frames: one without stalls, three with; a build's simulator is optimised for as much."""

CHECKED = 4
"""Golden frames, at most, with which a simulation is checked when it is prepared."""


@dataclass(frozen=True)
class AcceleratorRun:
    """What came of one run.

    Attributes:
        frames: How many were run.
        outputs: By the design's output tensors: (frames, *shape of one).
        tensors: Likewise, those that were to be kept.
        interval: Cycles from the last beat of a frame to that of the next, on average; None for one frame.
        latency: Cycles from the first beat of the first frame to the last of its result.
        result: Of the simulation.
    """

    frames: int
    outputs: Tensors
    tensors: Tensors
    interval: float | None
    latency: int
    result: SimulationResult

    @property
    def cycles(self) -> int:
        """How many it took, from the end of the reset to the last beat."""
        return self.result.cycles


@dataclass
class RunnablePackage:
    """A package whose simulation is built.

    Attributes:
        package: What was read.
        simulator: Of its files as they are.
        checked: Golden frames that it was seen to compute rightly, with outputs that differ; 0 if none were.
        cache: Where simulations are kept; the user's cache folder by default.
    """

    package: AcceleratorPackage
    simulator: Simulator
    checked: int = 0
    cache: Path | None = None
    _lock: RLock = field(default_factory=partial(lock_of, waits=False), repr=False)
    _watched: dict[bool, Simulator] = field(default_factory=dict, repr=False)

    @property
    def design(self) -> Design:
        """What is simulated."""
        return self.package.design

    def run(
        self,
        inputs: Mapping[str, NDArray[Any]],
        *,
        keep: Collection[str] = (),
        seed: int | None = None,
        limit: int | None = None,
        constant: bool = False,
    ) -> AcceleratorRun:
        """Run frames through the accelerator.

        An output with the same value in all beats, of inputs that differ, is accepted only where the simulation has
        shown before that it computes (`checked`): a broken one would give just that.

        Args:
            inputs: By tensor of the design: (frames, *shape of one), whole numbers that its datatype holds.
            keep: Further tensors to return, of those that move from layer to layer (`boundaries`).
            seed: Of random stalls at all inputs and outputs; none by default.
            limit: The cycles after which the run is given up; it follows the estimate by default.
            constant: Whether to believe outputs that never change in any case.

        Raises:
            InputError: Inputs do not fit, or no boundary has a tensor that is to be kept.
            SimulationError: The design reported an error, or its result cannot be trusted.
            SimulationStalledError: Not all came out within the limit.
        """
        fed = self._frames(inputs)
        links = self._links(keep)
        stalls = {} if seed is None else random_stalls(self.design, seed)
        believed = constant or bool(self.checked) or _alike(fed)
        allowed = [stream.name for stream in self.design.outputs] if believed else []
        try:
            if links:
                return self._watch(fed, links, stalls, limit, allowed)
            run = run_design(self.simulator, self.design, fed, stalls=stalls, limit=limit, constant=allowed)
        except SimulationStalledError as error:
            raise self._explained(error, fed, stalls, limit) from error
        return AcceleratorRun(_count(fed), run.outputs, {}, run.interval, run.latency, run.result)

    def boundaries(self) -> tuple[str, ...]:
        """Return the tensors that move from layer to layer, in the design's order, its inputs and outputs too."""
        return tuple(link.layout.tensor for link in self.design.links if link.layout)

    def _watch(
        self,
        fed: Tensors,
        links: list[Link],
        stalls: Mapping[str, Stalls],
        limit: int | None,
        constant: list[str],
    ) -> AcceleratorRun:
        """Run with probes.

        A layer may leave the last beats, which it does not need, until it has the next frame; where one did, all
        frames are run again with the last of them behind.
        """
        frames = _count(fed)
        simulator = self._watching(frames)

        def watch(given: Tensors) -> WatchedRun:
            run = watch_design(simulator, self.design, given, stalls=stalls, limit=limit, constant=constant)
            if run.result.problem is not None:
                raise run.result.problem
            return run

        run = whole = watch(fed)
        if any(run.targets[link.name].moved < run.beats(link) for link in links):
            whole = watch({name: np.concatenate([values, values[-1:]]) for name, values in fed.items()})
        tensors = {}
        for link in links:
            if link.layout:
                words = whole.targets[link.name].words[: run.beats(link)]
                tensors[link.layout.tensor] = layout_values(link.layout, words, frames)
        outputs = {
            stream.layout.tensor: layout_values(stream.layout, run.result.streams[stream.name].words, frames)
            for stream in self.design.outputs
        }
        interval, latency = frame_cycles(self.design, run.result, frames)
        return AcceleratorRun(frames, outputs, tensors, interval, latency, run.result)

    def _watching(self, frames: int) -> Simulator:
        """Return the simulator with probes."""
        quick = is_short(self.design, frames)
        with self._lock:
            if quick not in self._watched:
                self._watched[quick] = build_watched(self.design, self.cache, quick)
            return self._watched[quick]

    def _frames(self, inputs: Mapping[str, NDArray[Any]]) -> Tensors:
        fed = {}
        for stream in self.design.inputs:
            name = stream.layout.tensor
            try:
                fed[name] = as_frames(np.asarray(inputs[name]), stream.layout, None)
            except ValueError as error:
                raise InputError(f"input '{name}' of the accelerator does not fit: {error}") from error
        return fed

    def _links(self, keep: Collection[str]) -> list[Link]:
        there = {link.layout.tensor: link for link in self.design.links if link.layout}
        unknown = sorted(name for name in keep if name not in there)
        if unknown:
            raise InputError(
                f"no tensor {unknown[0]!r} moves from layer to layer in the accelerator; there are {', '.join(there)}"
            )
        if keep and any(change.startswith(f"hdl/{self.design.top}.v") for change in self.package.changed):
            raise SimulationError(
                f"{self.package.folder}: tensors between layers are seen in a top module of their own, and "
                f"hdl/{self.design.top}.v is not as it was packed: ask for the outputs alone, or build it again"
            )
        return [link for name, link in there.items() if name in keep]

    def _explained(
        self,
        error: SimulationStalledError,
        fed: Tensors,
        stalls: Mapping[str, Stalls],
        limit: int | None,
    ) -> SimulationStalledError:
        text = str(error).replace("run(..., limit=CYCLES)", "execute(..., limit=CYCLES)")
        if limit is None and not self.package.changed:
            text = f"{text}\n{explain(self.design, fed, None, stalls=stalls, cache=self.cache)}"
        return SimulationStalledError(text)


def prepare_package(
    package: AcceleratorPackage, *, frames: int | None = None, check: bool = True, cache: Path | None = None
) -> RunnablePackage:
    """Build a package's simulation, or take the one that is kept, and see that it computes what is golden.

    Args:
        package: What to run.
        frames: How many will be run, about: for many it is optimised, which takes many times as long. By default for
            as many as its build simulated, so that the simulation which that left is used.
        check: Whether to run a few golden frames; it is not done where files were changed or golden vectors
            are missing.
        cache: Where simulations are kept; the user's cache folder by default.

    Raises:
        BuildError: A file of the package cannot be read.
        SimulationError: The tools reject a source, or the golden frames do not have the golden outputs.
        ToolError: g++ or Verilator is missing.
    """
    golden = {} if package.changed else _golden(package)
    count = max((len(values) for values in golden.values()), default=1)
    quick = is_short(package.design, RUNS_OF_A_BUILD * count if frames is None else frames)
    runnable = RunnablePackage(package, build_simulator(package.plan(), cache=cache, quick=quick), 0, cache)
    if check and golden:
        runnable.checked = _check(runnable, golden)
    return runnable


def _check(runnable: RunnablePackage, golden: Mapping[str, NDArray[Any]]) -> int:
    """Run golden frames, among them two whose outputs differ; return how many, or 0 if no two differ."""
    design = runnable.design
    first = next(stream for stream in design.outputs)
    outputs = golden[first.name].reshape(len(golden[first.name]), -1)
    others = np.flatnonzero((outputs != outputs[0]).any(axis=1))
    chosen = [0, *(int(at) for at in others[: CHECKED - 1])]
    run = runnable.run(
        {stream.layout.tensor: golden[stream.name][chosen] for stream in design.inputs}, constant=True
    )
    wrong = [
        frame
        for at, frame in enumerate(chosen)
        if any((run.outputs[s.layout.tensor][at] != golden[s.name][frame]).any() for s in design.outputs)
    ]
    if wrong:
        raise SimulationError(
            f"{runnable.package.folder}: {len(wrong)} of {len(chosen)} golden frames, first frame {wrong[0]}, do not "
            "have the golden outputs, so the simulation is not trusted\n"
            "  brainsmith simulate DIR says more; build the accelerator again"
        )
    return len(chosen) if len(others) else 0


def _golden(package: AcceleratorPackage) -> dict[str, NDArray[Any]]:
    """Return the golden vectors of all streams; nothing if somebody took some out."""
    try:
        return {
            stream.name: package.golden(stream.name)
            for stream in (*package.design.inputs, *package.design.outputs)
        }
    except BuildError:
        return {}


def _alike(fed: Tensors) -> bool:
    return all((values == values[:1]).all() for values in fed.values())


def _count(fed: Tensors) -> int:
    return len(next(iter(fed.values())))
