"""What the front end takes for a model: from cleanup's result to layers of integers, without verification."""

from __future__ import annotations

import time
from pathlib import Path

RUNS, SECONDS = 20, 3.0
"""As many runs as fit into the time, and one at least: on a loaded machine the fastest of many counts."""


def seconds_of(file: Path) -> float:
    """Return the fastest of some runs in this process, where everything is imported."""
    from brainsmith.execution.read_model import read_model
    from brainsmith.plugins import steps

    taken: list[float] = []
    while not taken or (len(taken) < RUNS and sum(taken) < SECONDS):
        model = steps.cleanup(read_model(file), None)
        begin = time.perf_counter()
        steps.integer(model, None)
        taken.append(time.perf_counter() - begin)
    return min(taken)
