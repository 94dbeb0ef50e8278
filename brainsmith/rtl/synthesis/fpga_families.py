"""From the name of an AMD part to its family: what Yosys synthesises for, and which DSP slices it has."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from brainsmith.errors import BuildError


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


_SERIES_7 = Memories(
    "lutrams_xc5v.txt",
    ("HAS_SIZE_36", "HAS_CASCADE", "HAS_CONFLICT_BUG", "HAS_MIXWIDTH_SDP"),
    (("LUTRAM", "lutrams_xc5v_map.v"), ("BLOCKRAM", "brams_xc6v_map.v")),
)
_ULTRASCALE = Memories(
    "lutrams_xcu.txt",
    ("HAS_SIZE_36", "HAS_MIXWIDTH_SDP", "HAS_ADDRCE"),
    (("LUTRAM", "lutrams_xc5v_map.v"), ("BLOCKRAM", "brams_xcu_map.v")),
)
_ULTRASCALE_PLUS = replace(_ULTRASCALE, maps=(*_ULTRASCALE.maps, ("URAM", "urams_map.v")), uram=True)


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
        notes: What reading the figures needs.
    """

    name: str
    title: str
    parts: str
    yosys: str
    dsp: str
    slices: tuple[str, ...]
    memories: Memories
    notes: tuple[str, ...] = ()


FAMILIES = (
    Family(
        name="versal",
        title="Versal",
        parts=r"x[cqa]r?(?:v[cemhpn]\d|v80|2v[em]\d)",
        yosys="xcup",
        dsp="DSP58",
        slices=("DSP58", "DSPFP32", "DSP48E2"),
        memories=_ULTRASCALE_PLUS,
        notes=(
            "Yosys knows no Versal part: logic is mapped as for UltraScale+. DSP58 slices are those that FINN "
            "instantiates. Versal has LOOKAHEAD8 instead of CARRY8 and its LUTs can cascade, so the real number of "
            "LUTs is somewhat lower; block RAM and UltraRAM hold the same number of bits",
        ),
    ),
    Family(
        name="xc7",
        title="7 series and Zynq-7000",
        parts=r"x[caq]7(?:[akz]|s|vx?|vh)\d",
        yosys="xc7",
        dsp="DSP48E1",
        slices=("DSP48E1",),
        memories=_SERIES_7,
    ),
    Family(
        name="xcup",
        title="UltraScale+",
        parts=r"x[caq]r?zu\d|xck2[46]|x[cq]r?[kv]u\d+p|x[ca]au\d+p|xcsu\d+p|xcux35|xcu\d+[a-z]*(?:-|$)",
        yosys="xcup",
        dsp="DSP48E2",
        slices=("DSP48E2",),
        memories=_ULTRASCALE_PLUS,
    ),
    Family(
        name="xcu",
        title="UltraScale",
        parts=r"x[cq]r?[kv]u\d+(?!\d*p)",
        yosys="xcu",
        dsp="DSP48E2",
        slices=("DSP48E2",),
        memories=_ULTRASCALE,
    ),
)
"""The first whose pattern a part's name begins with; Kintex UltraScale+ (`xcku5p`) comes before UltraScale (`xcku040`)."""


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
