"""Serve FINN's own `exec_mode="rtlsim"`: its simulator's functions, done by this package's simulator."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.errors import SimulationError
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.rtl.library.sources import RtlSource, find_library
from brainsmith.rtl.simulation.simulation_plan import Memory, SimulationPlan, plan_simulation
from brainsmith.rtl.simulation.simulator import default_limit
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.store.files import write_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from brainsmith.rtl.simulation.beats import Words
    from brainsmith.rtl.simulation.simulator import Simulator

_GAUGES = "FINN_SIMULATION"
"""What replaces FIFOs by gauges in FINN's sources."""


class FinnSimulator(NamedTuple):
    """What FINN holds while it simulates one node.

    Attributes:
        simulator: The node's design.
        trace: The VCD file to write; None without.
    """

    simulator: Simulator
    trace: Path | None


@contextmanager
def finn_simulation() -> Iterator[None]:
    """Let FINN simulate RTL without Vivado while the body runs; nodes are prepared and executed as usual.

    Raises:
        FrameworkUnavailableError: FINN is not installed.
    """
    find_library()
    prepare_finn()
    from finn import xsi as module

    served = {
        "compile_sim_obj": compile_sim_obj,
        "load_sim_obj": load_sim_obj,
        "reset_rtlsim": _nothing,
        "close_rtlsim": _nothing,
        "rtlsim_multi_io": rtlsim_multi_io,
    }
    before = {name: vars(module).get(name) for name in served}
    vars(module).update(served)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                delattr(module, name)
            else:
                setattr(module, name, value)


def compile_sim_obj(
    top: str,
    sources: Iterable[str],
    folder: str | Path,
    debug: bool = False,
    behav: bool = False,
    fifosim: bool = False,
) -> tuple[Path, Path]:
    """Write down what a node's simulation is made of; it is built when FINN loads it.

    Args:
        top: The top module.
        sources: The node's files.
        folder: Where FINN wants the result.
        debug: Whether waveforms can be written.
        behav: Whether FIFOs are replaced by gauges.
        fifosim: Whether FINN's own simulation of all FIFOs is wanted, which is not served.

    Returns:
        The folder, and below it the file that FINN checks for.
    """
    if fifosim:
        raise SimulationError(
            f"{top}: FINN's simulation of all FIFOs (fifosim) needs Vivado; it is not served here"
        )
    library = find_library()
    files = list(dict.fromkeys(map(str, sources)))
    folders = {Path(file).parent for file in files if library.folder not in Path(file).parents}
    if len(folders) > 1:  # a core of a plugin lies beside the plugin, and only its wrapper is generated
        folders = {folder for folder in folders if (folder / f"{top}.v").is_file()} or folders
    if len(folders) != 1:
        raise SimulationError(
            f"{top}: the generated files must lie in one folder, not in {sorted(map(str, folders))}"
        )
    defines = (_GAUGES,) if behav else ()
    plan = plan_simulation(top, files, library, generated=folders.pop(), defines=defines, trace=debug)
    found = Path("xsim.dir") / top / "xsimk.so"
    write_texts(Path(folder), {str(found): json.dumps(asdict(plan))})
    return Path(folder), found


def load_sim_obj(
    folder: str | Path, file: str | Path, tracefile: str | None = None, *_: Any
) -> FinnSimulator:
    """Build and load what `compile_sim_obj` wrote down."""
    plain = json.loads((Path(folder) / file).read_text("utf-8"))
    plan = SimulationPlan(
        top=plain["top"],
        sources=tuple(RtlSource(one["name"], one["text"], tuple(one["rules"])) for one in plain["sources"]),
        memories=tuple(Memory(**one) for one in plain["memories"]),
        parameters=tuple((name, value) for name, value in plain["parameters"]),
        defines=tuple(plain["defines"]),
        trace=plain["trace"],
    )
    trace = (Path(folder) / tracefile).with_suffix(".vcd") if tracefile else None
    return FinnSimulator(build_simulator(plan), trace)


def rtlsim_multi_io(
    sim: FinnSimulator,
    io_dict: Mapping[str, dict[str, list[int]]],
    num_out_values: int | Mapping[str, int],
    sname: str = "_V_V",
    liveness_threshold: int = 10_000,
    liveness_estimate: float | None = None,
) -> int:
    """Feed and collect a node's streams; the outputs' words are put into `io_dict` as integers.

    Returns:
        The cycles that it took.
    """
    simulator = sim.simulator
    streams = {stream.name: simulator.ports.data(stream) for stream in simulator.interface.streams}
    inputs = {
        name + sname: _words(values, streams[name + sname].bits) for name, values in io_dict["inputs"].items()
    }
    outputs = {name + sname: _count(num_out_values, name) for name in io_dict["outputs"]}
    estimate = int(liveness_estimate) if liveness_estimate else None
    result = simulator.run(
        inputs,
        outputs,
        limit=max(default_limit(inputs, outputs, {}, estimate), int(liveness_threshold)),
        idle=[name for name in streams if name not in inputs and name not in outputs],
        surplus=list(outputs),
        constant=list(outputs),  # FINN executes one sample at a time, which may well give one value
        trace=sim.trace,
    )
    for name in io_dict["outputs"]:
        words = result.streams[name + sname].words
        io_dict["outputs"][name] = [int.from_bytes(word.tobytes(), "little") for word in words]
    return result.cycles


def _count(counts: int | Mapping[str, int], name: str) -> int:
    """Return how many beats an output gives; FINN says one number where there is one output."""
    return int(counts if isinstance(counts, int | np.integer) else counts[name])


def _words(values: Iterable[int], bits: int) -> Words:
    size = (bits + 7) // 8
    data = b"".join(int(value).to_bytes(size, "little") for value in values)
    return np.frombuffer(data, np.uint8).reshape(-1, size)


def _nothing(*_: Any, **__: Any) -> None:
    """Every run resets and closes its own copy of the design."""
