"""CropRTL: the Crop kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.backends.rtl.window_turns import Turns, window_parameters, window_resources, window_turns
from brainsmith.kernels.crop import CropKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPS = 6
"""The loops that the core has."""


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
        return {"BITS": self.get_instream_width(), **window_parameters(_turns(self), LOOPS)}

    def core_resources(self) -> Resources:
        """Return the counters, the comparisons with the window, and the handshake."""
        return window_resources(_turns(self))

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, for values of the last axis that are in the window together."""
        return (Parallelism("SIMD", divisors(self.lanes_limit())),)


def _turns(node: CropKernel) -> tuple[Turns, ...]:
    shape, starts, sizes = node.window()
    return window_turns(shape, starts, sizes, node.get_nodeattr("SIMD"))
