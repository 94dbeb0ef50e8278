"""Build simulations: run the commands that a plan leads to, once per distinct content."""

from __future__ import annotations

import contextlib
import json
import platform
import shutil
import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import SimulationError
from brainsmith.monitoring.work_span import WorkSpan
from brainsmith.progress import Task
from brainsmith.rtl.simulation import native
from brainsmith.rtl.simulation.ports import Port, find_interface, port_table, read_ports
from brainsmith.rtl.simulation.precompiled_headers import find_precompiled
from brainsmith.rtl.simulation.side_by_side import COMPILERS, side_by_side
from brainsmith.rtl.simulation.simulation_plan import DATA_FOLDER
from brainsmith.rtl.simulation.simulator import Simulator
from brainsmith.rtl.simulation.toolchain import find_toolchain, run_compiler
from brainsmith.rtl.simulation.verilator import (
    COMPILE,
    DESIGN,
    DRIVER,
    FAST,
    OF_RUNTIME,
    QUICK,
    REDIRECT,
    SLOW,
    VERILATE,
    compile_model,
    compile_part,
    compile_runtime,
    driven_text,
    has_plain_state,
    replace_macros,
    translation_units,
    unit_text,
    verilate,
)
from brainsmith.settings import cache_dir
from brainsmith.store.files import write_texts
from brainsmith.store.fingerprint import digest
from brainsmith.store.folders import KeptFolders

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brainsmith.rtl.simulation.ports import Interface
    from brainsmith.rtl.simulation.simulation_plan import SimulationPlan
    from brainsmith.rtl.simulation.toolchain import Toolchain
    from brainsmith.rtl.simulation.verilator import Command, Unit
    from brainsmith.store.about import About


def build_simulator(
    plan: SimulationPlan,
    *,
    interface: Interface | None = None,
    tools: Toolchain | None = None,
    quick: bool = False,
) -> Simulator:
    """Build a simulation, or take the one that was built of the same content.

    Args:
        plan: The design.
        interface: How it is driven; found from FINN's names of the ports by default.
        tools: What it is built with; found by default.
        quick: Whether to compile without optimising: many times faster for a large design, and it runs several times
            slower. Right for a few thousand cycles. An optimised one that is kept serves as well.

    Raises:
        SimulationError: The tools reject the design, or the cache cannot be written.
        ToolError: A tool is missing or too old.
    """
    tools = tools or find_toolchain()
    store = KeptFolders(Path(cache_dir()) / "rtl", holds_code=True)
    about: About = {"of": "Verilator's own C++", "origin": {}}
    runtime = store.obtain(f"runtime-{_runtime_key(tools)}", lambda work: _build_runtime(tools, work), about)
    key = _key(plan, tools, store, quick=False)
    entry = store.find(key) if quick else None
    if entry is None:
        key = _key(plan, tools, store, quick)
        about = {"of": f"module {plan.top}"}
        entry = store.obtain(
            key, lambda work: _build_model(plan, tools, store, runtime, work, key, quick), about
        )
    ports = tuple(Port(**port) for port in json.loads((entry / "ports.json").read_text()))
    library = native.load(entry / "simulation.so")
    simulator = Simulator(plan, ports, interface or find_interface(plan.top, ports), library, key)
    store.use_as_long_as(key, simulator)  # each run reads its memories
    return simulator


def _runtime_key(tools: Toolchain) -> str:
    sources = [path.read_text() for path in (REDIRECT, DRIVER, *DESIGN)]
    return _digest(tools.versions, tools.root, COMPILE, OF_RUNTIME, platform.machine(), sources)


def _key(plan: SimulationPlan, tools: Toolchain, store: KeptFolders, quick: bool) -> str:
    """Return what stands for a simulation: memories are loaded by their path, so the place is part of it."""
    place = str(store.folder.resolve())
    return _digest(plan.digest(), VERILATE, FAST, SLOW, _runtime_key(tools), place, quick)


def _digest(*parts: Any) -> str:
    return digest(json.dumps(parts))


def _build_runtime(tools: Toolchain, work: Path) -> None:
    """Compile Verilator's own C++."""
    compiles = [partial(_execute, command) for command in compile_runtime(tools, work)]
    side_by_side("compiling Verilator's own C++", compiles, "files", COMPILERS)


