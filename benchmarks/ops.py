"""Measure the ops: compiled ones, native ones, isolation and loading.

    python benchmarks/ops.py

Every figure is measured side by side with what it is compared with, in this process, and is the best of samples taken in
turn. What cannot be measured here says why. Compiled libraries go to a cache of their own.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from measure import empty_cache, row

Row = tuple[str, str, str, bool]
"""What was measured, what was found, the goal, and whether it is reached."""

TOPICS = ("ops_compiled", "ops_native", "ops_isolation")


def main() -> None:
    """Print the table; exit with 1 if a figure is not reached."""
    print("ops, each beside what it is compared with")
    figures: list[Row] = []
    with empty_cache() as cache:
        os.environ["XDG_CACHE_HOME"] = str(cache)
        for topic in TOPICS:
            figures.extend(_measure(topic))
    sys.exit(not all(reached for _, _, _, reached in figures))


def _measure(topic: str) -> list[Row]:
    try:
        figures: list[Row] = import_module(topic).measure()
    except (Exception, SystemExit) as error:  # noqa: BLE001  the other topics are measured all the same
        figures = [(topic, f"not measured: {type(error).__name__}: {error}", "", False)]
    for what, found, goal, reached in figures:
        row(what, found, goal, reached=reached)
    return figures


if __name__ == "__main__":
    main()
