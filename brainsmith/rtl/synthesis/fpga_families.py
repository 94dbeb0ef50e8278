"""From the name of an AMD part to its family: what Yosys synthesises for, and which DSP slices it has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brainsmith.errors import BuildError
from brainsmith.rtl.synthesis.cell_timing import Delays
from brainsmith.yaml_file import packaged_table


@dataclass(frozen=True)
class Memories:
    """How Yosys maps memories for a family.

    Attributes:
        lutrams: Its library of memories made of LUTs, in its folder `xilinx`.
        defines: What holds of the block RAMs, for its library of them.
        maps: Of each kind of memory, the file that maps it to cells.
        uram: Whether there is UltraRAM.
    """

    lutrams: str
    defines: tuple[str, ...]
    maps: tuple[tuple[str, str], ...]
    uram: bool = False

    @property
    def styles(self) -> dict[str, str]:
        """Return what sources may ask for, and what they get: block RAM where there is no UltraRAM, as from Vivado."""
        return {"distributed": "distributed", "block": "block", "ultra": "ultra" if self.uram else "block"}


@dataclass(frozen=True)
class Family:
    """One family of parts.

    Attributes:
        name: How reports call it.
        title: AMD's name.
        parts: What the names of its parts match.
        yosys: The family of Yosys' `synth_xilinx`.
        dsp: The DSP slice that FINN instantiates for it.
        slices: All cells that count as DSP slices here: FINN's, and what Yosys infers.
        memories: What `memory_libmap` gets about its memories, and the files that map to them, as `synth_xilinx` does.
        delays: Of its cells and wires.
        mvau_ns: The slowest path of FINN's matrix-vector unit with these delays (`benchmarks/clocks.py`, its reference).
        notes: What reading the figures needs.
    """

    name: str
    title: str
    parts: str
    yosys: str
    dsp: str
    slices: tuple[str, ...]
    memories: Memories
    delays: Delays
    mvau_ns: float
    notes: tuple[str, ...] = ()


def _family(entry: dict[str, Any]) -> Family:
    """Return a family as the table has it; its lists are tuples, so that it can be compared and kept."""
    memories = entry["memories"]
    maps = tuple((kind, file) for kind, file in memories["maps"])
    memories = Memories(**{**memories, "defines": tuple(memories["defines"]), "maps": maps})
    lists = {name: tuple(entry.get(name, ())) for name in ("slices", "notes")}
    return Family(**{**entry, **lists, "memories": memories, "delays": Delays(**entry["delays"])})


_TABLE = packaged_table(Path(__file__).with_name("fpga_families.yaml").read_text(encoding="utf-8"))

FAMILIES = tuple(map(_family, _TABLE["families"]))
"""The first whose pattern a part's name begins with."""


def family_of(part: str) -> Family:
    """Return the family of a part such as `xczu7ev-ffvc1156-2-e`.

    Raises:
        BuildError: No family has such parts.
    """
    name = part.strip().lower()
    for family in FAMILIES:
        if re.match(family.parts, name):
            return family
    if name.startswith("lfe5"):
        raise BuildError(
            f"part {part!r} is not supported: FINN generates for AMD's parts only\n"
            "  a design for one of those can be placed on an ECP5 besides: {step: rtl_synthesise, args: {place: ecp5-85k}}"
        )
    known = ", ".join(family.title for family in FAMILIES)
    raise BuildError(
        f"part {part!r} is not supported: it is of none of these families ({known})\n"
        "  target: part: in the blueprint is AMD's full name, such as xczu7ev-ffvc1156-2-e or xc7z020clg400-1"
    )
