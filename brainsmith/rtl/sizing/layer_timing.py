"""When one layer takes and gives beats that arrive by a schedule: simulated until it repeats."""

from __future__ import annotations

from math import ceil, lcm
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.errors import SimulationError, SimulationStalledError
from brainsmith.figures import plural
from brainsmith.rtl.simulation.native import opened
from brainsmith.rtl.simulation.replay import Replay
from brainsmith.rtl.sizing.gauges import enough_frames
from brainsmith.rtl.sizing.traces import THROUGH, LayerTiming, SlowerError, Trace, most_waiting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.sizing.traces import Cycles

_IDLE = 64
_MOST = 256
"""Frames for which a layer is simulated at most, where it gives none."""


def time_layer(
    simulator: Simulator, arrivals: Mapping[str, Trace], given: Mapping[str, int], interval: int
) -> LayerTiming:
    """Simulate a layer until it repeats.

    Args:
        simulator: Of the layer alone.
        arrivals: When beats go into the FIFOs before it, by its inputs.
        given: How many beats a frame has, by its outputs, which are never stalled.
        interval: Cycles from one frame to the next.

    Raises:
        SlowerError: More and more beats would wait.
        SimulationStalledError: It gives nothing more.
        SimulationError: It reported an error, or gives more or fewer beats than its frames have.
    """
    with opened(simulator.library, simulator.plan.top) as handle:
        return _Timing(Replay(simulator, handle), arrivals, given, interval).run()


