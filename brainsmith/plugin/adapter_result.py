"""What each adapter of a discovery found, and the definitions that it was made of: so that it can be brought up to date."""

from __future__ import annotations

from brainsmith.errors import Problem
from brainsmith.plugin.definitions import Definitions
from brainsmith.plugin.info import PluginInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class AdapterResult:
    """What one adapter found.

    Attributes:
        name: The adapter's name; `qonnx`, `finn`, `brainsmith`, `project`, `entry_points`.
        records: The plugins.
        groups: Declared groups: members by name.
        problems: Files that could not be read, clashes and the like; the rest was found all the same.
        watched: The files and folders that the result depends on.
        version: The version of what was read; empty where there is none.
        status: `available`, `absent` (not installed) or `failed`.
        detail: One sentence: what was found, or why not.
        milliseconds: How long it took.
    """

    __slots__ = (
        "_claims",
        "detail",
        "groups",
        "milliseconds",
        "name",
        "problems",
        "records",
        "status",
        "version",
        "watched",
        "watched_set",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.records: list[PluginInfo] = []
        self.groups: dict[str, tuple[str, ...]] = {}
        self.problems: list[Problem] = []
        self.watched: list[str] = []
        self.watched_set: frozenset[str] | None = None
        self._claims: frozenset[tuple[Any, ...]] | None = None
        self.version = ""
        self.status = "available"
        self.detail = ""
        self.milliseconds = 0.0

    def claims(self) -> frozenset[tuple[Any, ...]]:
        """Return name, type and framework of each record."""
        if self._claims is None:
            self._claims = frozenset(info.to_plain()[:3] for info in self.records)
        return self._claims

    def depends_on(self, paths: Iterable[str]) -> bool:
        """Tell whether the result depends on any of some paths."""
        if self.watched_set is None:
            self.watched_set = frozenset(self.watched)
        return not self.watched_set.isdisjoint(paths)

    def to_plain(self) -> tuple[Any, ...]:
        """Return it as tuples, lists, dicts, strings and numbers."""
        return (
            self.name,
            [info.to_plain() for info in self.records],
            self.groups,
            [problem.to_plain() for problem in self.problems],
            self.watched,
            self.version,
            self.status,
            self.detail,
            self.milliseconds,
        )

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> AdapterResult:
        """Make it of its plain form."""
        name, records, groups, problems, *rest = plain
        result = cls(name)
        result.records = [PluginInfo.from_plain(values) for values in records]
        result.groups = groups
        result.problems = [Problem(*values) for values in problems]
        result.watched, result.version, result.status, result.detail, result.milliseconds = rest
        return result

    def add(self, other: AdapterResult) -> None:
        """Add what was found in a part of the adapter's places."""
        self.records.extend(other.records)
        self.groups.update(other.groups)
        self.problems.extend(other.problems)
        self.watched.extend(other.watched)

    def clear(self) -> None:
        """Forget what was found, as before a second reading."""
        self.records.clear()
        self.groups.clear()
        self.problems.clear()
        self.watched.clear()


class SnapshotSources:
    """What a snapshot was made of.

    Attributes:
        results: What each adapter found, in the order in which they ran.
        definitions: What is known of the files.
    """

    __slots__ = ("definitions", "results")

    def __init__(self, results: list[AdapterResult], definitions: Definitions) -> None:
        self.results = results
        self.definitions = definitions

    def to_plain(self) -> tuple[Any, ...]:
        """Return it as tuples, lists, dicts, strings and numbers."""
        return [result.to_plain() for result in self.results], self.definitions.to_plain()

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> SnapshotSources:
        """Make it of its plain form."""
        results, definitions = plain
        return cls(
            [AdapterResult.from_plain(values) for values in results], Definitions.from_plain(definitions)
        )
