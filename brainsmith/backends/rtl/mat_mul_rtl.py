"""MatMulRTL: the MatMul kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.backends.rtl.embedded_resources import ProductNeeds, product_of, sum_tree
from brainsmith.backends.rtl.page_memory import LARGE, SMALL, in_blocks, page_memory_resources
from brainsmith.graph.integer_range import FLOAT64_END
from brainsmith.kernels.datatypes import product_datatype
from brainsmith.kernels.mat_mul import MatMulKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.integers import kind_of
from brainsmith.rtl.cores.node_support import Support
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Taking, in_pages

if TYPE_CHECKING:
    from collections.abc import Mapping


@backend(
    kernel="MatMul",
    backend_type="rtl",
    description="Right-hand matrices collected in turns, PE x SIMD products per cycle",
)
class MatMulRTL(CoreBackend, MatMulKernel):
    """Two right-hand matrices in memory, one left-hand row, and `PE` sums of `SIMD` products."""

    core = "mat_mul_core"
    exact_to = FLOAT64_END
    parts = ("binary_mvau_sum.sv", "integer_product.sv", "page_memory.sv")
    parallelism = MatMulKernel.parallelism

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the core can implement a node: integers, and an output that holds every sum."""
        return Support(node.flaw()) and super().supports(node, part)

    def lanes(self) -> Mapping[str, int]:
        """Return rows and columns, also where fewer lanes are as fast."""
        return {"PE": self.columns, "SIMD": self.depth}

    def result_range(self) -> tuple[int, int]:
        """Return the ends of the smallest datatype that holds all sums."""
        kind = product_datatype(self.get_input_datatype(0), self.get_input_datatype(1), self.depth)
        return int(kind.min()), int(kind.max())

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the matrices' sizes, the lanes, and the datatypes."""
        lhs, rhs = self.get_input_datatype(0), self.get_input_datatype(1)
        return {
            "ROWS": self.rows,
            "DEPTH": self.depth,
            "COLUMNS": self.columns,
            "PE": self.get_nodeattr("PE"),
            "SIMD": self.get_nodeattr("SIMD"),
            "LHS_BITS": lhs.bitwidth(),
            "RHS_BITS": rhs.bitwidth(),
            "LHS_KIND": kind_of(lhs),
            "RHS_KIND": kind_of(rhs),
            "OUT_BITS": self.get_output_datatype().bitwidth(),
            "BLOCK": int(in_blocks(*self.memory())),
        }

    def beat_schedule(self) -> BeatSchedule:
        """Return that a row comes while it meets the first columns of a right-hand matrix that was stored whole.

        A turn is a beat of the row with some columns; the last of a row with these columns gives their sums.
        """
        (_, right), _ = self.frame_beats()
        parts, groups = self.depth // self.get_nodeattr("SIMD"), self.columns // self.get_nodeattr("PE")
        matrix, matrices = self.rows * groups * parts, right // (self.depth * groups)
        turns = np.arange(matrices * matrix)
        comes = Taking(turns[turns % (groups * parts) < parts])
        gives = Giving(turns[parts - 1 :: parts], 3 + (self.get_nodeattr("SIMD") - 1).bit_length())
        return BeatSchedule(len(turns), (comes, in_pages(right, matrices, matrix)), (gives,))

    def core_resources(self) -> Resources:
        """Return the memories of both sides, the multipliers, the trees of sums, and the counters."""
        pe, simd = self.get_nodeattr("PE"), self.get_nodeattr("SIMD")
        words, bits = self.memory()
        lanes = page_memory_resources(words, bits).times(simd)
        kinds = self.get_input_datatype(0), self.get_input_datatype(1)
        one, other, output = (int(kind.bitwidth()) for kind in (*kinds, self.get_output_datatype()))
        bits = 1 if kinds[0].name == kinds[1].name == "BINARY" else one + other
        product = product_of(*kinds, constant=False)
        signed = any(kind.signed() or kind.name == "BIPOLAR" for kind in kinds)
        tree = sum_tree(simd, ProductNeeds(bits, signed, product.resources))
        parts = self.depth // simd
        sums = Resources(lut=output if parts > 1 else 0, ff=output) + tree + Resources(ff=simd * bits)
        products = product.resources.times(simd)
        return lanes + self._row() + (products + sums).times(pe) + self._counters(words)

    def memory(self) -> tuple[int, int]:
        """Return the words of the memory of one lane, for two right-hand matrices, and the bits of a word."""
        pe, simd = self.get_nodeattr("PE"), self.get_nodeattr("SIMD")
        words = self.depth * self.columns // (pe * simd)
        return 2 * words, pe * self.get_input_datatype(1).bitwidth()

    def _row(self) -> Resources:
        """Return what a left-hand row needs: its operands, and single-port LUTs where it is used several times."""
        simd, bits = self.get_nodeattr("SIMD"), self.get_instream_width(0)
        parts = self.depth // simd
        if parts == 1 or self.columns == self.get_nodeattr("PE"):
            return Resources(ff=bits)
        stored = 8 * -(-bits // 16) if parts <= SMALL else 8 * -(-bits // 8) * -(-parts // LARGE)
        return Resources(lut=stored + bits // 2, lutram=stored, ff=bits)

    def _counters(self, words: int) -> Resources:
        pe, simd = self.get_nodeattr("PE"), self.get_nodeattr("SIMD")
        turns = (self.rows, self.depth // simd, simd, self.columns // pe, self.columns // pe)
        bits = sum((one - 1).bit_length() for one in turns)
        address = (words - 1).bit_length()
        found = Resources(lut=2 * address + bits + 22, ff=2 * address + bits + 11)
        if simd == 1:
            return found
        # What is first and last on its way beside the sums is a shift register each, and what is valid is not.
        return found + Resources(lut=2, lutram=2, ff=(simd - 1).bit_length() - 4)
