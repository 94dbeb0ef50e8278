"""Numbers as people read them: counts, times, shares, rates."""

from __future__ import annotations

import math
from numbers import Real  # numpy's integers are such, but no int

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ABSENT = "–"
_SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_AGES = ((86400, "day"), (3600, "hour"), (60, "minute"))
_TIMES = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))


def number(value: object) -> float | None:
    """Read a number; None for anything else, for what is not finite, and for a truth value."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    return result if math.isfinite(result) else None


def as_stated(value: object) -> float | None:
    """Give a number as it is, whole or not; None for anything else, as `number` has it, and for a text."""
    return value if isinstance(value, int | float) and number(value) is not None else None


def count(value: float | None) -> str:
    """Write a count with separators: `1,234`; fractions keep one decimal place below 100."""
    if value is None:
        return ABSENT
    if value != round(value) and abs(value) < 100:
        return f"{value:,.1f}"
    return f"{round(value):,}"


def seconds(value: float | None) -> str:
    """Write a time with three significant digits and its unit: `1.25 µs`, `340 ms`, `75.0 s`, `5 min 3 s`."""
    if value is None:
        return ABSENT
    if value >= 120:
        return f"{int(value) // 60} min {int(value) % 60} s"
    scale, unit = next(((s, u) for s, u in reversed(_TIMES) if abs(value) >= s), _TIMES[0])
    return f"{three_digits(value / scale)} {unit}"


def size(count: float) -> str:
    """Write a number of bytes with three significant digits: `340 B`, `1.25 MB`, `12.5 GB`."""
    for factor, unit in _SIZES:
        if count >= factor:
            return f"{three_digits(count / factor)} {unit}"
    return f"{count:.0f} B"


def listed(texts: Sequence[str], most: int = 5) -> str:
    """Write the first of some texts and how many there are besides: `a, b and 3 more`."""
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def age(seconds: float) -> str:
    """Write how long ago something was, in one unit: `3 days`, `1 hour`, `less than a minute`."""
    for length, unit in _AGES:
        if seconds >= length:
            return plural(int(seconds // length), unit)
    return "less than a minute"


def three_digits(value: float) -> str:
    """Write three significant digits without an exponent: `0.12`, `1.25`, `12.5`, `125`."""
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value)))) if abs(value) >= 1 else 2
    return f"{value:,.{places}f}"


def share(value: float, places: int = 2) -> str:
    """Write a fraction in percent, also one above 1: what is taken of something may be more than there is.

    A little is not nothing: what the places would show as 0 is written with its first digit (`0.02 %` with one place).
    """
    per_cent = 100 * value
    if per_cent and not round(per_cent, places):
        places = -math.floor(math.log10(abs(per_cent)))
    return f"{per_cent:.{places}f} %"


def percent(value: float | None) -> str:
    """Write a fraction, or a number above 1 that is a percentage already, in percent."""
    if value is None:
        return ABSENT
    return share(value if value <= 1 else value / 100)


def small(value: float | None) -> str:
    """Write an error's size: `0`, `0.0039`, `1.2e-07`."""
    return ABSENT if value is None else "0" if value == 0 else f"{value:.2g}"


def plural(amount: float | None, one: str, many: str | None = None) -> str:
    """Write an amount with its noun: `1 layer`, `3 layers`."""
    return f"{count(amount)} {one if amount == 1 else many or one + 's'}"
