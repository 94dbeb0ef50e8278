"""The commands that synthesise a circuit, as data: nothing is run here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.rtl.synthesis.families import Family

BLACK_BOXES, LIBRARY, MUX_MAP = "black_boxes.v", "library.v", "mux_map.v"
"""Files beside the sources: FINN's vendor cells, the part of Yosys' cells that is needed, and `MUX_TO_SHIFT`."""

LIBRARY_CELLS = ("RAMB18E1", "RAMB36E1", "RAMB18E2", "RAMB36E2", "URAM288", "DSP48E1", "DSP48E2")
"""What `synth_xilinx` can map to beyond LUTs and registers. Reading Yosys' other 600 would cost most of the time."""

READ = "read_slang --allow-use-before-declare --ignore-timing --ignore-assertions --diag-source"

MUX_TO_SHIFT = """\
(* techmap_celltype = "$bmux" *)
module from_bmux (A, S, Y);
parameter WIDTH = 1;
parameter S_WIDTH = 1;
localparam N = 1 << S_WIDTH;
input [(WIDTH << S_WIDTH) - 1:0] A;
input [S_WIDTH - 1:0] S;
output [WIDTH - 1:0] Y;
`ifdef REVERSED
wire [S_WIDTH - 1:0] tap = ~S;
`else
wire [S_WIDTH - 1:0] tap = S;
`endif
genvar i, j;
generate
    for (i = 0; i < WIDTH; i = i + 1) begin : bits
        wire [N - 1:0] line;
        for (j = 0; j < N; j = j + 1) begin : taps
`ifdef REVERSED
            assign line[j] = A[(N - 1 - j) * WIDTH + i];
`else
            assign line[j] = A[j * WIDTH + i];
`endif
        end
        \\$shiftx #(.A_SIGNED(0), .B_SIGNED(0), .A_WIDTH(N), .B_WIDTH(S_WIDTH), .Y_WIDTH(1)) select (
            .A(line), .B(tap), .Y(Y[i])
        );
    end
endgenerate
endmodule
"""
"""Lets Yosys see shift registers with a variable tap.

slang reads `A[i]` as `$bmux`, and the first element of `A[0:n]` as the highest; Yosys finds a shift register only before
a `$shiftx` of one bit, with the youngest stage first. Both are the same function, so a multiplexer that is none is
only written in another way.
"""


@dataclass(frozen=True)
class Script:
    """The commands of one synthesis.

    Attributes:
        before: Up to the memories.
        memory: For a circuit that has some; they cost seconds, so they are left out of others.
        after: What follows.
    """

    before: tuple[str, ...]
    memory: tuple[str, ...]
    after: tuple[str, ...]


def synthesis_script(top: str, files: Sequence[str], family: Family, uram: bool = False) -> Script:
    """Return the commands that map a circuit to a family of parts, flattened, without buffers at its ports.

    Args:
        top: The top module.
        files: Its sources.
        family: Of the part.
        uram: Whether memories may go to UltraRAM, which the sources ask for.
    """
    options = "-noiopad -noclkbuf -flatten" + (" -uram" if uram else "")

    def run(begin: str, end: str) -> str:
        return f"synth_xilinx -family {family.yosys} -top {top} {options} -run {begin}:{end}"

    return Script(
        before=(
            f"{READ} --top {top} {BLACK_BOXES} {' '.join(files)}",
            "read_verilog -lib -specify +/xilinx/cells_sim.v",
            f"read_verilog -lib {LIBRARY}",
            f"hierarchy -check -top {top}",
            "chformal -remove",
            run("prepare", "map_dsp"),
            "select -set reversed t:$not %co2 t:$bmux %i",
            f"techmap -D REVERSED -map {MUX_MAP} @reversed",
            f"techmap -map {MUX_MAP}",
            "opt",
            run("map_dsp", "map_memory"),
        ),
        memory=(run("map_memory", "map_ffram"),),
        after=(run("map_ffram", "check"), "hierarchy -check"),
    )
