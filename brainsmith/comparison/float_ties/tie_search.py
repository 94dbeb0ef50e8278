"""Explain outputs alone: find levels that rounding may have changed so that the network gives them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.comparison.float_ties.explanation import Explanation, wrong_output
from brainsmith.comparison.float_ties.level_differences import compare_levels
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.comparison.float_ties.bounded_operators import BoundedQuantiser
    from brainsmith.comparison.float_ties.bounded_tensor import BoundedTensor
    from brainsmith.comparison.float_ties.float_network import FloatNetwork
    from brainsmith.comparison.float_ties.level_differences import FloatTie


MOST_TRIED = 64
"""Combinations of levels that are tried for a frame."""


@dataclass(frozen=True)
class LevelFlip:
    """One value that gets the level beside its own."""

    tensor: str
    place: tuple[int, ...]
    step: int


class TieSearch:
    """Tries the levels between which rounding decides, in one frame.

    Args:
        network: What is right.
        feed: The frame.

    Attributes:
        gave_up: There were more combinations than are tried.
    """

    def __init__(self, network: FloatNetwork, feed: Mapping[str, Array]) -> None:
        self._network = network
        self._feed = feed
        self.gave_up = False

    def explain(self, outputs: Mapping[str, Array], tolerance: float | None) -> Explanation:
        """Return the float ties with which the network gives some outputs, as few as possible.

        Args:
            outputs: What was found; a single value stands for a class.
            tolerance: As in `explain_frame`.
        """
        waiting: deque[tuple[LevelFlip, ...]] = deque([()])
        first = ""
        for _ in range(MOST_TRIED):
            flips = waiting.popleft()
            tensors, ties, undecided, values = self._follow(flips)
            wrong = (
                wrong_output(self._network, tensors, name, found, tolerance)
                for name, found in outputs.items()
            )
            reason = next(filter(None, wrong), "")
            if not reason:
                return Explanation(tuple(ties), values)
            first = first or reason
            waiting.extend((*flips, flip) for flip in undecided)
            if not waiting:
                return Explanation((), values, f"{first}, whichever level float ties get")
        self.gave_up = True
        return Explanation(
            (), values, f"{first}; more than {MOST_TRIED} combinations of float ties may explain it"
        )

    def _follow(
        self, flips: tuple[LevelFlip, ...]
    ) -> tuple[dict[str, BoundedTensor], list[FloatTie], list[LevelFlip], int]:
        """Compute the frame with other levels; return the tensors, the ties, and what else is undecided after them."""
        ties: list[FloatTie] = []
        undecided: list[LevelFlip] = []
        left = len(flips)
        values = 0

        def decide(quantiser: BoundedQuantiser, given: BoundedTensor, own: BoundedTensor) -> Array:
            nonlocal left, values
            values += own.value.size
            mine = [flip for flip in flips if flip.tensor == quantiser.node.output[0]]
            left -= len(mine)
            if not left:
                last = mine[-1].place if mine else None
                undecided.extend(
                    flip for flip in undecided_levels(quantiser, own) if last is None or flip.place > last
                )
            if not mine:
                return own.value
            found = own.value.astype(np.float64)
            for flip in mine:
                found[flip.place] += flip.step * np.broadcast_to(quantiser.unit, found.shape)[flip.place]
            compared = compare_levels(quantiser, given, own, found, once=False)
            ties.extend(compared.ties)
            return compared.levels

        return self._network.follow(self._feed, decide), ties, undecided, values


def undecided_levels(quantiser: BoundedQuantiser, own: BoundedTensor) -> list[LevelFlip]:
    """Return the other levels that rounding can give."""
    if own.low is own.value and own.high is own.value:
        return []
    name = quantiser.node.output[0]
    return [
        LevelFlip(name, tuple(map(int, place)), step)
        for step, end in ((-1, own.low), (1, own.high))
        for place in np.argwhere(np.rint((end.astype(np.float64) - own.value) / quantiser.unit) * step >= 1)
    ]
