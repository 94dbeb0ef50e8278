"""What was known of plugins before their file broke: listed as stale while files are watched, and never built with.

For example, `plugins/scale.py` has the step `scale`; somebody saves it with a syntax error. A new process finds no such
step. One that watches lists it with `stale` in its record, the text of the problem; to resolve its name raises
StalePluginError.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import StalePluginError
from brainsmith.store.fingerprint import checksum

if TYPE_CHECKING:
    from brainsmith.errors import Problem
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.snapshot import Snapshot

STALE = "stale"
"""Under which name a record holds, in `extra`, the problem of its file."""


def refuse_stale(info: PluginInfo) -> None:
    """Check that a plugin's file is not broken.

    Raises:
        StalePluginError: It is, and the record is of the last version that was not.
    """
    if STALE in info.extra:
        error = StalePluginError(
            f"{info.type} {info.qualified!r} is stale: its file is broken, and its last good version is not used"
            f"\n  {info.extra[STALE]}"
        )
        error.plugin = info
        raise error


class LastGood:
    """The records of each file as of when it was last whole."""

    def __init__(self) -> None:
        self._by_file: dict[str, dict[tuple[str, str], PluginInfo]] = {}
        self._last: tuple[Snapshot, Snapshot] | None = None

    def completed(self, snapshot: Snapshot) -> Snapshot:
        """Return a whole snapshot with the records that files had before they broke, and note those that files have now."""
        if self._last is not None and self._last[0] is snapshot:
            return self._last[1]
        problems = {problem.file: problem for problem in reversed(snapshot.problems)}
        now: dict[str, dict[tuple[str, str], PluginInfo]] = {}
        for info in snapshot.records:
            if info.file:
                now.setdefault(info.file, {})[info.type, info.reference] = info
        lost = [file for file in self._by_file if file not in now and file not in problems]
        unread = {file: problem for file in lost if (problem := _why_not_python(file))}
        problems |= unread
        stale = [
            _marked(info, problem)
            for file, problem in problems.items()
            for key, info in self._by_file.get(file, {}).items()
            if key not in now.get(file, {})
        ]
        kept = {file: self._by_file.get(file, {}) | now.get(file, {}) for file in problems}
        self._by_file = {**now, **kept}
        found = snapshot.with_records([*snapshot.records, *stale]) if stale else snapshot
        if stale:
            found.problems = [*snapshot.problems, *unread.values()]
            found._identity = checksum(
                repr((snapshot.identity, [info.extra[STALE] for info in stale])).encode()
            ).hex()
        self._last = snapshot, found
        return found


def _marked(info: PluginInfo, problem: Problem) -> PluginInfo:
    return info.replace(extra={**info.extra, STALE: str(problem)})


def _why_not_python(file: str) -> Problem | None:
    """Return why a file that had plugins is not Python; a discovery says nothing of one that shows no decorator."""
    from brainsmith.plugin.isolation import UNREADABLE, unreadable  # parses: only where plugins are gone
    from brainsmith.store.files import read_bytes

    try:
        compile(read_bytes(file), file, "exec", dont_inherit=True)
    except FileNotFoundError:
        return None
    except UNREADABLE as error:
        return unreadable(file, error)
    return None
