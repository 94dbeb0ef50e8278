"""Entry points as metadata folders of distributions declare them; nothing that they name is imported."""

from __future__ import annotations

import os
from importlib.metadata import EntryPoint, PathDistribution
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import Problem
from brainsmith.plugin.isolation import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brainsmith.plugin.distributions import InfoFolder

UNREADABLE_METADATA = (*UNREADABLE, AttributeError, LookupError)
"""What reading metadata raises, whatever somebody wrote there."""


class Offer(EntryPoint):
    """An entry point, and the distribution that offers it.

    stevedore loads each entry point that it lists. Loading this one gives itself, and imports nothing.

    Attributes:
        distribution: The distribution's name, as its metadata folder has it.
        version: Its version.
    """

    distribution: str
    version: str

    def __init__(self, entry: EntryPoint, distribution: str, version: str) -> None:
        super().__init__(entry.name, entry.value, entry.group)
        vars(self).update(distribution=distribution, version=version)  # an entry point is immutable

    def load(self) -> Offer:
        """Return itself."""
        return self


def offers_of(folders: Iterable[InfoFolder], group: str, problems: list[Problem]) -> Iterator[Offer]:
    """Yield the entry points of a group that metadata folders declare.

    Args:
        folders: They.
        group: The group's name.
        problems: Gets what cannot be read.
    """
    for info in folders:
        try:
            entries = PathDistribution(Path(info.path)).entry_points.select(group=group)
        except UNREADABLE_METADATA as error:
            text = f"its entry points cannot be read: {error}"
            problems.append(Problem(os.path.join(info.path, "entry_points.txt"), 0, 0, text))
            continue
        yield from (Offer(entry, info.name, info.version) for entry in entries)
