"""Verilator's headers as g++ reads them fastest: parsed once per machine and version, and not by each quick compile.

They are most of what a small simulation's compile reads. What is kept is valid by its key alone: g++ compares
neither the headers with what it made of them, nor asks whether they are there.
"""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import SimulationError
from brainsmith.rtl.simulation.verilator import (
    COMPILE,
    HEADERS,
    QUICK,
    READ_BY_RUNTIME,
    REDIRECT,
    compile_headers,
    precompiled,
)
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.rtl.simulation.toolchain import Toolchain
    from brainsmith.rtl.simulation.verilator import Command
    from brainsmith.store.folders import KeptFolders

_WORD = re.compile(r"(?:\\.|[^\s\\])+")


@dataclass(frozen=True, eq=False)
class _Checked:
    """Headers that this process found whole; as long as it lives, they are in use.

    Attributes:
        header: The file that a compile includes.
        state: Of it, and of the file that g++ reads in its place.
    """

    header: Path
    state: tuple[int, ...]


_CHECKED: dict[Path, _Checked] = {}
"""By entry: to read 70 MB again for each compile would take a good part of what they save."""


def find_precompiled(
    store: KeptFolders, tools: Toolchain, runtime: Path, execute: Callable[[Command], object]
) -> Path | None:
    """Return the header that a quick compile includes first, with what g++ made of it beside it.

    Args:
        store: Where it is kept.
        tools: What compiles.
        runtime: The entry of Verilator's own C++, which says which headers that read.
        execute: Runs a command.

    Returns:
        None if there is none, for whatever reason: a compile then reads the headers themselves.
    """
    try:
        key = f"headers-{_key(tools, runtime)}"
        checked = _CHECKED.get(store.entry(key))
        if checked is None or checked.state != _state(checked.header):
            entry = store.obtain(
                key, lambda work: _make(tools, work, execute), {"of": "Verilator's headers", "origin": {}}
            )
            checked = _CHECKED[entry] = _Checked(entry / HEADERS, _state(entry / HEADERS))
            store.use_as_long_as(key, checked)
    except (OSError, SimulationError):
        return None
    return checked.header


def _make(tools: Toolchain, work: Path, execute: Callable[[Command], object]) -> None:
    """Fill an entry; where the compiler cannot do it, with the header alone, so that it is not asked again."""
    header = work / HEADERS
    header.write_text('#include "redirect.h"\n#include "verilated.h"\n', encoding="utf-8")
    try:
        execute(compile_headers(tools, header))
    except SimulationError:
        precompiled(header).unlink(missing_ok=True)


def _key(tools: Toolchain, runtime: Path) -> str:
    """Return what stands for the compiler, its flags, and each header that it reads, the system's own too.

    Raises:
        OSError: One does not exist.
    """
    compiler = Path(tools.compiler).stat()
    identity = (tools.compiler, compiler.st_size, compiler.st_mtime_ns, *tools.versions)
    files = [(path, digest(Path(path).read_bytes())) for path in _headers(runtime / READ_BY_RUNTIME)]
    return digest(json.dumps((identity, COMPILE, QUICK, REDIRECT.read_text(), files)))


def _headers(rule: Path) -> list[str]:
    """Return the files that a rule of make names, in which spaces stand after a backslash.

    Without this package's own: whoever shares the entry may have it elsewhere.
    """
    text = rule.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
    names = [
        re.sub(r"\\(.)", r"\1", name.replace("$$", "$")) for name in _WORD.findall(text.partition(": ")[2])
    ]
    return [name for name in names if Path(name).name != REDIRECT.name]


def _state(header: Path) -> tuple[int, ...]:
    """Return what shows that one of an entry's two files was replaced or removed."""
    state = []
    for path in (header, precompiled(header)):
        with contextlib.suppress(FileNotFoundError):
            found = path.stat()
            state += [found.st_ino, found.st_size, found.st_mtime_ns]
    return tuple(state)
