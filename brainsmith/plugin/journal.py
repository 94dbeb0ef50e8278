"""Record the changes that one thread makes to a registry, so that they can be undone."""

from __future__ import annotations

from contextlib import contextmanager

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

    Key = tuple[str, str, str]


class Journal:
    """The net changes of a registry: for each place what was there before, and what is there now.

    Attributes:
        changes: Pairs (before, after) by place; None where there was, or is, nothing. A place is `("record",
            "type:Name", framework)` or `("object", type, reference)`.
    """

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


@contextmanager
def recording(open_journals: Any, journal: Journal) -> Iterator[Journal]:
    """Write what this thread changes in a registry into a journal, inside a `with`. They nest: the innermost counts."""
    outer = getattr(open_journals, "journal", None)
    open_journals.journal = journal
    try:
        yield journal
    finally:
        open_journals.journal = outer
