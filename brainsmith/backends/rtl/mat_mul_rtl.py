"""MatMulRTL: the MatMul kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.backends.rtl.embedded_resources import in_slice, product_of, sum_tree
from brainsmith.backends.rtl.multiplier import DSP_FACTOR, bits_beside
from brainsmith.backends.rtl.page_memory import in_blocks, page_memory_resources
from brainsmith.backends.rtl.row_queue import places_for, reserved_queue_resources
from brainsmith.graph.integer_range import FLOAT64_END
from brainsmith.kernels.datatypes import product_datatype
from brainsmith.kernels.mat_mul import MatMulKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.integers import kind_of
from brainsmith.rtl.cores.node_support import Support
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Queue, Taking, in_pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.datatype import BaseDataType


SET_BITS = 128
"""Lanes that read so many bits have one address."""


@backend(
    kernel="MatMul",
    backend_type="rtl",
    description="Right-hand matrices collected in turns, PE x SIMD products per cycle",
)
class MatMulRTL(CoreBackend, MatMulKernel):
    """Two right-hand matrices in memory, one left-hand row, and `PE` sums of `SIMD` products."""

    core = "mat_mul_core"
    exact_to = FLOAT64_END
    parts = (
        "binary_mvau_sum.sv", "integer_product.sv", "page_memory.sv", "reserved_queue.sv", "row_queue.sv",
    )  # fmt: skip
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
            "SET": self.lanes_together(),
            "HELD": int(self.holds_factors()),
            "PLACES": self.places(),
        }

    def lanes_together(self) -> int:
        """Return how many lanes of the memory have one address: more would be too far from it for a fast clock."""
        _, bits = self.memory()
        return max(1, SET_BITS // bits)

    def holds_factors(self) -> bool:
        """Tell whether factors have one more register: where the multipliers of any part may be DSP slices."""
        return min(int(kind.bitwidth()) for kind in self._factors()) >= DSP_FACTOR

    def delay(self) -> int:
        """Return the cycles from the last beat that a sum needs to the sum."""
        simd = int(self.get_nodeattr("SIMD"))
        return 5 + int(self.holds_factors()) + (simd - 1).bit_length()

    def places(self) -> int:
        """Return for how many sums there are places: for those that are under way at the full rate, and one."""
        parts = self.depth // int(self.get_nodeattr("SIMD"))
        return places_for(parts + self.delay(), parts)

    def beat_schedule(self) -> BeatSchedule:
        """Return that a row comes while it meets the first columns of a right-hand matrix that was stored whole.

        A turn is a beat of the row with some columns; the last of a row with these columns gives their sums.
        """
        (_, right), _ = self.frame_beats()
        parts, groups = self.depth // self.get_nodeattr("SIMD"), self.columns // self.get_nodeattr("PE")
        matrix, matrices = self.rows * groups * parts, right // (self.depth * groups)
        turns = np.arange(matrices * matrix)
        comes = Taking(turns[turns % (groups * parts) < parts])
        queue = Queue(self.places() - 1, freed=1, later=1)  # the first turn of the next sum waits
        gives = Giving(turns[parts - 1 :: parts], self.delay(), queue)
        return BeatSchedule(len(turns), (comes, in_pages(right, matrices, matrix)), (gives,))

    def core_resources(self, family: str) -> Resources:
        """Return the memories of both sides, the multipliers, the trees of sums, their places, and the counters."""
        pe, simd = self.get_nodeattr("PE"), self.get_nodeattr("SIMD")
        lanes = page_memory_resources(*self.memory(), family).times(simd)
        kinds = self._factors()
        one, other, output = (int(kind.bitwidth()) for kind in (*kinds, self.get_output_datatype()))
        bits = 1 if kinds[0].name == kinds[1].name == "BINARY" else one + other
        product = product_of(*kinds, family, stored=True)._replace(bits=bits)
        tree = sum_tree(simd, product)
        summed = output if self.depth > simd else 0  # over the parts of a row
        sums, factors = Resources(lut=summed, ff=summed), other * simd if self.holds_factors() else 0
        if product.resources.dsp:  # with registers for the factors
            own = Resources(ff=simd * bits_beside(product.resources.dsp))
            sums = Resources() if in_slice(product) and simd == 1 else sums
        else:
            own = Resources(ff=factors + simd * bits)
        products = product.resources.times(simd)
        each = (products + own + tree + sums).times(pe)
        waiting = reserved_queue_resources(
            self.places(), self.get_outstream_width(0), family, kept=self.depth > simd
        )
        return lanes + self._row(family) + each + waiting + self._counters()

    def memory(self) -> tuple[int, int]:
        """Return the words of the memory of one lane, for two right-hand matrices, and the bits of a word."""
        pe, simd = self.get_nodeattr("PE"), self.get_nodeattr("SIMD")
        words = self.depth * self.columns // (pe * simd)
        return 2 * words, pe * self.get_input_datatype(1).bitwidth()

    def _factors(self) -> tuple[BaseDataType, BaseDataType]:
        return self.get_input_datatype(0), self.get_input_datatype(1)

    def _row(self, family: str) -> Resources:
        """Return what a left-hand row needs: a memory where it is used several times, and its operands."""
        simd, bits = self.get_nodeattr("SIMD"), self.get_instream_width(0)
        inside = bool(product_of(*self._factors(), family).resources.dsp)
        parts, behind = self.depth // simd, bits if self.holds_factors() and not inside else 0
        if parts > 1 and self.columns > self.get_nodeattr("PE"):
            return page_memory_resources(parts, bits, family, block=False) + Resources(ff=behind)
        if inside:
            return Resources(ff=bits)  # of three registers in a row two are in the slices
        if behind and self.columns == self.get_nodeattr("PE"):
            return Resources(lut=bits, lutram=bits)  # three registers in a row are a shift register
        return Resources(ff=2 * bits + behind)

    def _counters(self) -> Resources:
        pe, simd = self.get_nodeattr("PE"), self.get_nodeattr("SIMD")
        words, bits = self.memory()
        turns = (self.rows, self.depth // simd, simd, self.columns // pe, self.columns // pe)
        counted = sum((one - 1).bit_length() for one in turns)
        address = (words - 1).bit_length()
        sets = -(-simd // self.lanes_together())
        written = simd + address + bits
        delayed = 2 if self.depth > simd else 0  # what is first and last, beside the products and their sums
        return Resources(
            lut=(1 + sets) * address + counted + delayed + 22,
            lutram=delayed,
            ff=(1 + sets) * address + counted + written + 14,
        )
