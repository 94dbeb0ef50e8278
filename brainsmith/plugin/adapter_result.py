"""What each adapter of a discovery found, and the file contents that this came from, for updates after an edit."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.forks import cached_property
from brainsmith.plugin.definitions import Definitions
from brainsmith.plugin.info import PluginInfo
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


_PLAIN = ("groups", "watched", "version", "status", "detail", "milliseconds")
"""The fields of a result that are plain."""


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

    version = ""
    status = "available"
    detail = ""
    milliseconds = 0.0

    def __init__(self, name: str) -> None:
        self.name = name
        self.records: list[PluginInfo] = []
        self.groups: dict[str, tuple[str, ...]] = {}
        self.problems: list[Problem] = []
        self.watched: list[str] = []

    @cached_property
    def claims(self) -> frozenset[tuple[Any, ...]]:
        """Name, type and framework of each record."""
        return frozenset(info.to_plain()[:3] for info in self.records)

    @cached_property
    def _watched_set(self) -> frozenset[str]:
        return frozenset(self.watched)

    def depends_on(self, paths: Iterable[str]) -> bool:
        """Tell whether the result depends on any of some paths."""
        return not self._watched_set.isdisjoint(paths)

    def to_plain(self) -> tuple[Any, ...]:
        """Return it as tuples, lists, dicts, strings and numbers."""
        records = [info.to_plain() for info in self.records]
        problems = [problem.to_plain() for problem in self.problems]
        return self.name, records, problems, {name: getattr(self, name) for name in _PLAIN}

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> AdapterResult:
        """Make it of its plain form."""
        name, records, problems, others = plain
        result = cls(name)
        result.records = [PluginInfo.from_plain(values) for values in records]
        result.problems = [Problem(*values) for values in problems]
        vars(result).update(others)
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


class SnapshotSources(Struct):
    """What a snapshot was made of.

    Attributes:
        results: What each adapter found, in the order in which they ran.
        definitions: What is known of the files.
    """

    results: list[AdapterResult]
    definitions: Definitions

    def to_plain(self) -> tuple[Any, ...]:
        """Return it as tuples, lists, dicts, strings and numbers."""
        return [result.to_plain() for result in self.results], self.definitions.to_plain()

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> SnapshotSources:
        """Make it of its plain form."""
        results, definitions = plain
        return cls(list(map(AdapterResult.from_plain, results)), Definitions.from_plain(definitions))
