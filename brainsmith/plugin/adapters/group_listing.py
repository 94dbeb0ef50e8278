"""The group of entry points, as stevedore lists and filters it; nothing that an entry point names is imported.

This module is imported only where entry points are listed anew: stevedore costs more than a whole cached discovery.
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from stevedore.enabled import EnabledExtensionManager

from brainsmith.errors import Problem
from brainsmith.plugin.adapters.offers import UNREADABLE_METADATA, Offer, offers_of
from brainsmith.plugin.distributions import info_folders, search_folders
from brainsmith.plugin.source_files import source_or_nothing
from brainsmith.store.files import is_endless, stamp
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brainsmith.plugin.distributions import InfoFolder


class GroupListing(EnabledExtensionManager):  # type: ignore[misc]
    """The entry points of a group that a discovery wants: `plugin` of each extension is an `Offer`.

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
        # The class's own would be filled once in a process.
        self.ENTRY_POINT_CACHE: dict[str, list[EntryPoint]] = {}
        self._folders = folders
        self._zipped = zipped
        super().__init__(group, lambda extension: wanted(extension.plugin))

    def list_entry_points(self) -> list[EntryPoint]:
        """Return what stevedore lists now, each as an `Offer`."""
        # stevedore's list does not say which distribution an entry point is of.
        offers = list(offers_of(self._folders, self.namespace, self.problems))
        known = {(offer.name, offer.value) for offer in offers}
        if any(map(_is_endless, info_folders(search_folders()))):
            return [*offers]  # Python's own reading of all distributions would not end
        try:
            with _state_on_path(self._folders):
                listed = {(entry.name, entry.value) for entry in super().list_entry_points()}
        except (
            UNREADABLE_METADATA
        ):  # one text that is broken, of any distribution, costs stevedore its whole list
            return [*offers, *(self._offers_elsewhere(known) if self._zipped else ())]
        offers = [offer for offer in offers if (offer.name, offer.value) in listed]
        return [*offers, *(self._offers_elsewhere(known) if listed - known else ())]

    def _offers_elsewhere(self, known: set[tuple[str, str]]) -> Iterator[Offer]:
        """Read what lies in no metadata folder, but in an archive."""
        try:
            for entry in entry_points(group=self.namespace):
                if (entry.name, entry.value) not in known and entry.dist is not None:
                    yield Offer(entry, entry.dist.name, entry.dist.version)
        except UNREADABLE_METADATA as error:
            text = f"the entry points in the archives on sys.path cannot be read: {error}"
            self.problems.append(Problem("sys.path", 0, 0, text))


def _is_endless(info: InfoFolder) -> bool:
    """Tell whether a file of a distribution's metadata is a pipe or a device, or a link to itself."""
    try:
        return any(is_endless(Path(info.path, name)) for name in ("entry_points.txt", "METADATA"))
    except OSError:
        return True


@contextmanager
def _state_on_path(folders: list[InfoFolder]) -> Iterator[None]:
    """Have stevedore read anew what changed since it was last asked.

    It remembers one list for each `sys.path`, in the process and in a file, where it rounds times to two minutes. So
    an entry that stands for the exact state is on the path meanwhile. Nothing can exist there: it is below a file.
    """
    texts = [os.path.join(info.path, "entry_points.txt") for info in folders]
    archives = [path for path in sys.path if os.path.isfile(path)]
    state = [(path, stamp(path)) for path in (*texts, *archives)], [source_or_nothing(path) for path in texts]
    entry = os.path.join(__file__, digest(repr(state)))
    importlib.invalidate_caches()  # Python's finders keep what they listed within a tick of the clock
    sys.path.append(entry)
    try:
        yield
    finally:
        sys.path.remove(entry)
