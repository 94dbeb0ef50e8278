"""WindowBackend: the base of RTL backends that count their way through a frame of which a window passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.backends.rtl.window_turns import Turns, window_resources, window_turns
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.cores.turns import packed

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from brainsmith.rtl.synthesis.cells import Resources

LOOPS = 6
"""The loops that the core has."""


class WindowBackend(CoreBackend):
    """A WindowedKernel as a core around `window_turns`: counters for the axes of the window, and nothing stored.

    Axes that are in the window as a whole are one counter.
    """

    parts = ("window_turns.sv",)

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the core can implement a node: integers, and no more loops than it has."""
        loops = len(cls.turns(node))
        if loops > LOOPS:
            return unsupported(f"its window needs {loops} nested loops, and the core has {LOOPS}")
        return super().supports(node, part)

    def turns(self) -> tuple[Turns, ...]:
        """Return the loops over the beats, the outermost first."""
        shape, starts, sizes = self.window()
        return window_turns(shape, starts, sizes, self.get_nodeattr("SIMD"))

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return of each loop its turns, and the first and the last one in the window, the outermost in the lowest bits."""
        turns = self.turns()
        words = [word for loop in reversed(turns) for word in loop] + [1, 0, 0] * (LOOPS - len(turns))
        return {"TURNS": packed(words[::-1])}

    def core_resources(self, family: str) -> Resources:
        """Return the counters, the comparisons with the window, and the handshake."""
        return window_resources(self.turns())

    def inside(self) -> npt.NDArray[np.int64]:
        """Return which beats of the whole tensor are in the window, ascending."""
        kept = np.ones(1, np.bool_)
        for loop in self.turns():
            numbers = np.arange(loop.size)
            kept = (kept[:, None] & ((numbers >= loop.first) & (numbers <= loop.last))).reshape(-1)
        taken, given = self.frame_beats()
        return np.flatnonzero(np.tile(kept, max(*taken, *given) // len(kept)))

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, for values of the last axis that are in the window together, or out of it."""
        return (Parallelism("SIMD", divisors(self.lanes_limit())),)
