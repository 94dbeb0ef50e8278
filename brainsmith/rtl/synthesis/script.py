"""The commands that synthesise a circuit, as data: nothing is run here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.rtl.synthesis.fpga_families import Family, Memories

BLACK_BOXES, LIBRARY, LUTRAMS, MUX_MAP = "black_boxes.v", "library.v", "lutrams.txt", "mux_map.v"
"""Files beside the sources: `VENDOR_CELLS`, what is taken of Yosys' libraries, and `MUX_TO_SHIFT`."""

LIBRARY_CELLS = ("RAMB18E1", "RAMB36E1", "RAMB18E2", "RAMB36E2", "URAM288", "DSP48E1", "DSP48E2")
"""What `synth_xilinx` can map to beyond LUTs and registers. Reading Yosys' other 600 would cost most of the time."""

MEMORY = "$mem"
"""How the type of a cell begins that is a memory, before it is mapped."""

READ = "read_slang --allow-use-before-declare --ignore-timing --ignore-assertions --diag-source --unroll-limit 1000000"
"""Loops over all lanes and all bits of a wide layer are unrolled, too: slang's own limit is 4,000 turns."""

VENDOR_CELLS = Path(__file__).with_name("black_boxes.v")
"""The cells that FINN's library instantiates, as empty modules."""

MUX_TO_SHIFT = Path(__file__).with_name("mux_to_shift.v")
"""Lets Yosys see shift registers with a variable tap.

slang reads `A[i]` as `$bmux`, and the first element of `A[0:n]` as the highest; Yosys finds a shift register only before
a `$shiftx` of one bit, with the youngest stage first. Both are the same function, so a multiplexer that is not
made into one is only written in another way.
"""


PACKS = "xc7"
"""Yosys' name of the only family of this project's in whose DSP slices it puts registers."""


@dataclass(frozen=True)
class YosysCommand:
    """One command of Yosys.

    Attributes:
        text: As Yosys reads it.
        needs: The beginning of the cell types that it is for: without such a cell in the circuit it is left out, because
            some commands take seconds to do nothing. Empty if it is never left out.
    """

    text: str
    needs: str = ""


def synthesis_script(top: str, files: Sequence[str], family: Family) -> tuple[YosysCommand, ...]:
    """Return the commands that map a circuit to a family of parts, flattened, without buffers at its ports.

    Args:
        top: The top module.
        files: Its sources.
        family: Of the part.
    """

    def run(begin: str, end: str) -> str:
        return (
            f"synth_xilinx -family {family.yosys} -top {top} -noiopad -noclkbuf -flatten -run {begin}:{end}"
        )

    before = (
        f"{READ} --top {top} {BLACK_BOXES} {' '.join(files)}",
        f"read_verilog -lib {BLACK_BOXES}",  # slang does not hand on the parameters of black boxes
        "read_verilog -lib -specify +/xilinx/cells_sim.v",
        f"read_verilog -lib {LIBRARY}",
        f"hierarchy -check -top {top}",
        "chformal -remove",
        run("prepare", "map_dsp"),
        "select -set reversed t:$not %co2 t:$bmux %i",
        f"techmap -D REVERSED -map {MUX_MAP} @reversed",
        f"techmap -map {MUX_MAP}",
        "opt",
        *_multiplications(run("map_dsp", "coarse"), family),
        run("coarse", "map_memory"),
    )
    after = (run("map_ffram", "check"), "hierarchy -check")
    return (*map(YosysCommand, before), *_memory_commands(family.memories), *map(YosysCommand, after))


def _multiplications(mapped: str, family: Family) -> tuple[str, ...]:
    """Return what maps multiplications to DSP slices, with the registers and additions beside them.

    Yosys moves those into a DSP48E1 only. A DSP48E2 has the same registers and the same adder, so the slices that Yosys
    has chosen (not those in the sources) are taken for a DSP48E1 meanwhile.

    Args:
        mapped: The command that maps them.
        family: Of the part.
    """
    if family.yosys == PACKS:
        return (mapped,)
    return (
        "select -set given t:DSP48E2",
        mapped,
        "select -set chosen t:DSP48E2 @given %d",
        "chtype -set DSP48E1 @chosen",
        f"xilinx_dsp -family {PACKS}",
        "chtype -set DSP48E2 @chosen",
    )


def lattice_script(top: str, files: Sequence[str], netlist: str) -> tuple[YosysCommand, ...]:
    """Return the commands that map a circuit to an ECP5 and write its netlist.

    FINN's compute core is what it is in Verilator, behavioural, and its text for simulation instead of AMD's shift
    registers is read.

    Args:
        top: The top module.
        files: Its sources.
        netlist: Where it is written, in JSON.
    """
    behavioural = "-D VERILATOR --no-default-translate-off-format"
    texts = (
        f"{READ} {behavioural} --top {top} {' '.join(files)}",
        "chformal -remove",
        f"synth_ecp5 -top {top} -json {netlist}",
    )
    return tuple(map(YosysCommand, texts))


def _memory_commands(memories: Memories) -> tuple[YosysCommand, ...]:
    """Return what `synth_xilinx` does of itself for memories; UltraRAM only where the sources ask for it."""
    libraries = [LUTRAMS, "+/xilinx/brams_xc4v.txt", *(["+/xilinx/urams.txt"] if memories.uram else [])]
    options = [f"-lib {library}" for library in libraries] + [f"-D {name}" for name in memories.defines]
    choose = f"memory_libmap -logic-cost-rom 0.015625 -no-auto-huge {' '.join(options)}"
    maps = (
        YosysCommand(f"techmap -map +/xilinx/{name}", f"$__XILINX_{kind}") for kind, name in memories.maps
    )
    return (YosysCommand(choose, MEMORY), *maps)
