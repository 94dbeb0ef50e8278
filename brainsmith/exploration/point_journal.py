"""What is known of the points of an exploration, on disk: nothing that was finished is lost, whoever is killed."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from brainsmith.errors import ExplorationError
from brainsmith.store.reads import Reads

VERSION = 2
FILE, LOCK = "journal.sqlite", "exploring"
MOST_TRIES = 2
"""How often a point is tried whose worker dies or hangs."""

_TABLES = """
CREATE TABLE points (key TEXT PRIMARY KEY, number INTEGER NOT NULL, choices TEXT NOT NULL);
CREATE TABLE runs (
    key TEXT NOT NULL REFERENCES points, fidelity TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
    figures TEXT, reason TEXT, seconds REAL, outside TEXT, PRIMARY KEY (key, fidelity)
);
CREATE TABLE command (options TEXT NOT NULL);
"""


class PointRun(NamedTuple):
    """One point at one fidelity.

    Attributes:
        key: Of the point.
        number: Of the point, in the order in which points were added.
        choices: Its alternatives, by dimension.
        fidelity: How far it is built.
        state: ``waiting``, ``running``, ``done`` or ``failed``.
        tries: How often it was begun.
        figures: What is known of it, when it is done.
        reason: Why it failed.
        seconds: How long it took.
    """

    key: str
    number: int
    choices: Mapping[str, int]
    fidelity: str
    state: str
    tries: int
    figures: Mapping[str, Any] | None
    reason: str | None
    seconds: float | None


class PointJournal:
    """The points of one exploration, for the one thread that opened it. Who writes holds the folder by `exploring`."""

    def __init__(self, folder: Path) -> None:
        """Open the journal of a folder, or make one.

        Raises:
            ExplorationError: It is of another version, or no journal, or cannot be written.
        """
        self._file = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(self._file, timeout=60, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            with self._writing():
                (version,) = self._base.execute("PRAGMA user_version").fetchone()
                if version == 0:
                    for statement in _TABLES.split(";"):
                        self._base.execute(statement)
                    self._base.execute(f"PRAGMA user_version={VERSION}")
        except (OSError, sqlite3.Error) as error:
            raise ExplorationError(
                f"{self._file}: the journal cannot be opened: {error}\n"
                "  make the folder writable, free space, or name another folder with --output"
            ) from error
        if version not in (0, VERSION):
            raise ExplorationError(
                f"{self._file}: a journal of version {version}, and this BrainSmith's is {VERSION}: explore in another "
                "folder"
            )

    def close(self) -> None:
        """Close it; what was written stays."""
        self._base.close()

    def note_command(self, command: Mapping[str, Any]) -> None:
        """Note how the exploration was asked for last: plain values by name."""
        with self._writing():
            self._base.execute("DELETE FROM command")
            self._base.execute("INSERT INTO command VALUES (?)", (json.dumps(dict(command)),))

    @contextmanager
    def _writing(self, lasting: bool = True) -> Iterator[None]:
        """Make several changes one, and wait for other writers; they outlast a loss of power only if they are lasting."""
        self._base.execute(f"PRAGMA synchronous={'FULL' if lasting else 'NORMAL'}")
        try:
            self._base.execute("BEGIN IMMEDIATE")  # Ctrl-C as it waits is raised when it has begun
            yield
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise

    def add(self, points: Iterable[tuple[str, Mapping[str, int]]], fidelity: str) -> int:
        """Add points that wait for a fidelity; those that are known stay as they are. Return how many are new."""
        before = self._count()
        with self._writing():
            (number,) = self._base.execute("SELECT COALESCE(MAX(number) + 1, 0) FROM points").fetchone()
            for key, choices in points:
                row = (key, number, json.dumps(dict(choices)))
                number += self._base.execute("INSERT OR IGNORE INTO points VALUES (?, ?, ?)", row).rowcount
                run = (key, fidelity)
                self._base.execute(
                    "INSERT OR IGNORE INTO runs (key, fidelity, state) VALUES (?, ?, 'waiting')", run
                )
        return self._count() - before

    def _count(self) -> int:
        return int(self._base.execute("SELECT COUNT(*) FROM runs").fetchone()[0])

    def waiting(self, fidelity: str) -> list[str]:
        """Return the points that wait for a fidelity, by their keys and in their order."""
        found = self._base.execute(
            "SELECT key FROM runs JOIN points USING (key) WHERE fidelity = ? AND state = 'waiting' ORDER BY number",
            (fidelity,),
        )
        return [key for (key,) in found]

    def begin(self, key: str, fidelity: str) -> PointRun | None:
        """Take a point; None if it does not wait for this fidelity."""
        with self._writing(lasting=False):  # one that was begun and not finished is begun again
            taken = self._base.execute(
                "UPDATE runs SET state = 'running', tries = tries + 1 "
                "WHERE key = ? AND fidelity = ? AND state = 'waiting'",
                (key, fidelity),
            ).rowcount
        return self.run(key, fidelity) if taken else None

    def finish(
        self,
        run: PointRun,
        figures: Mapping[str, Any],
        seconds: float,
        outside: Mapping[str, Any] | None = None,
    ) -> None:
        """Note what is known of a point now, and what its steps read from outside, as `Reads.plain` gives it."""
        self._end(
            run,
            "done",
            json.dumps(dict(figures)),
            None,
            seconds,
            json.dumps(dict(outside)) if outside else None,
        )

    def fail(self, run: PointRun, reason: str, seconds: float, *, again: bool = False) -> None:
        """Note why a point failed; it may be tried again if it is not its own fault."""
        state = "waiting" if again and run.tries < MOST_TRIES else "failed"
        self._end(run, state, None, reason, seconds)

    def release(self, run: PointRun) -> None:
        """Let a point wait again that was begun and not tried to its end, as if it had not been begun."""
        with self._writing():
            self._base.execute(
                "UPDATE runs SET state = 'waiting', tries = tries - 1 "
                "WHERE key = ? AND fidelity = ? AND state = 'running'",
                (run.key, run.fidelity),
            )

    def release_all(self) -> int:
        """Let all wait again that were begun: who holds the folder has nobody else's among them. Return how many."""
        with self._writing():
            return self._base.execute(
                "UPDATE runs SET state = 'waiting', tries = tries - 1 WHERE state = 'running'"
            ).rowcount

    def _end(
        self,
        run: PointRun,
        state: str,
        figures: str | None,
        reason: str | None,
        seconds: float,
        outside: str | None = None,
    ) -> None:
        with self._writing():
            self._base.execute(
                "UPDATE runs SET state = ?, figures = ?, reason = ?, seconds = ?, outside = ? "
                "WHERE key = ? AND fidelity = ? AND state != 'done'",
                (state, figures, reason, seconds, outside, run.key, run.fidelity),
            )

    def resume(self) -> int:
        """Let those wait again that ran when a coordinator ended, and those whose steps read what is no longer as it was.

        Returns:
            How many these are.
        """
        read: dict[str, list[tuple[str, str]]] = {}
        for key, fidelity, outside in self._base.execute(
            "SELECT key, fidelity, outside FROM runs WHERE state = 'done' AND outside IS NOT NULL"
        ):
            read.setdefault(outside, []).append((key, fidelity))  # most points read the same
        changed = [
            run
            for outside, runs in read.items()
            if Reads.from_plain(json.loads(outside)).has_changed()
            for run in runs
        ]
        waiting = self.release_all()
        with self._writing():
            self._base.executemany(
                "UPDATE runs SET state = 'waiting', tries = 0, figures = NULL WHERE key = ? AND fidelity = ?",
                changed,
            )
        return waiting + len(changed)

    def run(self, key: str, fidelity: str) -> PointRun | None:
        """Return one run; None if it is not known."""
        return next(self._runs("WHERE runs.key = ? AND fidelity = ?", (key, fidelity)), None)

    def runs(self, fidelity: str | None = None) -> list[PointRun]:
        """Return all runs, or those of a fidelity, in the order of their points."""
        if fidelity is None:
            return list(self._runs("", ()))
        return list(self._runs("WHERE fidelity = ?", (fidelity,)))

    def _runs(self, where: str, values: Sequence[Any]) -> Iterator[PointRun]:
        columns = "runs.key, number, choices, fidelity, state, tries, figures, reason, seconds"
        text = f"SELECT {columns} FROM runs JOIN points USING (key) {where} ORDER BY number, fidelity"
        for key, number, choices, fidelity, state, tries, figures, reason, seconds in self._base.execute(
            text, values
        ):
            known = None if figures is None else json.loads(figures)
            yield PointRun(key, number, json.loads(choices), fidelity, state, tries, known, reason, seconds)


