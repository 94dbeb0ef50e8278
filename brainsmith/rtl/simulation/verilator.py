"""The commands that turn a plan into a simulation, as data: nothing is run here."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from brainsmith.rtl.simulation.simulation_plan import SimulationPlan
    from brainsmith.rtl.simulation.toolchain import Toolchain

HERE = Path(__file__).parent
DRIVER = HERE / "driver.cpp"
DESIGN = (HERE / "design.h", HERE / "design.cpp")
REDIRECT = HERE / "redirect.h"

VERILATE = ("--cc", "--no-timing", "--assert", "-Wno-fatal", "-O3", "--x-assign", "fast", "--x-initial", "0")
"""Latches, unused bits and other warnings are the library's own business; assertions end a simulation.

Repeated layers are no hierarchical blocks: equal modules share their C++ anyway. The 21 products of a ResNet-18, which are
of 14 kinds, took twice as long to compile as such blocks, with 20 % more C++.
"""

COMPILE = ("-O2", "-fPIC", "-std=c++17", "-fvisibility=hidden", "-fno-gnu-unique", "-w")
"""Simulations must not see each other's symbols: many are loaded into one process."""

QUICK = ("-O0",)
"""After `COMPILE`, for a simulation that is so short that compiling it is what costs."""

FAST = ("-O1",)
"""After `COMPILE`, for what a large design does in each cycle: compiles in 60 % of the time, and is 6 % slower."""

SLOW = ("-O0",)
"""After `COMPILE`, for what a large design does once, as it is made and reset."""

WHOLE = 4_000_000
"""Bytes of C++ up to which a design is one translation unit."""

PART = 2_000_000
"""Bytes of C++ of a translation unit of a larger one: each also reads the header with all of its signals."""

OF_RUNTIME = ("-O1",)
"""After `COMPILE`, for Verilator's own C++: what designs call often is in its headers, and this takes half as long."""

HEADERS = "headers.h"
"""What a quick compile includes first, where it was precompiled."""

READ_BY_RUNTIME = "verilated.d"
"""The rule of make that says what Verilator's own C++ was made of: all of its headers, and the system's."""

TRACED = "#define BRAINSMITH_TRACE\n#define VM_TRACE 1\n#define VM_TRACE_VCD 1\n#define WAVES 1\n"
"""What a design with waveforms begins with; as arguments of the compiler, these would need headers of their own."""

RUNTIME = ("verilated", "verilated_threads", "verilated_vcd_c")
"""What every model needs of Verilator's own C++, compiled once per machine and version, as the driver is."""


_ELSEWHERE = re.compile(r"\b(VlQueue|VlAssocArray|VlClassRef|VlProcessRef|VlRNG|VlSampleQueue|std::string)\b")
"""What Verilator's objects hold outside of themselves: queues, classes, texts, random numbers."""


@dataclass(frozen=True)
class Command:
    """One program to run.

    Attributes:
        arguments: With the program first.
        what: How messages name it.
        variables: What its environment needs besides.
    """

    arguments: tuple[str, ...]
    what: str
    variables: Mapping[str, str]


@dataclass(frozen=True)
class Unit:
    """One translation unit of a design.

    Attributes:
        name: Of its file.
        files: The C++ that it includes.
        flags: After `COMPILE`, for an optimised simulation.
    """

    name: str
    files: tuple[str, ...]
    flags: tuple[str, ...] = ()


def verilate(plan: SimulationPlan, tools: Toolchain, sources: Sequence[Path], folder: Path) -> Command:
    """Return what translates a design into C++.

    Args:
        plan: The design.
        tools: What to use.
        sources: Where the plan's sources were written, in its order.
        folder: Where the C++ goes.
    """
    options = ["--prefix", "Vtop", "--Mdir", str(folder), *(["--trace-vcd"] if plan.trace else [])]
    return _verilator(plan, tools, sources, options, "design")


def replace_macros(plan: SimulationPlan, tools: Toolchain, sources: Sequence[Path]) -> Command:
    """Return what prints a design's sources as Verilator reads them, with their macros replaced.

    It gets what `verilate` gets, because that decides which branches of `` `ifdef`` there are.
    """
    return _verilator(plan, tools, sources, ["-E", "-P"], "macros of")


def _verilator(
    plan: SimulationPlan, tools: Toolchain, sources: Sequence[Path], options: Sequence[str], what: str
) -> Command:
    parameters = (f"-G{name}={value}" for name, value in plan.parameters)
    defines = (f"-D{name}" for name in plan.defines)
    stated = (*options, "--top-module", plan.top, *parameters, *defines, *map(str, sources))
    message, variables = f"Verilator ({what} {plan.top!r})", {"VERILATOR_ROOT": tools.root}
    return Command((tools.verilator, *VERILATE, *stated), message, variables)


def compile_part(
    plan: SimulationPlan, tools: Toolchain, source: Path, flags: Sequence[str], headers: Path | None = None
) -> Command:
    """Return what compiles a translation unit of a large design, into an object beside it.

    Args:
        plan: The design.
        tools: What to use.
        source: The translation unit.
        flags: After `COMPILE`.
        headers: As for `compile_model`.
    """
    arguments = (
        *_compiler(tools, flags, source, headers),
        "-c",
        str(source),
        "-o",
        str(source.with_suffix(".o")),
    )
    return Command(arguments, f"g++ (design {plan.top!r})", {})


