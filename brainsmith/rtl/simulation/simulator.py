"""Run a simulation: feed and collect streams, with stalls, until every beat has moved; trust nothing that did not."""

from __future__ import annotations

import ctypes
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from brainsmith.errors import OutputError, SimulationError, SimulationStalledError
from brainsmith.monitoring.work_span import STALLED, WorkSpan
from brainsmith.plugin.processes import Workers
from brainsmith.progress import Task
from brainsmith.rtl.simulation import native
from brainsmith.rtl.simulation.run_checks import (
    check_request,
    describe_fault,
    describe_stall,
    find_problem,
)
from brainsmith.rtl.simulation.simulation_result import SimulationResult
from brainsmith.rtl.simulation.states import MonitorRun, Ports, run_state, stream_runs

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from brainsmith.rtl.simulation.beats import Words
    from brainsmith.rtl.simulation.ports import Interface, Port, Stream
    from brainsmith.rtl.simulation.simulation_plan import SimulationPlan
    from brainsmith.rtl.simulation.stalls import Stalls

SLICE = 100_000
"""Cycles between two looks at whether the user wants to stop, at most; a slow design is looked at more often."""

_FIRST_SLICE = 1_000
_SLICE_SECONDS = 0.2

DRAIN_CYCLES = 64

_ENDS: dict[int, Literal["limit", "fault"]] = {native.LIMIT: "limit", native.FAULT: "fault"}


