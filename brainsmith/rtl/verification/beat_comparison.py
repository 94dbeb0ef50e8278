"""Compare the beats that moved at a link with the golden model's tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.verification.design_runs import lane_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.beats import Words
    from brainsmith.rtl.stitching.design import Layout


@dataclass(frozen=True)
class Mismatch:
    """The first value that is not the golden model's.

    Attributes:
        frame: From 0.
        index: In the tensor of one frame.
        expected: What the golden model computes.
        found: What moved.
    """

    frame: int
    index: tuple[int, ...]
    expected: int
    found: int

    def __str__(self) -> str:
        index = ", ".join(map(str, self.index))
        return f"frame {self.frame} at [{index}]: {self.found} instead of {self.expected}"


@dataclass(frozen=True)
class Comparison:
    """What moved at one end of a link, against the golden model.

    Attributes:
        beats: How many should have moved.
        moved: How many did.
        wrong: Values that differ, of those that moved.
        values: How many values were compared.
        first: The first of those that differ, in the order of the stream.
    """

    beats: int
    moved: int
    wrong: int
    values: int
    first: Mismatch | None

    @property
    def complete(self) -> bool:
        """Tell whether nothing is missing."""
        return self.moved >= self.beats


def compare_words(layout: Layout, words: Words, moved: int, golden: NDArray[Any]) -> Comparison:
    """Compare beats with the tensor that they should be.

    Args:
        layout: Of the tensor in the stream.
        words: The beats that were kept, from the first on; not more than the tensor has.
        moved: How many moved in all.
        golden: (frames, *shape of one).
    """
    shape = (len(golden), *layout.shape)
    found = lane_values(layout, words).reshape(-1)
    expected = np.asarray(golden).reshape(-1)[: len(found)]
    wrong = np.flatnonzero(found != expected)
    first = None
    if len(wrong):
        at = int(wrong[0])
        frame, *index = (int(place) for place in np.unravel_index(at, shape))
        first = Mismatch(frame, tuple(index), int(expected[at]), int(found[at]))
    return Comparison(len(golden) * layout.beats, moved, len(wrong), len(found), first)