def compile_model(
    plan: SimulationPlan,
    tools: Toolchain,
    unit: Path,
    runtime: Path,
    library: Path,
    quick: bool = False,
    headers: Path | None = None,
    parts: Sequence[Path] = (),
) -> Command:
    """Return what compiles the last translation unit of a design, and makes a library of all of them and the driver.

    Args:
        plan: The design.
        tools: What to use.
        unit: The translation unit, of a small design the only one.
        runtime: The folder of Verilator's own C++ and the driver, compiled.
        library: What is made.
        quick: Whether to compile without optimising.
        headers: The header that was precompiled for a quick compile (`compile_headers`), if it is to be used.
        parts: The others, compiled.
    """
    objects = (*parts, *(runtime / f"{name}.o" for name in (*RUNTIME, DRIVER.stem)))
    link = [str(unit), *map(str, objects), "-pthread", "-o", str(library)]
    flags = _compiler(tools, QUICK if quick else (), unit, headers)
    arguments = (*flags, "-shared", "-Wl,-Bsymbolic", "-Wl,--no-undefined", *link)
    return Command(arguments, f"g++ (design {plan.top!r})", {})


def _compiler(tools: Toolchain, flags: Sequence[str], unit: Path, headers: Path | None) -> tuple[str, ...]:
    return (tools.compiler, *COMPILE, *flags, *_includes(tools, headers), "-I", str(unit.parent))


def compile_headers(tools: Toolchain, header: Path) -> Command:
    """Return what precompiles a header for quick compiles: the flags are theirs, or g++ would not take it."""
    arguments = (
        tools.compiler, *COMPILE, *QUICK, *_folders(tools), "-pthread", "-x", "c++-header", str(header),
        "-o", str(precompiled(header)),
    )  # fmt: skip
    return Command(arguments, "g++ (Verilator's headers)", {})


def precompiled(header: Path) -> Path:
    """Return where g++ looks for what it made of a header."""
    return header.with_name(f"{header.name}.gch")


def compile_runtime(tools: Toolchain, folder: Path) -> tuple[Command, ...]:
    """Return what compiles Verilator's own C++ and the driver into a folder."""
    own = Path(tools.root) / "include"
    sources: list[tuple[Path, tuple[str, ...], str]] = [
        *((own / f"{name}.cpp", OF_RUNTIME, f"Verilator's {name}.cpp") for name in RUNTIME),
        (DRIVER, (), "the driver"),
    ]
    return tuple(
        Command(
            (
                tools.compiler, *COMPILE, *flags, *_includes(tools), "-MD", "-c", str(source),
                "-o", str(folder / f"{source.stem}.o"),
            ),
            f"g++ ({what})",
            {},
        )
        for source, flags, what in sources
    )  # fmt: skip


def translation_units(sizes: Mapping[str, int]) -> tuple[Unit, ...]:
    """Return how a design is compiled; the last unit is the one with what the driver calls.

    One translation unit compiles faster than parts, which all read the same large headers. A large design is compiled in
    parts, side by side: that takes less memory, and a fraction of the time. Verilator puts what runs once into files of
    their own, with `Slow` in their names.

    Args:
        sizes: Bytes of each file that Verilator made, by its name.
    """
    if sum(sizes.values()) <= WHOLE:
        return (Unit("all.cc", tuple(sorted(sizes))),)
    made: list[Unit] = []
    for flags in (FAST, SLOW):
        groups: list[list[str]] = []
        for name in sorted(name for name in sizes if ("__Slow" in name) == (flags is SLOW)):
            if not groups or sum(sizes[each] for each in groups[-1]) + sizes[name] > PART:
                groups.append([])
            groups[-1].append(name)
        made += [Unit(f"part_{len(made) + at}.cc", tuple(group), flags) for at, group in enumerate(groups)]
    return (*made, Unit("all.cc", ("Vtop.h",)))


def unit_text(files: Sequence[str], trace: bool = False) -> str:
    """Return the C++ of a translation unit of a design's files."""
    return (TRACED if trace else "") + "".join(f'#include "{name}"\n' for name in files)


def driven_text(table: str, memories: Path, state: bool = False) -> str:
    """Return the C++ after the last translation unit: a design's ports, its memories, and what the driver calls.

    Args:
        table: As `port_table` gives it.
        memories: The folder of what the design loads.
        state: Whether the driver may read the design's whole state; the unit includes all headers then.
    """
    folder = f"#define BRAINSMITH_MEMORIES {json.dumps(f'{memories}/', ensure_ascii=False)}"
    known = "#define BRAINSMITH_STATE\n" if state else ""
    return f'\n{table}\n{folder}\n{known}#include "{DESIGN[-1].name}"\n'


def has_plain_state(headers: Iterable[str]) -> bool:
    """Tell whether all that a design remembers lies in its own objects, by value.

    Args:
        headers: Of its modules, as Verilator made them: nothing in them may point to memory elsewhere.
    """
    return not any(_ELSEWHERE.search(header) for header in headers)


def _includes(tools: Toolchain, first: Path | None = None) -> tuple[str, ...]:
    return (*_folders(tools), "-include", str(first or REDIRECT))


def _folders(tools: Toolchain) -> tuple[str, ...]:
    include = Path(tools.root) / "include"
    return ("-I", str(include), "-I", str(include / "vltstd"), "-I", str(HERE))
