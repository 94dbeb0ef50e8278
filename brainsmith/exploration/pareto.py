"""The points that no other one beats: at least as good in each objective, and better in one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def front_of(figures: Sequence[Mapping[str, Any]], objectives: Mapping[str, str]) -> list[int]:
    """Return the places of the points that no other one beats; a point that lacks a figure is in no front.

    Args:
        figures: Of each point, by name.
        objectives: Figures, each with `max` or `min`.
    """
    columns = {name: np.array([_number(one.get(name)) for one in figures], float) for name in objectives}
    return [int(at) for at in next(fronts_of(columns, objectives), ())]


def fronts_of(
    columns: Mapping[str, NDArray[np.float64]], objectives: Mapping[str, str]
) -> Iterator[NDArray[np.intp]]:
    """Yield the front, that of all points but those, and so on, each in the order of the points.

    Args:
        columns: By figure, a value for each point; one that is not a number is in no front.
        objectives: Figures, each with `max` or `min`.
    """
    if not objectives:
        return
    table = np.stack(
        [columns[name] * (-1.0 if wanted == "max" else 1.0) for name, wanted in objectives.items()], axis=1
    )
    known = np.flatnonzero(~np.isnan(table).any(axis=1))
    rows, which = np.unique(table[known], axis=0, return_inverse=True)
    which, left = which.reshape(-1), np.arange(len(rows))
    while len(left):
        best = left[_unbeaten(rows[left])]
        yield known[np.isin(which, best)]
        left = np.setdiff1d(left, best)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _unbeaten(rows: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the places of the rows than which no other one is as small everywhere; no two are alike.

    They are in the order of their first values, so that what beats one stands before it.
    """
    left, found = np.arange(len(rows)), []
    while len(left):
        first, left = left[0], left[1:]
        found.append(first)
        left = left[(rows[left] < rows[first]).any(axis=1)]
    return np.array(found, np.intp)