@contextmanager
def exploring(folder: Path) -> Iterator[None]:
    """Hold a folder for one exploration.

    Raises:
        ExplorationError: Another one runs in it; or it cannot be written, now or later.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOCK).open("a+") as lock:
            _take(lock, folder)
            yield
    except (OSError, sqlite3.Error) as error:
        raise ExplorationError(
            f"{folder}: the exploration cannot write here: {error}\n"
            "  make the folder writable, free space, or name another folder with --output; no finished point is lost"
        ) from error


def _take(lock: IO[str], folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        other = lock.read().strip() or "unknown"
        raise ExplorationError(
            f"another exploration runs in {folder} (process {other}): wait for it, or explore in another folder"
        ) from None
    lock.seek(0)
    lock.truncate()
    lock.write(str(os.getpid()))
    lock.flush()


def note_command(folder: Path, command: Mapping[str, Any]) -> None:
    """Note how an exploration was asked for last: plain values by name.

    Raises:
        ExplorationError: Another one runs in the folder, or its journal cannot be written.
    """
    with exploring(folder), closing(PointJournal(folder)) as journal:
        journal.note_command(command)


def noted_command(folder: Path) -> dict[str, Any]:
    """Return what was noted so; nothing where there is no exploration.

    Raises:
        ExplorationError: Its journal is of another version, or cannot be read.
    """
    if not (folder / FILE).is_file():
        return {}
    with closing(PointJournal(folder)) as journal:
        found = journal._base.execute("SELECT options FROM command").fetchone()
    return json.loads(found[0]) if found else {}
