"""What one thread changes in a registry while it is watched, so that all of it can be undone."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

    Key = tuple[str, str, str]


class Journal:
    """The net changes of a registry: for each place what was there before, and what is there now.

    Attributes:
        changes: Pairs (before, after) by place; None where there was, or is, nothing. A place is `("record",
            "type:Name", framework)` or `("object", type, reference)`.
    """

    __slots__ = ("changes",)

    def __init__(self) -> None:
        self.changes: dict[Key, tuple[Any, Any]] = {}

    def note(self, place: Key, before: Any, after: Any) -> None:
        """Note a change; only what was there at first and what is there at last counts."""
        if place in self.changes:
            before = self.changes[place][0]
        self.changes[place] = (before, after)

    def entered(self) -> list[PluginInfo]:
        """Return the records that are new, in the order in which they came."""
        return [
            after
            for (kind, *_), (before, after) in self.changes.items()
            if kind == "record" and before is None and after is not None
        ]


class Recording:
    """Writes what this thread changes in a registry into a journal, inside a `with`. They nest: the innermost counts."""

    __slots__ = ("_journal", "_open", "_outer")

    def __init__(self, open_journals: Any, journal: Journal) -> None:
        self._open = open_journals
        self._journal = journal
        self._outer: Journal | None = None

    def __enter__(self) -> Journal:
        self._outer = getattr(self._open, "journal", None)
        self._open.journal = self._journal
        return self._journal

    def __exit__(self, *_: object) -> None:
        self._open.journal = self._outer
