"""What open tools cannot read in FINN's RTL library, and how each place is altered: rules as data.

FINN's sources are never copied into this project. A rule names the text that it expects in the installed library
and what takes its place; where the text is missing, or occurs more or less often than expected, nothing is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from brainsmith.errors import RtlSourceError


@dataclass(frozen=True)
class Rule:
    """One alteration of some of the library's files.

    Attributes:
        name: How messages and reports call it.
        files: Paths relative to the library.
        why: What an open tool says to the text as it is.
        pattern: A regular expression; `.` matches line ends too.
        replacement: As `re.sub` takes it.
        count: How often the pattern must match in each file.
    """

    name: str
    files: tuple[str, ...]
    why: str
    pattern: str
    replacement: str
    count: int = 1

    def apply(self, file: str, text: str, library: str) -> str:
        """Alter one file's text.

        Args:
            file: Its path relative to the library; for the message.
            text: The whole file.
            library: The library's name and version; for the message.

        Raises:
            RtlSourceError: The text that the rule expects is missing, or occurs more or less often.
        """
        altered, found = re.subn(self.pattern, self.replacement, text, flags=re.DOTALL)
        if found != self.count:
            raise RtlSourceError(
                f"{library}: rule {self.name!r} must match {_times(self.count)} in {file}, but matches "
                f"{_times(found)}\n"
                f"  why it is needed: {self.why}\n"
                "  install the version of finn-plus that requirements/lock.txt names, or adapt the rule in "
                "brainsmith/rtl/library/rules.py"
            )
        return altered


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


RULES = (
    Rule(
        name="fifo-packed-struct",
        files=("fifo/hdl/fifo.sv",),
        why="Verilator cannot evaluate a constant function that returns an unpacked struct",
        pattern=r"typedef struct (\{[^}]*\} abits_t;)",
        replacement=r"typedef struct packed \1",
    ),
    Rule(
        name="add-multi-hoist",
        files=("mvu/add_multi.sv",),
        why="a constant function may not be declared under generate (IEEE 1800-2023 13.4.3)",
        pattern=(
            r"(\tuwire \[SUM_WIDTH-1:0\]  sum0;.*?)"
            r"(\t\ttypedef int unsigned  leaf_load_t\b.*?endfunction : init_leaf_loads\n)"
        ),
        replacement=r"\2\1",
    ),
    Rule(
        name="memstream-hoist",
        files=("memstream/hdl/memstream.sv",),
        why="a constant function may not be declared under generate (IEEE 1800-2023 13.4.3)",
        pattern=(
            r"(\tuwire addr_t  ptr0;.*?)"
            r"(\t\ttypedef addr_t  offset_table_t\b.*?endfunction : INIT_OFFSET_TABLE\n)"
        ),
        replacement=r"\2\1",
    ),
    Rule(
        name="skid-error-argument",
        files=("skid/skid.sv", "stream_tap/hdl/skid.sv", "inner_shuffle/skid.sv"),
        why="the format of $error has a %0d without a value",
        pattern=r'(FEED_STAGES exceeds SRL capacity\.")\)',
        replacement=r"\1, FEED_STAGES)",
    ),
    Rule(
        name="pad1d-hoist",
        files=("pad1d/hdl/pad1d.sv",),
        why=(
            "a constant function may not be declared under generate (IEEE 1800-2023 13.4.3), and Verilator cannot evaluate "
            "one that returns an array of packed arrays"
        ),
        pattern=(
            r"(\tif\(PAD_LEFT_TOKENS \+ PAD_RIGHT_TOKENS == 0\) begin : genTrivial\n.*?)"
            r"(\t\ttypedef logic [^\n]*  fold_t;\n)(.*?)"
            r"(\t\tlocalparam int unsigned  NUM_PHASES =[^\n]*\n)(.*?)"
            r"(\t\tlocalparam int unsigned  FOLDS_PER_TOKEN = .*?endfunction : INIT_CNT_WRAP\n)(.*?)"
            r"(\t\ttypedef )fold_t(  pad_folds_t\b.*?endfunction\n)"
        ),
        replacement=r"\2\4\6\8logic [SIMD*ELEM_WIDTH-1:0]\9\1\3\5\7",
    ),
    Rule(
        name="inner-shuffle-packed",
        files=("inner_shuffle/inner_shuffle.sv",),
        why="Verilator cannot cast an unpacked array of bits to a packed one, or back",
        pattern=r"typedef logic (\[\$clog2\(SIMD\)-1:0\])  rotidx_vec_t(\[SIMD-1:0\]);",
        replacement=r"typedef logic \2\1  rotidx_vec_t;",
    ),
)
"""The rules for the modules that are simulated; Verilator 5.48 reads the others of these as they are."""

TIMING_RULES = (
    Rule(
        name="mvu-without-values",
        files=("mvu/mvu.sv",),
        why="what a product computes moves no beat, and is most of what a compiler has to do for a large design",
        pattern=r"\t// Stages #1 - #3: DSP Lanes.*\tassign\s+p\[[^\n]*\n.*(endmodule)",
        replacement=r"\tassign\tp = '0;\n\1",
    ),
)
"""What may be left out where only the cycles count in which beats move: `sizing/values_left_out.py`."""

SYNTHESIS_RULES = (
    Rule(
        name="default-nettype-inside",
        files=(
            "dwc/hdl/vpc.sv",
            "fifo/hdl/fifo.sv",
            "requant/hdl/requant.sv",
            "requant/hdl/requant_axi.sv",
            "requant/hdl/requant_axi_decoupled.sv",
            "requant/hdl/requant_decoupled.sv",
            "where/hdl/where.sv",
        ),
        why="the directive `default_nettype may not stand inside a module (IEEE 1800-2023 22.8)",
        pattern=r"(?m)^`default_nettype (?:none|wire)$",
        replacement="",
        count=2,
    ),
    Rule(
        name="startup-watch",
        files=("mvu/mvu.sv", "mvu/mvu_vvu_8sx9_dsp58.sv", "mvu_tiled/cu_mvau_tiled.sv"),
        why="an initial block waits 100 ns and assigns then; only an assertion reads what it assigns",
        pattern=r"\t\tinitial begin\s+#100ns;\s+Dirty <= 0;\s+end\n",
        replacement="",
    ),
    Rule(
        name="thresholding-first-stage",
        files=("thresholding/hdl/thresholding.sv",),
        why="in the first stage the range [M-1:SN+1] is [M-1:M], which selects nothing and may not be written",
        pattern=r"p\.ptr\[M-1:SN\+1\] < ",
        replacement=r"(p.ptr[M-1:0] >> (SN+1)) < ",
    ),
    Rule(
        name="thresholding-output-queue",
        files=("thresholding/hdl/thresholding.sv",),
        why="slang takes a queue whose stages are written one by one for a memory with as many ports",
        pattern=(
            r"(logic\s+\[PE-1 : 0\]\[M-1 : 0\]  )(ADat\[A_DEPTH\];)(.*?)foreach\(pipe\[pe\]\)  ADat\[0\]\[pe\] <= "
            r"pipe\[pe\]\[M\]\.ptr;\s+for\(int unsigned  i = 1; i < A_DEPTH; i\+\+\)  ADat\[i\] <= ADat\[i-1\];"
        ),
        replacement=(
            r"\1\2\n\t\t\1ANew;\n\t\talways_comb foreach(pipe[pe])  ANew[pe] = pipe[pe][M].ptr;"
            r"\3ADat <= { ANew, ADat[0:A_DEPTH-2] };"
        ),
    ),
)
"""What synthesis needs besides: slang refuses it, and Verilator reads it. What is simulated is without these."""
