"""Replay a schedule: beats without values that arrive, and are taken, when they are due."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.errors import SimulationError
from brainsmith.plugin.processes import Workers
from brainsmith.progress import tick
from brainsmith.rtl.simulation import native
from brainsmith.rtl.simulation.simulator import SLICE
from brainsmith.rtl.simulation.states import run_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.simulator import Simulator

    Cycles = NDArray[np.uint64]

_NEVER = (1 << 63) - 1


class Replay:
    """A fresh copy of a design that runs some cycles at a time.

    All beats are 0, so that what is remembered of them is the same for all of them.

    Args:
        simulator: Of the design.
        handle: That of a copy which was `opened`.
    """

    def __init__(self, simulator: Simulator, handle: int) -> None:
        self._simulator = simulator
        self._library, self._handle = simulator.library, handle
        streams, ports = simulator.interface.streams, simulator.ports
        self._at = {stream.name: at for at, stream in enumerate(streams)}
        self._states = (native.StreamState * len(streams))(
            *(native.StreamState(**ports.numbers(stream)) for stream in streams)
        )
        for state, stream in zip(self._states, streams, strict=True):
            state.is_output = not ports.data(stream).is_input
        self._run = run_state(
            simulator.interface, ports, self._states, (native.MonitorState * 0)(), _NEVER, _NEVER, range(0)
        )
        self._library.brainsmith_start(handle, self._run)

    @property
    def cycle(self) -> int:
        """The next cycle; 0 is the first after the reset."""
        return int(self._run.cycle)

    def state(self) -> bytes | None:
        """Return all that the design remembers, and what is offered to it; None where that is not known."""
        size = self._library.brainsmith_state_bytes(self._handle)
        if not size:
            return None
        held = ctypes.string_at(self._library.brainsmith_state(self._handle), size)
        return held + bytes(bool(state.offered) for state in self._states if not state.is_output)

    def skip(self, cycle: int) -> None:
        """Go on to a later cycle, where a design that changes nothing in itself would be as it is now."""
        self._run.cycle = cycle

    def run(self, cycles: int, due: Mapping[str, Cycles]) -> dict[str, Cycles]:
        """Run some cycles.

        Args:
            cycles: How many.
            due: By input, the cycles from which the beats that it has not taken yet may move, in order: all that are due
                until the end. By output, likewise; one that is left out is always taken.

        Returns:
            By stream, the cycles in which beats moved.

        Raises:
            SimulationError: The design reported an error.
        """
        moved = {}
        for name, at in self._at.items():
            state = self._states[at]
            scheduled = name in due or not state.is_output
            room = len(due[name]) if scheduled else cycles
            moved[name] = np.empty(room, np.uint64)
            state.moved_at = native.buffer_address(moved[name])
            state.beats, state.done = room, 0
            state.stall_kind = native.SCHEDULE if scheduled else native.STALL_KINDS["none"]
            if scheduled:
                state.schedule = native.buffer_address(due[name])
        self._step(cycles)
        return {name: times[: self._states[self._at[name]].done] for name, times in moved.items()}

    def _step(self, cycles: int) -> None:
        end = self.cycle + cycles
        while self.cycle < end:
            some = min(SLICE, end - self.cycle)
            if self._library.brainsmith_step(self._handle, self._run, some) == native.FAULT:
                text = self._library.brainsmith_messages(self._handle).decode(errors="replace").strip()
                raise SimulationError(
                    f"{self._simulator.plan.top!r} reports an error in cycle {self.cycle}: {text}"
                )
            Workers.go_on()
            tick()
