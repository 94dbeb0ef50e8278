"""Build the points of a design space, several at a time, so that nothing that was finished is lost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from brainsmith.blueprint.space.space import Space
from brainsmith.errors import ExplorationError
from brainsmith.exploration.point_journal import PointJournal, PointRun, exploring
from brainsmith.exploration.point_process import WorkerLostError, WorkerProcess
from brainsmith.store.fingerprint import digest

POINT_SECONDS = 3600.0
"""How long a point may take at one fidelity."""

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
        listener: Is called with each run that ended.
    """

    space: Space
    folder: Path
    model: str | None = None
    jobs: int = 1
    megabytes: int = 0
    seconds: float = POINT_SECONDS
    listener: Callable[[PointRun], None] | None = None
    _stopped: bool = field(default=False, repr=False)
    _workers: list[WorkerProcess] = field(default_factory=list, repr=False)

    def run(self, points: Iterable[Iterable[int]], fidelity: str = "estimates") -> list[PointRun]:
        """Build points that are not built yet, and return all that is known at this fidelity.

        Args:
            points: Rows of `Space.points`.
            fidelity: How far each is built: one of `OUTPUTS`.

        Raises:
            ExplorationError: Another exploration runs in the folder, its journal is of another version, or there is no
                model.
        """
        with exploring(self.folder):
            journal = PointJournal(self.folder)
            try:
                journal.resume()
                journal.add(
                    ((self.key(choices), choices) for choices in map(self.space.point_of, points)), fidelity
                )
                self._work(fidelity)
                return journal.runs(fidelity)
            finally:
                journal.close()

    def stop(self) -> None:
        """End at once: no further point is begun, and those that are built wait for the next exploration of the folder."""
        self._stopped = True
        for worker in self._workers:
            worker.stop()

    def key(self, choices: dict[str, int]) -> str:
        """Return what stands for a point: its blueprint and its model, whatever the space is called in which it stands."""
        model = self._model_of(choices)
        content = digest(Path(model).read_bytes())
        return digest(json.dumps([content, self.space.text(choices)]))

    def _model_of(self, choices: dict[str, int]) -> str:
        model = self.space.model(choices) or self.model
        if model is None:
            raise ExplorationError(
                f"{self.space.file} names no model: give one, or write explore: {{model: FILE.onnx}} into the blueprint"
            )
        if not Path(model).is_file():
            raise ExplorationError(f"{self.space.file}: model {model} does not exist")
        return model

    def _work(self, fidelity: str) -> None:
        self._workers = [WorkerProcess(self.megabytes) for _ in range(self.jobs)]
        with ThreadPoolExecutor(self.jobs) as threads:
            building = [threads.submit(self._build_all, fidelity, worker) for worker in self._workers]
            try:
                for done in building:
                    done.result()
            finally:  # one that fails, or Ctrl-C, ends the others
                self.stop()

    def _build_all(self, fidelity: str, worker: WorkerProcess) -> None:
        """Build one waiting point after the other."""
        journal = PointJournal(self.folder)
        try:
            for run in self._waiting(journal, fidelity):
                self._build(journal, worker, run)
        finally:
            worker.close()
            journal.close()

    def _waiting(self, journal: PointJournal, fidelity: str) -> Iterator[PointRun]:
        while not self._stopped:
            run = journal.begin(fidelity, self.seconds + _LEASE)
            if run is None:
                return
            yield run

    def _build(self, journal: PointJournal, worker: WorkerProcess, run: PointRun) -> None:
        folder = self.folder / "points" / run.key[:16]
        folder.mkdir(parents=True, exist_ok=True)
        blueprint = folder / "blueprint.yaml"
        blueprint.write_text(self.space.text(dict(run.choices)), "utf-8")
        task = {
            "model": str(self._model_of(dict(run.choices))),
            "blueprint": str(blueprint),
            "output": str(folder / run.fidelity),
            "fidelity": run.fidelity,
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
            if "figures" in answer:
                journal.finish(run, answer["figures"], answer["seconds"])
            else:
                journal.fail(run, answer["reason"], answer["seconds"], again=bool(answer.get("memory")))
        self._tell(journal, run)

    def _tell(self, journal: PointJournal, run: PointRun) -> None:
        if self.listener is not None:
            with suppress(StopIteration):
                self.listener(next(one for one in journal.runs(run.fidelity) if one.key == run.key))
