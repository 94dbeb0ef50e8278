"""The points that no other one beats: at least as good in each objective, and better in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1024


def front_of(figures: Sequence[Mapping[str, Any]], objectives: Mapping[str, str]) -> list[int]:
    """Return the places of the points that no other one beats; a point that lacks a figure is in no front.

    Args:
        figures: Of each point, by name.
        objectives: Figures, each with `max` or `min`.
    """
    rows = [[_number(one.get(name)) for name in objectives] for one in figures]
    table = np.array(rows, float).reshape(len(rows), len(objectives))
    table *= [-1.0 if wanted == "max" else 1.0 for wanted in objectives.values()]
    known = np.flatnonzero(~np.isnan(table).any(axis=1)) if objectives else np.arange(0)
    return [int(at) for at in known[_unbeaten(table[known])]]


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _unbeaten(table: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell of each row whether no other one is as small everywhere and smaller somewhere."""
    kept = np.ones(len(table), bool)
    for begin in range(0, len(table), _BLOCK):
        rows = table[begin : begin + _BLOCK, None, :]
        beaten = np.all(table[None] <= rows, axis=2) & np.any(table[None] < rows, axis=2)
        kept[begin : begin + _BLOCK] = ~np.any(beaten, axis=1)
    return kept
