"""What a simulation is made of, as data: sources, memory contents, parameters. Its digest is its name in the cache."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import RtlSourceError
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brainsmith.rtl.library.sources import Library

DATA_FOLDER = "@brainsmith-data@"
"""Stands in sources for the folder of the memory contents, which is known only when a simulation is built."""

MEMORY_SUFFIXES = (".dat", ".hex", ".mem")
"""What `$readmemh` reads."""

_PACKAGE = re.compile(r"^\s*package\s+\w+", re.MULTILINE)


@dataclass(frozen=True)
class Memory:
    """The content of one memory, as `$readmemh` reads it."""

    name: str
    text: str


@dataclass(frozen=True)
class SimulationPlan:
    """All that decides what a simulation does.

    Attributes:
        top: The top module.
        sources: Packages first; no two of one name.
        memories: Memory contents, by the names that the sources use below `DATA_FOLDER`.
        parameters: Of the top module; a text is given with its quotes.
        defines: Preprocessor macros that are set.
        trace: Whether waveforms can be written; a simulation without is faster.
    """

    top: str
    sources: tuple[RtlSource, ...]
    memories: tuple[Memory, ...] = ()
    parameters: tuple[tuple[str, int | str], ...] = ()
    defines: tuple[str, ...] = ()
    trace: bool = False

    def digest(self) -> str:
        """Return 40 hexadecimal digits that stand for the whole content."""
        text = json.dumps(asdict(self), sort_keys=True)
        return digest(text)

    def memory_names(self) -> list[str]:
        """Return the files that a simulation can load, for messages."""
        return [memory.name for memory in self.memories]


def plan_simulation(
    top: str,
    files: Iterable[str | Path],
    library: Library,
    *,
    generated: Path | None = None,
    parameters: Mapping[str, int | str] | None = None,
    defines: Iterable[str] = (),
    trace: bool = False,
) -> SimulationPlan:
    """Make the plan of a simulation.

    Args:
        top: The top module.
        files: The design's sources: absolute, or relative to the library; a file may be named twice.
        library: FINN's RTL library.
        generated: The folder of generated code. Memory contents in it become part of the plan, and the sources'
            paths to it, whether relative (`./`) or absolute, lead to them: the same code generated into another
            folder is the same plan.
        parameters: Of the top module.
        defines: Preprocessor macros to set.
        trace: Whether waveforms can be written.

    Raises:
        RtlSourceError: A file cannot be read, or two different ones have one name.
    """
    sources: dict[str, RtlSource] = {}
    for file in files:
        source = _localised(library.read(file), generated)
        if sources.setdefault(source.name, source) != source:
            raise RtlSourceError(
                f"{file}: a different file of the same name, {source.name}, is part of the design of {top!r}\n"
                "  rename one of them"
            )
    ordered = sorted(sources.values(), key=lambda source: not _PACKAGE.search(source.text))
    return SimulationPlan(
        top=top,
        sources=tuple(ordered),
        memories=_memories(generated) if generated else (),
        parameters=tuple(sorted((parameters or {}).items())),
        defines=tuple(defines),
        trace=trace,
    )


def _localised(source: RtlSource, generated: Path | None) -> RtlSource:
    """Let a source's paths to generated memory contents lead to the plan's."""
    if generated is None:
        return source
    text = source.text.replace('"./', f'"{DATA_FOLDER}/')
    for folder in {generated.as_posix(), generated.resolve().as_posix()}:
        text = text.replace(f'"{folder}/', f'"{DATA_FOLDER}/')
    return RtlSource(source.name, text, source.rules)


def _memories(folder: Path) -> tuple[Memory, ...]:
    found = sorted(path for path in folder.iterdir() if path.suffix in MEMORY_SUFFIXES)
    return tuple(Memory(path.name, path.read_text("utf-8")) for path in found)
