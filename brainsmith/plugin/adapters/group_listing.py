"""stevedore's managers over the group of entry points: they list it and filter it, and import nothing of it.

This module is imported only where entry points are listed anew: stevedore costs more than a whole cached discovery.
"""

from __future__ import annotations

import os
from importlib.metadata import PathDistribution, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stevedore.enabled import EnabledExtensionManager
from stevedore.extension import Extension, ExtensionManager

from brainsmith.errors import Problem
from brainsmith.plugin.isolation import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.metadata import EntryPoint

    from brainsmith.plugin.distributions import InfoFolder


class Offer(Extension):  # type: ignore[misc]
    """An entry point that is not loaded, and the distribution that offers it.

    Attributes:
        distribution: The distribution's name, as its metadata folder has it.
        version: Its version.
    """

    def __init__(self, entry: EntryPoint, distribution: str, version: str) -> None:
        super().__init__(entry.name, entry, None, None)
        self.distribution = distribution
        self.version = version


class _UnloadedManager(ExtensionManager):  # type: ignore[misc]
    """Lists what the metadata folders hold now.

    stevedore's own list is read from a file that it keeps by times rounded to two minutes, and does not say which
    distribution an entry point is of.
    """

    _offers: Callable[[], Iterator[Offer]]

    def list_entry_points(self) -> list[EntryPoint]:
        """Return the entry points of the group."""
        self._by_entry = {id(offer.entry_point): offer for offer in self._offers()}
        return [offer.entry_point for offer in self._by_entry.values()]

    def _load_one_plugin(self, ep: EntryPoint, *_invocation: Any) -> Offer:
        return self._by_entry[id(ep)]


class GroupListing(EnabledExtensionManager, _UnloadedManager):  # type: ignore[misc]
    """The entry points of a group that a discovery wants, in `extensions`: each an `Offer`.

    Attributes:
        problems: The metadata that cannot be read; all other is.
    """

    def __init__(
        self, group: str, folders: list[InfoFolder], zipped: bool, wanted: Callable[[Offer], bool]
    ) -> None:
        """List and filter.

        Args:
            group: The group's name.
            folders: The metadata folders that declare it.
            zipped: Whether `sys.path` has archives too, whose metadata only Python's own finders can read.
            wanted: Tells whether the discovery wants an entry point.
        """
        self.problems: list[Problem] = []
        self._offers = lambda: self._read(folders, zipped)
        super().__init__(group, wanted)

    def _read(self, folders: list[InfoFolder], zipped: bool) -> Iterator[Offer]:
        known: set[EntryPoint] = set()
        for info in folders:
            try:
                entries = PathDistribution(Path(info.path)).entry_points.select(group=self.namespace)
            except (*UNREADABLE, AttributeError) as error:  # whatever another's metadata may hold
                text = f"its entry points cannot be read: {error}"
                self.problems.append(Problem(os.path.join(info.path, "entry_points.txt"), 0, 0, text))
                continue
            known.update(entries)
            yield from (Offer(entry, info.name, info.version) for entry in entries)
        if not zipped:
            return
        try:
            for entry in entry_points(group=self.namespace):
                if entry not in known and entry.dist is not None:
                    yield Offer(entry, entry.dist.name, entry.dist.version)
        except (*UNREADABLE, AttributeError) as error:
            text = f"the entry points in the archives on sys.path cannot be read: {error}"
            self.problems.append(Problem("sys.path", 0, 0, text))
