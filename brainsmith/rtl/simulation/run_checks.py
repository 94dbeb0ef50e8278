"""Judge a simulation: whether what is asked fits the design, and whether its result can be relied on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import OutputError, SimulationError, SimulationStalledError
from brainsmith.figures import plural

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from brainsmith.rtl.simulation.beats import Words
    from brainsmith.rtl.simulation.native import StreamState
    from brainsmith.rtl.simulation.ports import Stream
    from brainsmith.rtl.simulation.simulation_result import SimulationResult
    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.simulation.stalls import Stalls

_SHOWN = 5


def check_request(
    simulator: Simulator,
    inputs: Mapping[str, Words],
    outputs: Mapping[str, int],
    stalls: Mapping[str, Stalls],
    idle: Collection[str],
    trace: Path | None,
    held: Mapping[str, int],
    watched: Collection[Stream],
) -> None:
    """Make sure that each stream of the design is given what it needs, and nothing else is given.

    Values are held at inputs that are wide enough and in no stream, and outputs are watched.

    Raises:
        SimulationError: All that does not fit.
        OutputError: The VCD file cannot be written.
    """
    streams = simulator.interface.streams
    data = {stream.name: simulator.ports.data(stream) for stream in streams}
    ends = {name: not port.is_input for name, port in data.items()}
    problems = [
        f"there is no stream {name!r} to {what}; the streams are {', '.join(ends)}"
        for what, names in (("leave idle", idle), ("stall", stalls))
        for name in names
        if name not in ends
    ]
    for kind, given, is_output in (("input", inputs, False), ("output", outputs, True)):
        wanted = [name for name, end in ends.items() if end == is_output and name not in idle]
        problems += [
            f"{kind} {name!r} is not given; idle=... names streams that are not used"
            for name in wanted
            if name not in given
        ]
        problems += [
            f"there is no {kind} {name!r}; known are {', '.join(wanted) or 'none'}"
            for name in given
            if name not in wanted
        ]
    problems += [
        problem
        for name, words in inputs.items()
        if ends.get(name) is False
        for problem in _misfits(name, words, data[name].bits)
    ]
    if trace is not None and not simulator.plan.trace:
        problems.append("it was built without waveforms: plan_simulation(..., trace=True)")
    problems += _port_problems(simulator, held, watched)
    if problems:
        listed = "".join(f"\n  {problem}" for problem in problems)
        raise SimulationError(f"the simulation of {simulator.plan.top!r} cannot be run as asked:{listed}")
    if trace is not None and not trace.parent.is_dir():
        raise OutputError(f"{trace}: there is no such folder; make it first")


def _port_problems(simulator: Simulator, held: Mapping[str, int], watched: Collection[Stream]) -> list[str]:
    """Return which values cannot be held at an input, and which streams cannot be watched."""
    interface = simulator.interface
    driven = {name for stream in interface.streams for name in stream.ports}
    driven |= {interface.clock, interface.double_clock, interface.reset}
    widths = {port.name: port.bits for port in simulator.ports.ports if port.is_input and port.bits <= 64}
    problems = [
        f"input {name!r} has {plural(widths[name], 'bit')}, and cannot be held at {value}"
        if name in widths and name not in driven
        else f"there is no input {name!r} to hold at a value"
        for name, value in held.items()
        if name not in widths or name in driven or not 0 <= value < 1 << widths[name]
    ]
    outputs = {port.name for port in simulator.ports.ports if not port.is_input}
    return problems + [
        f"stream {stream.name!r} cannot be watched: there is no output {name!r}"
        for stream in watched
        for name in stream.ports
        if name not in outputs
    ]


def _misfits(name: str, words: Words, bits: int) -> list[str]:
    """Return what is wrong with an input's beats."""
    size = (bits + 7) // 8
    if words.ndim != 2 or words.shape[1] != size or words.dtype != "uint8":
        return [
            f"input {name!r} takes rows of {plural(size, 'byte')} (pack(values, bits, {bits})), "
            f"not {words.dtype} {words.shape}"
        ]
    if not len(words):
        return [f"input {name!r} has no beats, so nothing would be simulated"]
    if bits % 8 and (words[:, -1] >> (bits % 8)).any():
        return [f"input {name!r} has {plural(bits, 'bit')}, and its beats have bits set beyond them"]
    return []


def find_problem(
    simulator: Simulator,
    result: SimulationResult,
    inputs: Mapping[str, Words],
    surplus: Collection[str],
    constant: Collection[str],
) -> SimulationError | None:
    """Return why a complete run shows nothing: an output gave too many beats, or one value in several; None if not."""
    top = simulator.plan.top
    for name, traffic in result.streams.items():
        if traffic.is_output and traffic.surplus and name not in surplus:
            return SimulationError(
                f"{top!r} offers more than the {plural(len(traffic.words), 'beat')} that were asked for "
                f"at output {name!r}\n"
                "  ask for all of them; surplus=... names outputs that may do so"
            )
    if inputs and not any((words != words[:1]).any() for words in inputs.values()):
        return None
    for name, traffic in result.streams.items():
        unchanged = len(traffic.words) > 1 and not (traffic.words != traffic.words[:1]).any()
        if traffic.is_output and unchanged and name not in constant:
            value = traffic.words[0, ::-1].tobytes().hex()
            return SimulationError(
                f"all {len(traffic.words)} beats of output {name!r} of {top!r} have the same value, 0x{value}, so the "
                "simulation shows nothing\n"
                f"  look at what the design loads ({', '.join(simulator.plan.memory_names()[:_SHOWN]) or 'no memory'}); "
                "constant=... names outputs that may be so"
            )
    return None


def describe_fault(simulator: Simulator, result: SimulationResult) -> str:
    """Return the message for a design that reported an error, or asked for a file that does not exist."""
    lines = "".join(f"\n  {line}" for line in result.messages.strip().splitlines()[-_SHOWN:])
    hint = ""
    if "readmem" in result.messages:
        found = ", ".join(simulator.plan.memory_names()[:_SHOWN]) or "none"
        hint = f"\n  memory contents in the plan: {found}; plan_simulation(..., generated=FOLDER) adds a folder's"
    return f"{simulator.plan.top!r} reports an error in cycle {result.cycles}:{lines}{hint}"


def describe_stall(
    simulator: Simulator, result: SimulationResult, streams: ctypes.Array[StreamState], limit: int
) -> SimulationStalledError:
    """Return the error for a run that reached its limit: for each stream what is pending, and since when."""
    lines = []
    for (name, traffic), state in zip(result.streams.items(), streams, strict=True):
        if state.done == state.beats:
            continue
        last = f"the last one in cycle {traffic.moved_at[-1]}" if state.done else "none at all"
        if traffic.is_output:
            lines.append(f"output {name!r} gave {state.done} of {state.beats} beats, {last}")
        else:
            pending = "; one is offered and not taken" if state.offered else ""
            lines.append(f"input {name!r} took {state.done} of {state.beats} beats, {last}{pending}")
    listed = "".join(f"\n  {line}" for line in lines)
    return SimulationStalledError(
        f"{simulator.plan.top!r} did not end within {plural(limit, 'cycle')}:{listed}\n"
        "  if it only needs longer: limit=CYCLES (brainsmith simulate: --limit CYCLES)"
    )