class Simulator:
    """One design, compiled. Each run begins with a reset of a fresh copy of it, so runs do not depend on each other.

    Attributes:
        plan: What it was made of.
        ports: The design's ports.
        interface: How it is driven.
        library: The driver and the design; `native` says what it has.
        key: Stands for all that it was built of.
    """

    def __init__(
        self,
        plan: SimulationPlan,
        ports: tuple[Port, ...],
        interface: Interface,
        library: ctypes.CDLL,
        key: str,
    ) -> None:
        self.plan = plan
        self.key = key
        self.ports = Ports(ports)
        self.interface = interface
        self.library = library

    def run(
        self,
        inputs: Mapping[str, Words],
        outputs: Mapping[str, int],
        *,
        stalls: Mapping[str, Stalls] | None = None,
        estimate: int | None = None,
        limit: int | None = None,
        drain: int = DRAIN_CYCLES,
        idle: Collection[str] = (),
        surplus: Collection[str] = (),
        constant: Collection[str] = (),
        trace: Path | None = None,
        held: Mapping[str, int] | None = None,
        watched: Mapping[Stream, int] | None = None,
        window: range = range(0),
        judge: bool = True,
    ) -> SimulationResult:
        """Run the design until every input beat was taken and every output beat was given.

        Args:
            inputs: The beats of each input, as `beats.pack` makes them.
            outputs: How many beats each output gives.
            stalls: When the ends of the streams stall; never by default.
            estimate: The cycles that the run should take without stalls. The run is given up after ten times as
                many, and more if the stalls slow it down.
            limit: The cycles after which the run is given up, instead.
            drain: Cycles after the last beat in which the design must not offer another one.
            idle: Streams that are neither fed nor emptied, such as the selector of a memory that holds one set.
            surplus: Outputs that may offer more than is asked for, such as those of a memory of weights, which never
                end, or of a layer that begins a frame with padding before its first beat.
            constant: Outputs that may have the same value in all their beats.
            trace: The VCD file to write; the plan must have been made with `trace=True`.
            held: Values that inputs outside of streams keep for the whole run, such as a depth; beside those of the
                interface, and 0 by default.
            watched: Streams inside of the design whose three ports are its outputs, and of each how many beats are
                kept.
            window: The cycles for which the result says what each watched stream did.
            judge: Whether a result that cannot be trusted is an error; else the result names that as its problem.

        Raises:
            SimulationStalledError: The limit was reached; which beats are missing where.
            SimulationError: The request does not fit the design, the design reported an error or a memory that was
                not found, gave too many beats, or the same value in every beat.
            OutputError: The VCD file cannot be written.
        """
        chosen = dict(stalls or {})
        values_held = {**dict(self.interface.held), **(held or {})}
        check_request(self, inputs, outputs, chosen, idle, trace, values_held, watched or {})
        used = [stream for stream in self.interface.streams if stream.name not in idle]
        runs = stream_runs(used, self.ports, inputs, outputs, chosen)
        states = (native.StreamState * len(runs))(*(run.state for run in runs))
        looks = [
            MonitorRun(stream, self.ports, room, len(window)) for stream, room in (watched or {}).items()
        ]
        monitors = (native.MonitorState * len(looks))(*(look.state for look in looks))
        given = limit if limit is not None else default_limit(inputs, outputs, chosen, estimate)
        state = run_state(self.interface, self.ports, states, monitors, given, drain, window)
        about = {"brainsmith.design.name": self.plan.top}
        with WorkSpan("simulation", f"{__name__}.Simulator.run", {**about}) as span:
            outcome, seconds, values, messages = self._execute(state, trace, values_held)
            span.set("brainsmith.simulation.cycles", state.cycle)
            traffic = {run.name: run.traffic(after) for run, after in zip(runs, states, strict=True)}
            seen = {look.name: look.watched(after) for look, after in zip(looks, monitors, strict=True)}
            result = SimulationResult(state.cycle - state.drained, seconds, traffic, values, messages, seen)
            if outcome == native.FAULT:
                problem: SimulationError | None = SimulationError(describe_fault(self, result))
            elif outcome == native.LIMIT:
                problem = describe_stall(self, result, states, given)
            else:
                problem = find_problem(self, result, inputs, surplus, constant)
            if isinstance(problem, SimulationStalledError):
                span.outcome = STALLED
            elif problem is not None:
                span.failed(problem)
        if problem is not None and judge:
            raise problem
        return replace(result, problem=problem, outcome=_ENDS.get(outcome, "complete"))

    def _execute(
        self, state: native.RunState, trace: Path | None, held: Mapping[str, int]
    ) -> tuple[int, float, dict[str, int], str]:
        """Run to the end; return how it ended, the seconds, the other outputs' values, and what was printed."""
        library = self.library
        with native.opened(library, self.plan.top, trace) as handle:
            for name, value in held.items():
                library.brainsmith_hold(handle, self.ports.number(name), value)
            begin = time.perf_counter()
            outcome = library.brainsmith_start(handle, state)
            if outcome == native.RUNNING:
                outcome = self._step(handle, state)
            seconds = time.perf_counter() - begin
            values = self._values(handle)
            error = ctypes.create_string_buffer(1024)
            if library.brainsmith_finish(handle, error, len(error)) == native.FAULT:
                # Verilator's writer puts its own name before the system's reason.
                reason = error.value.decode(errors="replace").rpartition("bufferFlush: ")[2]
                raise OutputError(f"{trace}: the waveforms cannot be written: {reason}")
            return outcome, seconds, values, library.brainsmith_messages(handle).decode(errors="replace")

    def _step(self, handle: int, state: native.RunState) -> int:
        """Go on to the end, and say meanwhile how many beats the outputs have given."""
        outputs = [number for number in range(state.stream_count) if state.streams[number].is_output]
        total = sum(state.streams[number].beats for number in outputs)
        cycles, before = _FIRST_SLICE, time.monotonic()
        with Task(f"simulating {self.plan.top!r}", total, "beats") as task:
            while (outcome := self.library.brainsmith_step(handle, state, cycles)) == native.RUNNING:
                task.at(sum(state.streams[number].done for number in outputs))
                Workers.go_on()
                now = time.monotonic()
                cycles = min(2 * cycles, SLICE) if now - before < _SLICE_SECONDS else max(cycles // 2, 1)
                before = now
        return int(outcome)

    def _values(self, handle: int) -> dict[str, int]:
        of_streams = {name for stream in self.interface.streams for name in stream.ports}
        return {
            port.name: int(self.library.brainsmith_value(handle, number))
            for number, port in enumerate(self.ports.ports)
            if not port.is_input and port.bits <= 64 and port.name not in of_streams
        }


def default_limit(
    inputs: Mapping[str, Words],
    outputs: Mapping[str, int],
    stalls: Mapping[str, Stalls],
    estimate: int | None,
) -> int:
    """Return the cycles after which a run is given up.

    Ten times the estimate, or without one a hundred times the beats of the longest stream; in both cases 1,000 more,
    and as many times more as the stalls of all streams together slow the run down at most.
    """
    longest = max([*(len(words) for words in inputs.values()), *outputs.values()], default=0)
    cycles = 100 * longest if estimate is None else 10 * estimate
    slowed = 1.0
    for stall in stalls.values():
        slowed /= 1 - stall.share
    return int((cycles + 1000) * slowed)
