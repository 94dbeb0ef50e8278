"""CropRTL: the Crop kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from brainsmith.backends.rtl.multiplier import LUT_INPUTS
from brainsmith.kernels.crop import CropKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPS = 4
"""The loops that the core has."""

HANDSHAKE = 3
"""LUTs of both handshakes, and of whether a beat is taken."""


class Turns(NamedTuple):
    """One loop over beats: how many turns it has, and the first and the last one in the window."""

    size: int
    first: int
    last: int

    @property
    def whole(self) -> bool:
        """Tell whether all turns are in the window."""
        return self.last - self.first + 1 == self.size


@backend(
    kernel="Crop",
    backend_type="rtl",
    description="Beats outside the window dropped as they come",
    requires=("finn-plus",),
    domain="brainsmith.backends.rtl",
)
class CropRTL(CoreBackend, CropKernel):
    """Counters for the axes of the window, and nothing stored; axes that are kept whole are one counter."""

    core = "crop_window_core"

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the core can implement a node: integers, and no more loops than it has."""
        loops = len(_turns(node))
        if loops > LOOPS:
            return unsupported(f"its window needs {loops} nested loops, and the core has {LOOPS}")
        return super().supports(node, part)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the width of a beat, and the turns of the loops with those in the window."""
        turns = _turns(self)
        nest = (*[Turns(1, 0, 0)] * (LOOPS - len(turns)), *turns)
        sizes = {f"SIZE{at}": loop.size for at, loop in enumerate(nest)}
        firsts = {f"FIRST{at}": loop.first for at, loop in enumerate(nest)}
        lasts = {f"LAST{at}": loop.last for at, loop in enumerate(nest)}
        return {"BITS": self.get_instream_width(), **sizes, **firsts, **lasts}

    def core_resources(self) -> Resources:
        """Return the counters, a comparison with the last turn of each, comparisons with the window, and the handshake.

        A comparison of a counter with constants is a LUT, and two from 7 bits on. A counter begins again of itself if its
        turns are a power of two; else a LUT clears it.
        """
        turns = _turns(self)
        bits = [(loop.size - 1).bit_length() for loop in turns]
        windows = sum(
            1 if one <= LUT_INPUTS else 2 for one, loop in zip(bits, turns, strict=True) if not loop.whole
        )
        cleared = sum(1 for loop in turns if loop.size.bit_count() > 1)
        return Resources(lut=sum(bits) + len(turns) + windows + cleared + HANDSHAKE, ff=sum(bits))

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, for values of the last axis that are in the window together."""
        return (Parallelism("SIMD", divisors(self.lanes_limit())),)


def _turns(node: CropKernel) -> tuple[Turns, ...]:
    """Return the loops over the beats of an input, the outermost first, as few as say what the window is."""
    lanes = node.get_nodeattr("SIMD")
    axes = zip(
        node.get_normal_input_shape(), node.get_nodeattr("starts"), node.get_nodeattr("sizes"), strict=True
    )
    turns = [Turns(size, start, start + count - 1) for size, start, count in axes]
    size, first, last = turns[-1]
    turns[-1] = Turns(size // lanes, first // lanes, (last + 1) // lanes - 1)
    merged: list[Turns] = []
    for loop in (loop for loop in turns if loop.size > 1):
        if loop.whole and (not merged or merged[-1].whole):
            size = loop.size * (merged.pop().size if merged else 1)
            loop = Turns(size, 0, size - 1)
        merged.append(loop)
    return tuple(merged[1:] if merged and merged[0].whole else merged)
