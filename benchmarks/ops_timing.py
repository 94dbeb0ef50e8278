"""Time calls within one process, side by side, and say what they reach."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 0.003
"""How long one sample lasts at least, so that the clock's own time does not count."""


class Figure(NamedTuple):
    """One line of the table.

    Attributes:
        what: What was measured.
        found: The figure, as text; why there is none where it could not be measured.
        goal: What is to be reached, as text.
        reached: Whether it is.
    """

    what: str
    found: str
    goal: str
    reached: bool


def compare(
    first: Callable[[], object], second: Callable[[], object], samples: int = 40
) -> tuple[float, float]:
    """Return the seconds that two calls take: the best of samples that are taken in turn."""
    repeats = [_repeats(first), _repeats(second)]
    best = [float("inf")] * 2
    for _ in range(samples):
        for at, call in enumerate((first, second)):
            best[at] = min(best[at], _sample(call, repeats[at]))
    return best[0], best[1]


def _repeats(call: Callable[[], object]) -> int:
    call()
    return max(1, round(SECONDS / max(_sample(call, 1), 1e-7)))


def _sample(call: Callable[[], object], repeats: int) -> float:
    begin = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - begin) / repeats


def faster(
    what: str, compiled: Callable[[], object], numpy_form: Callable[[], object], goal: float
) -> Figure:
    """Measure how many times faster a call is than its numpy form."""
    seconds, reference = compare(compiled, numpy_form)
    ratio = reference / seconds
    found = f"{seconds * 1e3:.2f} ms, {ratio:.1f} x faster"
    return Figure(what, found, f">= {goal:g} x", ratio >= goal)


def slower(what: str, call: Callable[[], object], reference: Callable[[], object], goal: float) -> Figure:
    """Measure how many times the time of another call a call takes."""
    seconds, other = compare(call, reference)
    ratio = seconds / other
    return Figure(what, f"{seconds * 1e6:.1f} us, {ratio:.2f} x", f"<= {goal:g} x", ratio <= goal)
