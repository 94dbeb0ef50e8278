"""Build the points of a design space, several at a time, so that nothing that was finished is lost."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from brainsmith.blueprint.space.space import Space
from brainsmith.errors import ExplorationError
from brainsmith.exploration.point_journal import PointJournal, PointRun, exploring
from brainsmith.exploration.point_process import WorkerLostError, WorkerProcess
from brainsmith.forks import lock_of
from brainsmith.store.fingerprint import digest

POINT_SECONDS = 3600.0
"""How long a point may take at one fidelity."""

BLUEPRINT = "blueprint.yaml"
"""A point's, in its folder."""

_LEASE = 60.0
"""Seconds beyond that, after which a point waits again whose coordinator was killed."""


@dataclass
class Exploration:
    """A design space that is being explored.

    Attributes:
        space: What is explored.
        folder: Where its journal is, and its builds.
        model: Which is built, unless the space names one.
        jobs: How many points are built at once.
        megabytes: Of memory for each worker; 0 for any.
        seconds: How long a point may take.
        end: The time of `time.monotonic` from which on no point is begun.
        use_cache: Whether points share steps, and reuse those of earlier builds.
        listener: Is called with each run that ended, by one thread at a time.
    """

    space: Space
    folder: Path
    model: str | None = None
    jobs: int = 1
    megabytes: int = 0
    seconds: float = POINT_SECONDS
    end: float = inf
    use_cache: bool = True
    listener: Callable[[PointRun], None] | None = None
    _stopped: bool = field(default=False, repr=False)
    _workers: list[WorkerProcess] = field(default_factory=list, repr=False)
    _telling: Any = field(default_factory=lock_of, repr=False)

    def run(
        self,
        points: Iterable[Iterable[int]],
        fidelity: str = "estimates",
        propose: Callable[[Sequence[PointRun]], Iterable[Mapping[str, int]]] | None = None,
    ) -> list[PointRun]:
        """Build points that are not built yet, and return what is known of them, in their order.

        Args:
            points: Rows of `Space.points`.
            fidelity: How far each is built: `MODELS`, or one of `OUTPUTS`.
            propose: Is asked for further points when none waits, with the runs that ended since it was asked last; by no
                point it says that there are no more.

        Raises:
            ExplorationError: Another exploration runs in the folder, its journal is of another version, or there is no
                model.
        """
        try:
            with exploring(self.folder):
                journal = PointJournal(self.folder)
                try:
                    journal.resume()
                    asked = _Asked(self, journal, fidelity, propose)
                    asked.add(map(self.space.point_of, points))
                    self._work(asked)
                    known = {one.key: one for one in journal.runs(fidelity)}
                    return [known[key] for key in asked.keys]
                finally:
                    journal.close()
        except (OSError, sqlite3.Error) as error:
            raise ExplorationError(
                f"{self.folder}: the exploration cannot write here: {error}\n"
                "  make the folder writable, free space, or name another folder with --output; no finished point is lost"
            ) from error

    def stop(self) -> None:
        """End at once: no further point is begun, and those that are built wait for the next exploration of the folder."""
        self._stopped = True
        for worker in self._workers:
            worker.stop()

    def key(self, choices: Mapping[str, int]) -> str:
        """Return what stands for a point: its blueprint and its model, whatever the space is called in which it stands."""
        model = self.model_of(choices)
        content = digest(Path(model).read_bytes())
        return digest(json.dumps([content, self.space.text(choices)]))

    def model_of(self, choices: Mapping[str, int]) -> str:
        """Return the file of a point's model.

        Raises:
            ExplorationError: There is none.
        """
        model = self.space.model(choices) or self.model
        if model is None:
            raise ExplorationError(
                f"{self.space.file} names no model: give one, or write explore: {{model: FILE.onnx}} into the blueprint"
            )
        if not Path(model).is_file():
            raise ExplorationError(f"{self.space.file}: model {model} does not exist")
        return model

    def _work(self, asked: _Asked) -> None:
        self._workers = [WorkerProcess(self.megabytes) for _ in range(self.jobs)]
        with ThreadPoolExecutor(self.jobs) as threads:
            building = [threads.submit(self._build_all, asked, worker) for worker in self._workers]
            try:
                for done in building:
                    done.result()
            except BaseException:  # one that fails, or Ctrl-C, ends the others
                self.stop()
                raise

    def _build_all(self, asked: _Asked, worker: WorkerProcess) -> None:
        """Build one waiting point after the other."""
        journal = PointJournal(self.folder)
        try:
            while not self._stopped and time.monotonic() < self.end:
                run = asked.next(journal)
                if run is None:
                    return
                self._build(journal, worker, run)
        finally:
            worker.close()
            journal.close()

    def _build(self, journal: PointJournal, worker: WorkerProcess, run: PointRun) -> None:
        folder = self.folder / folder_of(run.key)
        folder.mkdir(parents=True, exist_ok=True)
        blueprint = folder / BLUEPRINT
        blueprint.write_text(self.space.text(run.choices), "utf-8")
        task = {
            "model": str(self.model_of(run.choices)),
            "blueprint": str(blueprint),
            "output": str(folder / run.fidelity),
            "fidelity": run.fidelity,
            "use_cache": self.use_cache,
        }
        begin = time.perf_counter()
        try:
            answer = worker.run(task, self.seconds)
        except WorkerLostError as error:
            if self._stopped:
                journal.release(run)
                return
            journal.fail(run, str(error), time.perf_counter() - begin, again=True)
        else:
            if answer.get("full"):
                journal.release(run)
                raise OSError(answer["reason"])
            if "figures" in answer:
                journal.finish(run, answer["figures"], answer["seconds"])
            else:
                journal.fail(run, answer["reason"], answer["seconds"], again=bool(answer.get("memory")))
        self._tell(journal, run)

    def _tell(self, journal: PointJournal, run: PointRun) -> None:
        if self.listener is not None:
            with suppress(StopIteration), self._telling:
                self.listener(next(one for one in journal.runs(run.fidelity) if one.key == run.key))


def folder_of(key: str) -> str:
    """Return where a point's blueprint and builds are, in the exploration's folder."""
    return f"points/{key[:16]}"


class _Asked:
    """The points of one call, and those that are proposed as it goes on."""

    def __init__(
        self,
        exploration: Exploration,
        journal: PointJournal,
        fidelity: str,
        propose: Callable[[Sequence[PointRun]], Iterable[Mapping[str, int]]] | None,
    ) -> None:
        self._exploration, self._fidelity, self._propose = exploration, fidelity, propose
        self._lock = lock_of()
        self._told: set[str] = set()
        self._journal = journal
        self.keys: dict[str, None] = {}

    def add(self, points: Iterable[Mapping[str, int]], journal: PointJournal | None = None) -> None:
        """Let points wait that are not known yet."""
        found = [(self._exploration.key(choices), choices) for choices in points]
        (journal or self._journal).add(found, self._fidelity)
        self.keys.update(dict.fromkeys(key for key, _ in found))

    def next(self, journal: PointJournal) -> PointRun | None:
        """Take the next of these points that waits; None if there are no more."""
        seconds = self._exploration.seconds + _LEASE
        with self._lock:
            while True:
                run = journal.begin(self._fidelity, seconds, self.keys)
                if run is not None or self._propose is None:
                    return run
                runs = [one for one in journal.runs(self._fidelity) if one.key in self.keys]
                ended = [one for one in runs if one.state in ("done", "failed") and one.key not in self._told]
                self._told.update(one.key for one in ended)
                more = list(self._propose(ended))
                if not more:
                    return None
                self.add(more, journal)
