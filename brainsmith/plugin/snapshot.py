"""What one discovery found: a value that is kept in memory and on disk."""

from __future__ import annotations

import marshal

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.precedence import ADAPTED
from brainsmith.store.fingerprint import checksum
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.adapter_result import SnapshotSources
    from brainsmith.store.files import Stamp


STAMPED = (4, 5)
"""Where in a snapshot's plain form the paths are, and their stamps."""


class Snapshot(Struct):
    """The result of a whole discovery.

    Attributes:
        records: Every plugin found.
        groups: The declared groups.
        problems: What could not be read, and clashes.
        adapters: One summary for each adapter: name, status, version, number of plugins, detail, milliseconds.
        paths: The files and folders that were read.
        stamps: Their stamps, in the same order.
        environment: The installed distributions (`distributions.environment`).
        created: Seconds since the epoch.
        complete: Whether no adapter failed; only then may it be kept.
        racy: What stands for the content of the paths whose stamps were too young to show every change (`is_racy`).
        sources: What it was made of, so that it can be brought up to date; None where that is not known.
    """

    records: list[PluginInfo]
    groups: dict[str, tuple[str, ...]]
    problems: list[Problem]
    adapters: list[dict[str, Any]]
    paths: list[str]
    stamps: list[Stamp]
    environment: tuple[tuple[str, ...], ...]
    created: float
    _identity: str = ""
    racy: dict[str, bytes] = {}  # noqa: RUF012  (only what is in it is ever taken out)
    complete: bool = True
    sources: SnapshotSources | None = None

    def __post_init__(self) -> None:
        racy, groups = sorted(self.racy.items()), sorted(self.groups.items())
        self._read = (self.paths, self.stamps, racy, self.environment, groups)

    @property
    def identity(self) -> str:
        """What stands for everything that was read, and for the groups, which the settings may declare."""
        if not self._identity:
            # Version 2 writes equal values alike.
            self._identity = checksum(marshal.dumps(self._read, 2)).hex()
        return self._identity

    def to_plain(self) -> tuple[Any, ...]:
        """Return it as tuples, lists, dicts, strings and numbers."""
        records = [info.to_plain() for info in self.records]
        problems = [problem.to_plain() for problem in self.problems]
        found = (self.adapters, self.paths, self.stamps, self.environment, self.created)
        return records, self.groups, problems, *found, self.identity, self.racy

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> Snapshot:
        """Make it of its plain form."""
        records, groups, problems, *rest = plain
        found = [PluginInfo.from_plain(values) for values in records]
        return cls(found, groups, [Problem(*values) for values in problems], *rest)

    def restricted(self, types: tuple[str, ...] | None) -> Snapshot:
        """Return it with the records of some types only."""
        if types is None:
            return self
        return self.with_records([info for info in self.records if info.type in types])

    def with_records(self, records: list[PluginInfo]) -> Snapshot:
        """Return it with other records."""
        other = object.__new__(Snapshot)
        vars(other).update(vars(self))
        other.records = records
        return other


class DiscoveryLimits:
    """What a discovery could not use or did not look at, and which of its records can be used here.

    Attributes:
        problems: The files that cannot be used, and clashes, each with its place.
        absent: The frameworks that an adapter would read and that are not installed.
        disabled: Those that the setting `frameworks` leaves out.
        restriction: What it did not look at, as a sentence; empty for a whole one.
        elsewhere: What other environments have, and what of it is not used.
    """

    def __init__(self, snapshot: Snapshot | None = None, restriction: str = "") -> None:
        adapters = [] if snapshot is None else snapshot.adapters
        self.problems: list[Problem] = [] if snapshot is None else snapshot.problems
        absent = [one["name"] for one in adapters if one["status"] == "absent"]
        self.absent = [name for name in absent if name in ADAPTED]
        read = {one["name"] for one in adapters}
        self.disabled = [name for name in ADAPTED if read and name not in read]
        self.restriction = restriction
        self.elsewhere = next((one["detail"] for one in adapters if one["name"] == "environments"), "")
        self._usable: set[PluginInfo] = set()

    def refuse_unusable(self, info: PluginInfo) -> None:
        """Check that a plugin can be used here; asked once for a record, since what is installed is the discovery's.

        Raises:
            PluginUnavailableError: Its record says that it cannot.
        """
        if (info.requires or info.min_brainsmith or info.max_brainsmith) and info not in self._usable:
            from brainsmith.plugin.requirements import refuse_unusable  # most plugins require nothing

            refuse_unusable(info)
            self._usable.add(info)
