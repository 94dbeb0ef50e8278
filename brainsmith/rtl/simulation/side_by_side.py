"""Do several things at once that do not depend on each other: compile, or run simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.plugin.processes import Workers, processors
from brainsmith.progress import Task, carried, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    T = TypeVar("T")

COMPILERS = 8
"""How many compile side by side at most, on a machine with so many processors: each takes up to 0.5 GB."""

RUNS = 4
"""Runs side by side at most, on a machine with so many processors: each holds all of its beats."""


def side_by_side(
    what: str, runs: Sequence[Callable[[], T]], unit: str = "runs", at_once: int = RUNS
) -> list[T]:
    """Return what functions give; as many run at once as there are processors.

    Args:
        what: How the progress names all of them.
        runs: In the order of what is returned. The first one that fails in this order is what fails.
        unit: What the progress calls them.
        at_once: How many run at once at most.
    """
    with Task(what, len(runs), unit) as task, Workers(min(len(runs), processors(), at_once)) as pool:
        done = []
        for future in [pool.submit(carried(run)) for run in runs]:
            done.append(wait_for(future))
            task.add()
        return done
