"""What folding may raise in a layer, and up to where."""

from __future__ import annotations

from dataclasses import dataclass

PARALLEL_WINDOW = "parallel_window"
"""The switch of a sliding window that gives all its positions in one beat."""


@dataclass(frozen=True)
class Parallelism:
    """One attribute that makes a layer faster.

    Attributes:
        attribute: Its name, such as `PE` or `SIMD`.
        values: What it may be, ascending; the slowest first.
        window: The name of the same attribute in a sliding window before it (`SIMD`), which must have the same value;
            empty if there is none. A layer that reads a window channel by channel (Pool) needs that. Or
            `parallel_window`: if the value is more than 1, the sliding window gives all positions in one beat.
    """

    attribute: str
    values: tuple[int, ...]
    window: str = ""

    def __post_init__(self) -> None:
        if not self.values or list(self.values) != sorted(set(self.values)) or self.values[0] < 1:
            raise ValueError(
                f"values of {self.attribute} must be ascending and positive, not {self.values!r}"
            )


def folded(shape: tuple[int, ...], lanes: int) -> tuple[int, ...]:
    """Return the shape of a tensor in beats of so many values of its last axis: (..., beats, lanes)."""
    return (*shape[:-1], shape[-1] // lanes, lanes)


def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of a positive number, ascending."""
    if number < 1:
        raise ValueError(f"a number with divisors must be 1 or more, not {number!r}")
    return tuple(one for one in range(1, number + 1) if number % one == 0)
