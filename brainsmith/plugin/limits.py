"""What one discovery could not give: said where a plugin is missing that somebody believes to be there."""

from __future__ import annotations

from brainsmith.plugin.precedence import ADAPTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brainsmith.errors import Problem
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.snapshot import Snapshot


class Limits:
    """What a discovery could not use or did not look at, and which of its records can be used here.

    Attributes:
        problems: The files that cannot be used, and clashes, each with its place.
        absent: The frameworks that an adapter would read and that are not installed.
        restriction: What it did not look at, as a sentence; empty for a whole one.
    """

    __slots__ = ("_usable", "absent", "problems", "restriction")

    def __init__(self, snapshot: Snapshot | None = None, restriction: str = "") -> None:
        adapters = [] if snapshot is None else snapshot.adapters
        self.problems: list[Problem] = [] if snapshot is None else snapshot.problems
        self.absent = [
            one["name"] for one in adapters if one["name"] in ADAPTED and one["status"] == "absent"
        ]
        self.restriction = restriction
        self._usable: set[PluginInfo] = set()

    def refuse_unusable(self, info: PluginInfo) -> None:
        """Check that a plugin can be used here; asked once for a record, since what is installed is the discovery's.

        Raises:
            PluginUnavailableError: Its record says that it cannot.
        """
        if (info.requires or info.min_brainsmith or info.max_brainsmith) and info not in self._usable:
            from brainsmith.plugin.requirements import refuse_unusable

            refuse_unusable(info)
            self._usable.add(info)
