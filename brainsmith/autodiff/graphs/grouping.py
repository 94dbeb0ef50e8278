"""Which steps of a computation run together: elementwise ones of one shape whose results only each other read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from brainsmith.autodiff.op import Shape

LARGEST = 256
"""The most functions of numpy in one loop: a compiler's time grows faster than what it compiles."""

Name = TypeVar("Name", bound="Hashable")


@dataclass(frozen=True)
class Candidate:
    """A step that may run together with others.

    Attributes:
        sources: What makes its inputs, one for each.
        readers: How often its result is read, wherever that is.
        shape: Of its result.
        size: How many functions of numpy it applies; 0 for one that is no part of a loop.
    """

    sources: Sequence[object]
    readers: int
    shape: Shape | None
    size: int


def group(candidates: dict[Name, Candidate]) -> list[list[Name]]:
    """Return all steps in groups, in the given order within each; the groups in the order of their last steps.

    All that a group reads is then made by groups before it. A step joins the group of its readers if all of them are in
    it. Each step is looked at once, after its readers, so the time is linear.

    Args:
        candidates: By name, each after what it reads.
    """
    read_by: dict[object, list[Name]] = {}
    for name, candidate in candidates.items():
        for source in candidate.sources:
            read_by.setdefault(source, []).append(name)
    found: list[list[Name]] = []
    sizes: list[int] = []
    home: dict[Name, int] = {}
    for name in reversed(candidates):
        candidate, readers = candidates[name], read_by.get(name, [])
        homes = {home.get(reader, -1) for reader in readers}
        at = homes.pop() if len(homes) == 1 and len(readers) == candidate.readers else -1
        if at < 0 or not _fit(candidate, candidates[found[at][0]], sizes[at]):
            at = len(found)
            found.append([])
            sizes.append(0)
        found[at].append(name)
        sizes[at] += candidate.size
        home[name] = at
    return [names[::-1] for names in reversed(found)]


def _fit(candidate: Candidate, last: Candidate, size: int) -> bool:
    """Tell whether a step can join the group of a last step, which has a size already."""
    both = candidate.size > 0 and last.size > 0
    return both and candidate.shape == last.shape and size + candidate.size <= LARGEST