class _Timing:
    """A layer while it is simulated, and what moved so far."""

    def __init__(
        self, replay: Replay, arrivals: Mapping[str, Trace], given: Mapping[str, int], interval: int
    ) -> None:
        self._replay = replay
        self._arrivals = arrivals
        self._interval = interval
        self._beats = {**{name: trace.beats for name, trace in arrivals.items()}, **given}
        self._given = given
        self._moved: dict[str, list[Cycles]] = {name: [] for name in self._beats}
        self._counts = dict.fromkeys(self._beats, 0)
        self._cycles = 0

    def run(self) -> LayerTiming:
        """Go on until the state returns, or long enough."""
        self._skip_idle()
        turn = lcm(*(trace.repeated for trace in self._arrivals.values()))
        seen: dict[bytes, tuple[int, dict[str, int]]] = {}
        at = 0
        while not self._is_enough():
            state = self._replay.state() if self._is_periodic() else None
            if state is not None:
                begin, before = seen.setdefault(state, (at, dict(self._counts)))
                if begin < at and (at - begin) % turn == 0:
                    if self._keeps_up(at - begin, before):
                        return self._settled(at - begin, before)
                    self._check_rate(at - begin, before)
                    seen[state] = (at, dict(self._counts))
            self._step(self._interval)
            at += 1
        return self._unsettled()

    def _step(self, cycles: int) -> bool:
        """Run some cycles, and tell whether any beat moved."""
        end = self._replay.cycle + cycles
        due = {
            name: (trace.between(self._counts[name], end - THROUGH) + THROUGH).astype(np.uint64)
            for name, trace in self._arrivals.items()
        }
        moved = self._replay.run(cycles, due)
        self._cycles += cycles
        for name, times in moved.items():
            self._counts[name] += len(times)
            self._moved[name].append(times.astype(np.int64))
        return any(map(len, moved.values()))

    def _skip_idle(self) -> None:
        """Go on to the first arrival: what changes nothing in a cycle without arrivals never does until then."""
        first = min(int(trace.frames[0, 0]) for trace in self._arrivals.values())
        cycles = _IDLE
        while self._replay.cycle + cycles + 1 < first:
            if not self._step(cycles):
                state = self._replay.state()
                if state is not None and not self._step(1) and self._replay.state() == state:
                    self._replay.skip(first)
            cycles *= 2

    def _is_periodic(self) -> bool:
        """Tell whether all beats arrive periodically that are due from now on, and those that were not taken yet did."""
        return all(
            self._replay.cycle >= trace.settled + THROUGH
            and self._counts[name] >= (len(trace.frames) - trace.repeated) * trace.beats
            for name, trace in self._arrivals.items()
        )

    def _keeps_up(self, frames: int, before: Mapping[str, int]) -> bool:
        """Tell whether as many beats were taken as frames have, since so many had been."""
        return all(
            self._counts[name] - before[name] == frames * trace.beats
            for name, trace in self._arrivals.items()
        )

    def _check_rate(self, frames: int, before: Mapping[str, int]) -> None:
        """Refuse a layer that never waited for a beat, is in a state that it had before, and took fewer than arrived.

        Raises:
            SlowerError: It did.
            SimulationStalledError: It took none.
        """
        begin = self._replay.cycle - frames * self._interval
        for name, trace in self._arrivals.items():
            taken = self._times(name)[before[name] :]
            due = trace.between(before[name], self._replay.cycle)[: len(taken) + 1] + THROUGH
            if len(due) <= len(taken) or due[0] > begin or (due[1:] > taken + 1).any():
                return
        for name, trace in self._arrivals.items():
            gone = self._counts[name] - before[name]
            if not gone:
                raise SimulationStalledError(
                    f"it took {plural(self._counts[name], 'beat')} of its input {name!r}, and takes no more"
                )
            if gone < frames * trace.beats:
                raise SlowerError(ceil(frames * self._interval * trace.beats / gone))

    def _settled(self, frames: int, before: Mapping[str, int]) -> LayerTiming:
        """Return what repeats after so many frames, given how many beats had moved when they began.

        Raises:
            SimulationError: What is given are not whole frames.
        """
        gone = {name: count - before[name] for name, count in self._counts.items()}
        for name, beats in self._given.items():
            if gone[name] != frames * beats:
                count, each = plural(frames, "frame"), plural(beats, "beat")
                raise SimulationError(
                    f"output {name!r} gives {plural(gone[name], 'beat')} for {count} of {each}"
                )
        given = {
            name: repeated(self._times(name), before[name], beats, frames, self._interval)
            for name, beats in self._given.items()
        }
        return LayerTiming(self._fills(), given, True, self._cycles)

    def _is_enough(self) -> bool:
        """Tell whether as many frames were simulated as the whole design would run."""
        if any(self._counts[name] < beats for name, beats in self._given.items()):
            return self._cycles > _MOST * self._interval
        if any(self._counts[name] < 2 * beats for name, beats in self._given.items()):
            return False
        first = max(self._times(name)[beats - 1] for name, beats in self._given.items())
        return self._replay.cycle >= enough_frames(ceil(first / self._interval)) * self._interval

    def _unsettled(self) -> LayerTiming:
        """Return what was seen; the last frame is taken to repeat.

        Raises:
            SlowerError: The frames of the last half were taken more slowly than they arrive.
            SimulationStalledError: No whole frame was given.
        """
        for name, trace in self._arrivals.items():
            ends = self._times(name)[trace.beats - 1 :: trace.beats]
            half = len(ends) // 2
            longest = ceil((ends[-1] - ends[-1 - half]) / half) if half else 0
            if longest > self._interval:
                raise SlowerError(longest)
        given = {}
        for name, beats in self._given.items():
            times = self._times(name)
            count = len(times) // beats
            if not count:
                raise SimulationStalledError(
                    f"output {name!r} gave {len(times)} of the {plural(beats, 'beat')} of a frame"
                )
            given[name] = Trace(times[: count * beats].reshape(count, beats), 1, self._interval).shortest()
        return LayerTiming(self._fills(), given, False, self._cycles)

    def _fills(self) -> dict[str, int]:
        return {
            name: most_waiting(trace.between(0, self._replay.cycle), self._times(name))
            for name, trace in self._arrivals.items()
        }

    def _times(self, name: str) -> Cycles:
        """Return when all beats of a stream moved, as one array from now on."""
        whole = np.concatenate([*self._moved[name], np.empty(0, np.int64)])
        self._moved[name] = [whole]
        return whole


def repeated(times: Cycles, begin: int, beats: int, frames: int, interval: int) -> Trace:
    """Return the trace of beats that repeat.

    Args:
        times: Of all that moved until the end of the frames that repeat.
        begin: How many had moved before these.
        beats: Of a frame.
        frames: How many repeat: what comes after `times` is as from `begin` on.
        interval: Cycles from one frame to the next.
    """
    whole = -(-begin // beats)  # frames until one begins that repeats
    missing = whole * beats - begin
    more = times[begin : begin + missing] + frames * interval
    known = np.concatenate([times, more]).reshape(whole + frames, beats)
    return Trace(known, frames, interval).shortest()
