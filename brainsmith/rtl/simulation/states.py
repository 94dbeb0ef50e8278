"""What the driver works on: the state of a run and of its streams, in the driver's own structures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.rtl.simulation import native
from brainsmith.rtl.simulation.simulation_result import PHASES, Traffic, Watched
from brainsmith.rtl.simulation.stalls import Stalls

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.beats import Words
    from brainsmith.rtl.simulation.ports import Interface, Port, Stream

RESET_CYCLES = 16


@dataclass(frozen=True)
class Ports:
    """The ports of a design, by name and by number.

    Attributes:
        ports: In the driver's order.
    """

    ports: tuple[Port, ...]

    def number(self, name: str) -> int:
        """Return a port's number; -1 if there is none of this name."""
        return next((number for number, port in enumerate(self.ports) if port.name == name), -1)

    def numbers(self, stream: Stream) -> dict[str, int]:
        """Return the numbers of a stream's ports, as the driver's structures call them."""
        return {kind: self.number(getattr(stream, kind)) for kind in ("data", "valid", "ready")}

    def data(self, stream: Stream) -> Port:
        """Return the port of a stream's beats."""
        return self.ports[self.number(stream.data)]


class StreamRun:
    """One stream in one run: its state in the driver, and the arrays to which that points.

    Args:
        stream: Its ports.
        ports: Of the design.
        words: The beats to feed; those of an output are room for what it gives.
        stalls: When the simulation's end stalls.
    """

    def __init__(self, stream: Stream, ports: Ports, words: Words, stalls: Stalls) -> None:
        self.name = stream.name
        self.is_output = not ports.data(stream).is_input
        self._words = words
        self._moved_at: NDArray[np.uint64] = np.zeros(len(words), np.uint64)
        self._pattern: NDArray[np.uint8] = np.array(stalls.bits or (False,), np.uint8)
        self.state = native.StreamState(
            words=native.buffer_address(words),
            moved_at=native.buffer_address(self._moved_at),
            pattern=native.buffer_address(self._pattern),
            word_bytes=words.shape[1],
            beats=len(words),
            pattern_length=len(self._pattern),
            random_state=stalls.seed % (1 << 64),
            threshold=int(stalls.probability * (1 << 64)),
            **ports.numbers(stream),
            is_output=self.is_output,
            stall_kind=native.STALL_KINDS[stalls.kind],
        )

    def traffic(self, state: native.StreamState) -> Traffic:
        """Return what happened at the stream, given its state after the run."""
        return Traffic(
            is_output=self.is_output,
            words=self._words[: state.done],
            moved_at=self._moved_at[: state.done],
            stalled=state.stalled,
            waited=state.waited,
            surplus=state.surplus,
        )


def stream_runs(
    streams: list[Stream],
    ports: Ports,
    inputs: Mapping[str, Words],
    outputs: Mapping[str, int],
    stalls: Mapping[str, Stalls],
) -> list[StreamRun]:
    """Prepare the streams that take part in a run."""
    runs = []
    for stream in streams:
        port = ports.data(stream)
        if port.is_input:
            words = np.ascontiguousarray(inputs[stream.name], np.uint8)
        else:
            words = np.zeros((outputs[stream.name], (port.bits + 7) // 8), np.uint8)
        runs.append(StreamRun(stream, ports, words, stalls.get(stream.name, Stalls())))
    return runs


class MonitorRun:
    """One stream inside of the design in one run: its state in the driver, and the arrays to which that points.

    Args:
        stream: Its ports, all outputs of the design.
        ports: Of the design.
        room: For how many beats.
        window: How many cycles' phases are kept.
    """

    def __init__(self, stream: Stream, ports: Ports, room: int, window: int) -> None:
        self.name = stream.name
        self._words: Words = np.zeros((room, (ports.data(stream).bits + 7) // 8), np.uint8)
        self._moved_at: NDArray[np.uint64] = np.zeros(room, np.uint64)
        self._phases: NDArray[np.uint8] = np.zeros(window, np.uint8)
        self.state = native.MonitorState(
            words=native.buffer_address(self._words),
            moved_at=native.buffer_address(self._moved_at),
            phases=native.buffer_address(self._phases),
            word_bytes=self._words.shape[1],
            room=room,
            **ports.numbers(stream),
        )

    def watched(self, state: native.MonitorState) -> Watched:
        """Return what was seen, given the state after the run."""
        return Watched(
            words=self._words[: state.done],
            moved_at=self._moved_at[: state.done],
            moved=state.done,
            blocked=state.blocked,
            starved=state.starved,
            phase=PHASES[state.phase],
            phases=self._phases,
        )


def run_state(
    interface: Interface,
    ports: Ports,
    streams: ctypes.Array[native.StreamState],
    monitors: ctypes.Array[native.MonitorState],
    limit: int,
    drain: int,
    window: range,
) -> native.RunState:
    """Make the state of a run."""
    return native.RunState(
        streams=streams,
        monitors=monitors,
        stream_count=len(streams),
        monitor_count=len(monitors),
        window_begin=window.start,
        window_cycles=len(window),
        limit=limit,
        drain=drain,
        reset_cycles=RESET_CYCLES,
        clock=ports.number(interface.clock),
        double_clock=ports.number(interface.double_clock),
        reset=ports.number(interface.reset),
        reset_is_low=interface.reset_is_low,
        doubled=interface.doubled,
    )
