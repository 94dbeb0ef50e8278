"""A packed accelerator, prepared once and run any number of times; its tensors at the boundaries of layers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import InputError, SimulationError, SimulationStalledError
from brainsmith.forks import lock_of
from brainsmith.rtl.package.frame_order import design_frames
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.verification.chances import random_stalls
from brainsmith.rtl.verification.design_runs import (
    frame_count,
    is_short,
    layout_values,
    run_design,
    whole_frames,
)
from brainsmith.rtl.verification.explained_runs import explain
from brainsmith.rtl.verification.link_watch import build_watched, watch_design

if TYPE_CHECKING:
    from _thread import RLock
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from brainsmith.rtl.package.reading import AcceleratorPackage
    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.stitching.design import Design, Link
    from brainsmith.rtl.verification.design_runs import DesignRun, RunOptions
    from brainsmith.rtl.verification.link_watch import WatchedRun

    Tensors = dict[str, NDArray[np.int64]]

RUNS_OF_A_BUILD = 4
"""With all golden frames: one without stalls, three with; a build's simulator is optimised for as much."""

CHECKED = 4
"""Golden frames, at most, with which a simulation is checked when it is prepared."""


@dataclass
class RunnablePackage:
    """A package whose simulation is built.

    Attributes:
        package: What was read.
        simulator: Of its files as they are.
        checked: Golden frames that it was seen to compute rightly, with outputs that differ; 0 if none were.
        constant: Golden values of outputs, by their streams, that are the same in all golden frames, which it was seen
            to give. If such an output never changes, it must have these values.
    """

    package: AcceleratorPackage
    simulator: Simulator
    checked: int = 0
    constant: Mapping[str, NDArray[Any]] = field(default_factory=dict)
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
        constant: Collection[str] = (),
        trace: Path | None = None,
    ) -> DesignRun:
        """Run frames through the accelerator.

        An output with the same value in all beats, of inputs that differ, is accepted only where the simulation has
        shown before that it computes (`checked`): a broken one would give just that.

        Args:
            inputs: By tensor of the design: (frames, *shape of one), whole numbers that its datatype holds.
            keep: Further tensors to return, of those that move from layer to layer (`boundaries`).
            seed: Of random stalls at all inputs and outputs; none by default.
            limit: The cycles after which the run is given up; it follows the estimate by default.
            constant: Outputs, by their streams, that may never change in any case.
            trace: The VCD file to write; the simulator must have been built with it.

        Raises:
            InputError: Inputs do not fit, or no boundary has a tensor that is to be kept.
            SimulationError: The design reported an error, or its result cannot be trusted.
            SimulationStalledError: Not all came out within the limit.
        """
        fed = design_frames(self.design, inputs)
        links = self._links(keep)
        stalls = {} if seed is None else random_stalls(self.design, seed)
        believed = self.checked or all((values == values[:1]).all() for values in fed.values())
        allowed = [stream.name for stream in self.design.outputs] if believed else [*constant, *self.constant]
        how: RunOptions = {"stalls": stalls, "limit": limit, "constant": allowed, "trace": trace}
        try:
            if links:
                run = self._watch(fed, links, how)
            else:
                run = run_design(self.simulator, self.design, fed, **how)
            self._refuse_other_values(run, constant)
            return run
        except SimulationStalledError as error:
            # What is watched is made from design.json, so it shows what happened only if no source was changed.
            if limit is not None or self.package.changed:
                raise
            found = explain(self.design, fed, None, stalls=stalls)
            raise SimulationStalledError(f"{error}\n{found}") from error

    def boundaries(self) -> tuple[str, ...]:
        """Return the tensors that move from layer to layer, in the design's order, its inputs and outputs too."""
        return tuple(link.layout.tensor for link in self.design.links if link.layout)

    def _refuse_other_values(self, run: DesignRun, allowed: Collection[str]) -> None:
        """Raise if an output that is golden with one value only never changes, and has another one."""
        for stream in self.design.outputs:
            if stream.name not in self.constant or stream.name in allowed:
                continue
            values, golden = run.outputs[stream.layout.tensor], self.constant[stream.name]
            if (values == values[:1]).all() and (values[0] != golden).any():
                raise SimulationError(
                    f"output '{stream.name}' of {self.design.top!r} never changes, and its value is not the one that it "
                    "has in all golden frames, so the simulation proves nothing"
                )

    def _watch(self, fed: Tensors, links: list[Link], how: RunOptions) -> DesignRun:
        """Run with probes.

        A layer may leave the last beats, which it does not need, until it has the next frame; where one did, all
        frames are run again with the last of them behind.
        """
        frames = frame_count(fed)
        simulator = self._watching(frames)

        def watch(given: Tensors) -> WatchedRun:
            return watch_design(simulator, self.design, given, **how).trusted()

        run = whole = watch(fed)
        if any(run.targets[link.name].moved < run.beats(link) for link in links):
            whole = watch({name: np.concatenate([values, values[-1:]]) for name, values in fed.items()})
        tensors = {}
        for link in links:
            if link.layout:
                words = whole.targets[link.name].words[: run.beats(link)]
                tensors[link.layout.tensor] = layout_values(link.layout, words, frames)
        return replace(whole_frames(self.design, run.result, frames), tensors=tensors)

    def _watching(self, frames: int) -> Simulator:
        """Return the simulator with probes."""
        quick = is_short(self.design, frames)
        with self._lock:
            if quick not in self._watched:
                self._watched[quick] = build_watched(self.design, quick)
            return self._watched[quick]

    def _links(self, keep: Collection[str]) -> list[Link]:
        there = {link.layout.tensor: link for link in self.design.links if link.layout}
        unknown = sorted(name for name in keep if name not in there)
        if unknown:
            raise InputError(
                f"no tensor {unknown[0]!r} moves from layer to layer in the accelerator; those that do are "
                f"{', '.join(there)}"
            )
        if keep and any(change.startswith(f"hdl/{self.design.top}.v") for change in self.package.changed):
            raise SimulationError(
                f"{self.package.folder}: tensors between layers are seen in a top module of their own, and "
                f"hdl/{self.design.top}.v is not as it was packed: ask for the outputs alone, or build it again"
            )
        return [link for name, link in there.items() if name in keep]


