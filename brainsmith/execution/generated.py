"""Generated: the inputs that a build made up for a model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from brainsmith.figures import count, plural
from brainsmith.graph.array_types import Array


class Generated(NamedTuple):
    """Inputs for a model, and how well they cover its inner thresholds.

    Attributes:
        stack: (runs, *shape of the input), float32.
        thresholds: How many thresholds of channels inside the network have values on both sides.
        missed: How many of these no run is known to reach on (where values can be), just below or just above.
        unsearched: Why no inputs were searched for that reach thresholds; empty if they were, or there are none.
    """

    stack: Array
    thresholds: int = 0
    missed: int = 0
    unsearched: str = ""

    def few(self, count: int) -> Array:
        """Return at most so many runs: the first half of extremes and patterns, the rest spread evenly over all others."""
        half, last = count // 2, len(self.stack) - 1
        spread = np.linspace(min(half, last), last, max(1, count - half)).astype(int)
        return np.asarray(self.stack[np.unique([*range(min(half, last)), *spread])])

    @property
    def coverage(self) -> str:
        """Say what of the thresholds inside the network was not reached; empty if nothing is missing."""
        if self.unsearched:
            return f"thresholds inside the network were not searched: {self.unsearched}"
        if not self.missed:
            return ""
        return f"{count(self.missed)} of {plural(self.thresholds, 'threshold')} inside the network not reached exactly"