def _build_model(
    plan: SimulationPlan,
    tools: Toolchain,
    store: KeptFolders,
    runtime: Path,
    work: Path,
    key: str,
    quick: bool,
) -> None:
    """Fill the folder of a simulation, which will be the entry of its key: its library, its ports, its memories."""
    memories = (store.entry(key) / "memories").resolve()
    about = {"brainsmith.design.name": plan.top}
    with (
        WorkSpan("compilation", f"{__name__}._build_model", {**about}),
        Task(f"compiling the simulation of {plan.top!r}"),
    ):
        units = _translate(plan, tools, work, memories)
        headers = find_precompiled(store, tools, runtime, _execute) if quick else None
        *parts, last = [work.resolve() / "model" / unit.name for unit in units]
        _compile_parts(plan, tools, dict(zip(parts, units, strict=False)), quick, headers)
        library, objects = work / "simulation.so", [part.with_suffix(".o") for part in parts]
        _compile(
            headers, lambda header: compile_model(plan, tools, last, runtime, library, quick, header, objects)
        )
        shutil.rmtree(last.parent)


def _translate(plan: SimulationPlan, tools: Toolchain, work: Path, memories: Path) -> tuple[Unit, ...]:
    """Write a design, its memories and its ports; return its translation units, in the folder `model`."""
    work = work.resolve()
    sources = _write_sources(plan, work, str(memories))
    write_texts(work / "memories", {memory.name: memory.text for memory in plan.memories})
    model = work / "model"
    # Verilator looks for modules that are not in the plan in the current folder, so that is one without sources.
    _execute(verilate(plan, tools, sources, model), folder=work)
    ports = read_ports((model / "Vtop.h").read_text())
    write_texts(work, {"ports.json": json.dumps([asdict(port) for port in ports])})
    units = translation_units({path.name: path.stat().st_size for path in model.glob("Vtop*.cpp")})
    # A design of several units has a header that takes long to compile, and only this would need it once more.
    state = len(units) == 1 and has_plain_state(path.read_text() for path in model.glob("Vtop_*.h"))
    for unit in units:
        driven = driven_text(port_table(ports), memories, state) if unit is units[-1] else ""
        write_texts(model, {unit.name: unit_text(unit.files, plan.trace) + driven})
    return units


def _compile_parts(
    plan: SimulationPlan, tools: Toolchain, parts: Mapping[Path, Unit], quick: bool, headers: Path | None
) -> None:
    """Compile the parts of a large design side by side.

    Raises:
        SimulationError: The compiler rejects one.
    """
    if not parts:
        return

    def compiled(path: Path, unit: Unit) -> None:
        flags = QUICK if quick else unit.flags
        _compile(headers, lambda header: compile_part(plan, tools, path, flags, header))

    compiles = [partial(compiled, path, unit) for path, unit in parts.items()]
    side_by_side("its C++", compiles, "parts", COMPILERS)


def _compile(headers: Path | None, command: Callable[[Path | None], Command]) -> None:
    """Compile with precompiled headers; without them, where there are none, or that fails.

    Raises:
        SimulationError: The compiler rejects it.
    """
    if headers is not None:
        with contextlib.suppress(SimulationError):
            _execute(command(headers))
            return
    _execute(command(None))


def _write_sources(plan: SimulationPlan, folder: Path, memories: str = DATA_FOLDER) -> list[Path]:
    """Write a design's sources, whose memories lie in a folder, and return where they are."""
    texts = {f"sources/{one.name}": one.text.replace(DATA_FOLDER, memories) for one in plan.sources}
    write_texts(folder, texts)
    return [folder / name for name in texts]


def without_macros(plan: SimulationPlan) -> str:
    """Return the sources of a design, one after the other, as Verilator reads them: with their macros replaced.

    Raises:
        SimulationError: Verilator rejects them.
        ToolError: A tool is missing or too old.
    """
    tools = find_toolchain()
    with tempfile.TemporaryDirectory(prefix="brainsmith-macros-") as folder:
        sources = _write_sources(plan, Path(folder))
        return _execute(replace_macros(plan, tools, sources), folder=Path(folder))


def _execute(command: Command, folder: Path | None = None) -> str:
    """Run a command, and return what it prints.

    Raises:
        SimulationError: It rejects what it was given; its first errors are quoted.
    """
    return run_compiler(command.arguments, command.what, command.variables, folder)
