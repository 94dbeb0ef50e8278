"""ShuffleRTL: the Shuffle kernel in RTL."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.backends.rtl.page_memory import banked_resources, in_blocks, page_memory_resources
from brainsmith.kernels.axes import Loop
from brainsmith.kernels.shuffle import ShuffleKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.costs import block_words
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, in_pages, one_by_one

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPS = 5
"""The loops that the core has."""

MOST_IN_LUTS = 256
"""Words of both pages that are held in LUTs: a choice of more takes longer than block RAM."""


@backend(
    kernel="Shuffle",
    backend_type="rtl",
    description="Two pages of memory and a nest of counters, one beat per cycle",
)
class ShuffleRTL(CoreBackend, ShuffleKernel):
    """A page is what the outermost loop that moves needs of the input: often the whole tensor, never more."""

    core = "shuffle_core"
    parts = ("page_memory.sv",)

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the core can implement a node: integers, and no more loops than it has."""
        loops = len(node.loops())
        if loops > LOOPS:
            return unsupported(f"its transpose needs {loops} nested loops, and the core has {LOOPS}")
        return super().supports(node, part)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the width of a beat, and how the beats of a page are read."""
        words, loops = self.page()
        nest = (*[Loop(1, 0)] * (LOOPS - len(loops)), *loops)
        sizes = {f"SIZE{at}": loop.size for at, loop in enumerate(nest)}
        strides = {f"STRIDE{at}": loop.stride for at, loop in enumerate(nest)}
        bits = self.get_instream_width()
        memory = {"BLOCK": int(self.in_blocks()), "BANK": block_words(2 * words, bits)}
        return {"BITS": bits, "WORDS": words, **sizes, **strides, **memory}

    def in_blocks(self) -> bool:
        """Tell whether the pages are in block RAM: those that LUTs would hold, but give late in a cycle, are too."""
        words = 2 * self.page()[0]
        return words > MOST_IN_LUTS or in_blocks(words, self.get_instream_width())

    def in_banks(self) -> bool:
        """Tell whether a word is chosen from several block RAMs."""
        words, bits = 2 * self.page()[0], self.get_instream_width()
        return self.in_blocks() and words > block_words(words, bits)

    def page(self) -> tuple[int, tuple[Loop, ...]]:
        """Return how many beats a page has, and the loops that read them; 1 beat and none if nothing moves."""
        lanes = self.get_nodeattr("SIMD")
        loops = list(self.loops())
        if len(loops) < 2:
            return 1, ()
        if lanes > 1:
            loops = [Loop(size, stride // lanes) for size, stride in loops[:-1]] + [
                Loop(loops[-1].size // lanes, 1)
            ]
        # What is outermost before and after is another page.
        if loops[0].stride == prod(loop.size for loop in loops[1:]):
            loops = loops[1:]
        loops = [loop for loop in loops if loop.size > 1]
        return prod(loop.size for loop in loops), tuple(loops)

    def beat_schedule(self) -> BeatSchedule:
        """Return that a page is read when it is whole, a beat in each turn, and given a cycle later.

        From block RAM it is two cycles, and three if it is chosen from several.
        """
        (beats,), _ = self.frame_beats()
        words, _ = self.page()
        if words == 1:
            return one_by_one(beats, delay=0)
        given = Giving(np.arange(beats), 1 + self.in_blocks() + self.in_banks())
        return BeatSchedule(beats, (in_pages(beats, beats // words, words),), (given,))

    def core_resources(self, family: str) -> Resources:
        """Return the memory, two addresses, a counter for each loop, and what chooses a step and ends a page."""
        words, loops = self.page()
        if words == 1:
            return Resources()
        address = (2 * words - 1).bit_length()
        turns = sum((loop.size - 1).bit_length() for loop in loops)
        longer = sum(
            loop.size > 2 for loop in loops
        )  # a turn of two is the last one where its counter says 1
        step = -(-address * (len(loops) + 1) // 2)
        odd = address if words & (words - 1) else 0
        control = Resources(lut=step + odd + turns + 17, ff=2 * address + turns + longer + 6)
        bits, block = self.get_instream_width(), self.in_blocks()
        if self.in_banks():
            return control + Resources(lut=3, ff=2) + banked_resources(2 * words, bits, family)
        behind = Resources(lut=2, ff=bits + 1) if block else Resources()
        return control + behind + page_memory_resources(2 * words, bits, family, block)

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, for values that stay together."""
        return (Parallelism("SIMD", divisors(self.lanes_limit())),)
