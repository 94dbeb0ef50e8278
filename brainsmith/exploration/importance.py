"""How much each choice matters for a figure: the share of the figure's variance that goes with it.

Of the points with one alternative of a choice the mean is taken; the variance of these means, over that of all points, is
the share (the correlation ratio, eta squared). Shares of choices that act together do not add up to one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from brainsmith.exploration.ladder import Explored


def importance_of(explored: Explored) -> dict[str, dict[str, float]]:
    """Return of each objective that is known, by choice, its share from 0 to 1.

    Where the models know all points, these count, for the figures that they know.
    """
    space = explored.space
    runs = [run for run in explored.runs if run.state == "done" and run.figures]
    rows = np.array([space.row_of(run.choices) for run in runs], np.int32).reshape(
        len(runs), len(space.dimensions)
    )
    found: dict[str, dict[str, float]] = {}
    for name in explored.objectives:
        modelled = explored.table.get(name)
        if modelled is not None:
            choices, values = explored.points, modelled
        else:
            choices = rows
            values = np.array([_number((run.figures or {}).get(name)) for run in runs], float)
        known = ~np.isnan(values)
        found[name] = {
            each.name: share_of(choices[known, at], values[known]) for at, each in enumerate(space.dimensions)
        }
    return found


def share_of(chosen: NDArray[np.int32], values: NDArray[np.float64]) -> float:
    """Return the share of the variance of values that goes with what was chosen; 0 where they are all alike."""
    if not len(values) or np.ptp(values) == 0:
        return 0.0
    values = (values - values.min()) / np.ptp(
        values
    )  # from 0 to 1, so that no square is too small or too large
    _, which, count = np.unique(chosen, return_inverse=True, return_counts=True)
    means = np.bincount(which.reshape(-1), values) / count
    between = float(np.sum(count * (means - values.mean()) ** 2))
    return min(1.0, between / float(np.sum((values - values.mean()) ** 2)))


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
