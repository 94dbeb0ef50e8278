"""How often things happened, and how long they took: plain numbers, which cost nothing to keep and need no package."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.forks import lock_of
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Labels = tuple[str, ...]


class Distribution(Struct):
    """How long the things of one kind took.

    Attributes:
        counts: How many took up to each bound, those of the bounds before included, and at the end how many there are.
        seconds: That all of them took.
    """

    counts: tuple[int, ...]
    seconds: float


class Timings:
    """How long things took, by the values of some labels; any thread may note and read.

    Args:
        bounds: In seconds, upwards: between these it counts.
        known: Labels of what may happen: they are there with 0 before it does, so that the first time is seen as a change.
    """

    def __init__(self, bounds: Sequence[float], known: Iterable[Labels] = ()) -> None:
        self.bounds = tuple(bounds)
        self._lock = lock_of()
        self._counts = {labels: [0] * (len(self.bounds) + 1) for labels in known}
        self._seconds = dict.fromkeys(self._counts, 0.0)

    def note(self, labels: Labels, seconds: float) -> None:
        """Count one thing, and what it took."""
        at = next((at for at, bound in enumerate(self.bounds) if seconds <= bound), len(self.bounds))
        with self._lock:
            self._counts.setdefault(labels, [0] * (len(self.bounds) + 1))[at] += 1
            self._seconds[labels] = self._seconds.get(labels, 0.0) + seconds

    def found(self) -> dict[Labels, Distribution]:
        """Return what was noted by now, by the labels, in their order."""
        with self._lock:
            return {
                labels: Distribution(_summed(self._counts[labels]), self._seconds[labels])
                for labels in sorted(self._counts)
            }


class Tally:
    """Counts by the values of some labels; any thread may note and read."""

    def __init__(self) -> None:
        self._lock = lock_of()
        self._counts: dict[Labels, int] = {}

    def add(self, labels: Labels, more: int = 1) -> None:
        """Count something, or with -1 one less of what goes on."""
        with self._lock:
            self._counts[labels] = self._counts.get(labels, 0) + more

    def found(self) -> dict[Labels, int]:
        """Return the counts by now, by the labels, in their order."""
        with self._lock:
            return dict(sorted(self._counts.items()))


def _summed(counts: list[int]) -> tuple[int, ...]:
    total, summed = 0, []
    for count in counts:
        total += count
        summed.append(total)
    return tuple(summed)