def prepare_package(
    package: AcceleratorPackage, *, frames: int | None = None, check: bool = True
) -> RunnablePackage:
    """Build a package's simulation, or take the one that is kept, and see that it computes what is golden.

    Args:
        package: What to run.
        frames: How many will be run, about: for many it is optimised, which takes many times as long. By default for
            as many as its build simulated, so that the simulation which that left is used.
        check: Whether to run a few golden frames; it is not done where files were changed or golden vectors
            are missing.

    Raises:
        BuildError: A file of the package cannot be read.
        SimulationError: The tools reject a source, or the golden frames do not have the golden outputs.
        ToolError: g++ or Verilator is missing.
    """
    golden = {} if package.changed else package.all_golden()
    count = max((len(values) for values in golden.values()), default=1)
    quick = is_short(package.design, RUNS_OF_A_BUILD * count if frames is None else frames)
    runnable = RunnablePackage(package, build_simulator(package.watched_plan(), quick=quick))
    if check and golden:
        runnable.checked = _check(runnable, golden)
    return runnable


def _check(runnable: RunnablePackage, golden: Mapping[str, NDArray[Any]]) -> int:
    """Run golden frames, among them two whose outputs differ; return how many, or 0 if no two differ."""
    design = runnable.design
    first = next(stream for stream in design.outputs)
    outputs = golden[first.name].reshape(len(golden[first.name]), -1)
    others = np.flatnonzero((outputs != outputs[0]).any(axis=1))
    constant = {
        stream.name: golden[stream.name][0].reshape(stream.layout.shape)
        for stream in design.outputs
        if (golden[stream.name] == golden[stream.name][:1]).all()
    }
    chosen = [0, *(int(at) for at in others[: CHECKED - 1])]
    run = runnable.run(
        {stream.layout.tensor: golden[stream.name][chosen] for stream in design.inputs},
        constant=[stream.name for stream in design.outputs],
    )
    wrong = [
        frame
        for at, frame in enumerate(chosen)
        if any((run.outputs[s.layout.tensor][at] != golden[s.name][frame]).any() for s in design.outputs)
    ]
    if wrong:
        raise SimulationError(
            f"{runnable.package.folder}: {len(wrong)} of {len(chosen)} golden frames, first frame {wrong[0]}, do not "
            "have the golden outputs, so this simulation cannot be relied on\n"
            "  brainsmith simulate DIR says more; build the accelerator again"
        )
    runnable.constant = constant
    return len(chosen) if len(others) else 0
