"""Build the points of a design space, several at a time, so that nothing that was finished is lost."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any

from brainsmith.blueprint.space.space import Space
from brainsmith.errors import ExplorationError, ModelError
from brainsmith.execution.read_model import model_bytes
from brainsmith.exploration.point_crew import Crew, LocalCrew, PointWorker
from brainsmith.exploration.point_journal import PointJournal, PointRun, exploring
from brainsmith.exploration.point_process import WorkerLostError
from brainsmith.exploration.point_task import BLUEPRINT, PointFiles, PointTask, files_of
from brainsmith.forks import cached_property

POINT_SECONDS = 3600.0
"""How long a point may take at one fidelity."""


@dataclass
class Exploration:
    """A design space that is being explored.

    As a context manager it keeps its workers from one `run` to the next, and ends them at last.

    Attributes:
        space: What is explored.
        folder: Where its journal is, and its builds.
        model: Which is built, unless the space names one.
        jobs: How many points are built at once, by workers of this machine.
        megabytes: Of memory for each of these; 0 for any.
        seconds: How long a point may take.
        end: The time of `time.monotonic` from which on no point is begun.
        use_cache: Whether points share steps, and reuse those of earlier builds.
        listener: Is called with each run that ended, by the thread that called `run`.
        crew: Gives other workers, such as those of a `ClusterCrew`; it is called when a point waits.
        command: How it was asked for, which the journal keeps: plain values by name.
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
    crew: Callable[[], Crew] | None = None
    command: Mapping[str, Any] | None = None
    _stopped: bool = field(default=False, repr=False)
    _crew: Crew | None = field(default=None, repr=False)
    _keeps: bool = field(default=False, repr=False)

    def __enter__(self) -> Exploration:
        self._keeps = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._keeps = False
        self._dismiss()

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
            ExplorationError: Another exploration runs in the folder, its journal is of another version, there is no
                model, or no worker of the cluster is left.
        """
        asked = _Asked(self, fidelity, propose)
        with closing(self._ended(asked, points)) as ended:
            for run in ended:
                if self.listener is not None:
                    self.listener(run)
        return asked.known

    def iterate(
        self, points: Iterable[Iterable[int]], fidelity: str = "estimates"
    ) -> Generator[PointRun, None, None]:
        """Build points as `run` does, and yield each run when it ends; points that were known are not among them.

        Who stops asking ends the builds that run; their points wait for the next time.
        """
        return self._ended(_Asked(self, fidelity, None), points)

    def stop(self) -> None:
        """End at once: no further point is begun, and those that are built wait for the next exploration of the folder."""
        self._stopped = True
        if self._crew is not None:
            self._crew.stop()

    def key(self, choices: Mapping[str, int]) -> str:
        """Return what stands for a point: the contents of its blueprint and its files, and what builds it."""
        return self.files(choices).key(self.environment)

    def files(self, choices: Mapping[str, int]) -> PointFiles:
        """Return what a point is built from."""
        return files_of(self.space, choices, self.model_of(choices))

    @cached_property
    def environment(self) -> str:
        """What stands for the packages, tools and plugins that build."""
        from brainsmith.build.environment import fingerprint

        return fingerprint()

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
            try:
                model_bytes(Path(model))
            except ModelError as error:
                raise ExplorationError(f"{self.space.file}: {error}") from error
        return model

    def _ended(self, asked: _Asked, points: Iterable[Iterable[int]]) -> Generator[PointRun, None, None]:
        """Build, and yield each run when it ends."""
        with ExitStack() as last:
            if not self._keeps:
                last.callback(self._dismiss)
            if self.crew is None:  # workers of this machine get ready while it is found out which points wait
                self._gathered()
            named = asked.named(map(self.space.point_of, points))  # one that cannot be built leaves no folder
            last.enter_context(exploring(self.folder))
            journal = PointJournal(self.folder)
            last.callback(journal.close)
            if self.command is not None:
                journal.note_command(self.command)
            journal.resume()
            asked.begin(journal, named)
            last.callback(asked.end)
            yield from self._built(asked)

    def _built(self, asked: _Asked) -> Iterator[PointRun]:
        """Give each idle worker the next point that waits, as long as there are any."""
        if not asked.waiting:
            return
        crew = self._gathered()
        idle: deque[PointWorker] = deque()
        running: dict[Future[dict[str, Any]], _Begun] = {}
        try:
            with ExitStack() as last:
                last.callback(lambda: asked.leave(running))  # when all threads have ended
                threads = last.enter_context(ThreadPoolExecutor(crew.most))
                try:
                    while self._goes_on(asked, crew, idle, bool(running)):
                        while idle and (begun := asked.next(idle[0])) is not None:
                            idle.popleft()
                            running[threads.submit(begun.worker.run, begun.task, self.seconds)] = begun
                        for done in wait(running, crew.patience, FIRST_COMPLETED).done:
                            begun = running.pop(done)
                            run = asked.note(begun, done)
                            if begun.worker.usable:
                                idle.append(begun.worker)
                            if run is not None:
                                yield run
                except BaseException:  # one that fails, Ctrl-C, or nobody asks any more: it ends the others
                    crew.stop()
                    raise
            crew.give_back(idle)
        except BaseException:
            self._dismiss()
            raise

    def _goes_on(self, asked: _Asked, crew: Crew, idle: deque[PointWorker], running: bool) -> bool:
        """Tell whether a point runs or can be begun, once there is a worker."""
        here = [*(worker for worker in idle if worker.usable), *crew.arrivals()]
        idle.clear()
        idle.extend(here)
        if self._stopped or time.monotonic() >= self.end:
            asked.close()
        while not (running or idle) and asked.waiting:
            crew.wait()
            idle.extend(crew.arrivals())
        return running or asked.waiting

    def _gathered(self) -> Crew:
        if self._crew is None:
            self._crew = LocalCrew(self.jobs, self.megabytes) if self.crew is None else self.crew()
        return self._crew

    def _dismiss(self) -> None:
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.close()


def folder_of(key: str) -> str:
    """Return where a point's blueprint and builds are, in the exploration's folder."""
    return f"points/{key[:16]}"


@dataclass
class _Begun:
    """A point that a worker has."""

    run: PointRun
    task: PointTask
    worker: PointWorker
    since: float


class _Asked:
    """The points of one call, and those that are proposed as it goes on; it alone writes the journal."""

    def __init__(
        self,
        exploration: Exploration,
        fidelity: str,
        propose: Callable[[Sequence[PointRun]], Iterable[Mapping[str, int]]] | None,
    ) -> None:
        self._exploration, self._fidelity, self._propose = exploration, fidelity, propose
        self._journal: PointJournal
        self._closed = False
        self._ended: list[PointRun] = []
        self._files: dict[str, PointFiles] = {}
        self._queue: deque[str] = deque()
        self._keys: dict[str, None] = {}
        self.known: list[PointRun] = []

    def begin(self, journal: PointJournal, named: Sequence[tuple[str, Mapping[str, int]]]) -> None:
        """Let points wait that are not known yet, by what `named` gave."""
        self._journal = journal
        self._add(named)

    def end(self) -> None:
        """Note what is known of all points now."""
        known = {one.key: one for one in self._journal.runs(self._fidelity)}
        self.known = [known[key] for key in self._keys]

    def named(self, points: Iterable[Mapping[str, int]]) -> list[tuple[str, Mapping[str, int]]]:
        """Return points with their keys; nothing is written yet.

        Raises:
            ExplorationError: There is no model, or a file cannot be read.
            BlueprintError: All problems of a point.
        """
        found = []
        for choices in points:
            files = self._exploration.files(choices)
            key = files.key(self._exploration.environment)
            self._files[key] = files
            found.append((key, choices))
        return found

    def _add(self, found: Sequence[tuple[str, Mapping[str, int]]]) -> None:
        if not found:
            return
        self._journal.add(found, self._fidelity)
        new = dict.fromkeys(key for key, _ in found if key not in self._keys)
        self._keys |= new
        waiting = self._journal.waiting(self._fidelity)
        self._queue.extend(key for key in waiting if key in new)
        if self._propose is not None:  # what was known before counts for what is proposed
            runs = [self._journal.run(key, self._fidelity) for key in new]
            self._ended += [run for run in runs if run is not None and run.state in ("done", "failed")]

    @property
    def waiting(self) -> bool:
        """Whether there may be a point to build."""
        return not self._closed and (bool(self._queue) or self._propose is not None)

    def close(self) -> None:
        """Begin no further point."""
        self._closed = True

    def next(self, worker: PointWorker) -> _Begun | None:
        """Take the next point that waits, for a worker; None if there is none now."""
        if self._closed:
            return None
        while not self._queue and self._propose is not None:
            ended, self._ended = self._ended, []
            more = list(self._propose(ended))
            if not more:
                self._propose = None
            self._add(self.named(more))
        while self._queue:
            key = self._queue.popleft()
            run = self._journal.begin(key, self._fidelity)
            if run is not None:
                return _Begun(run, self._task(run), worker, time.perf_counter())
        return None

    def _task(self, run: PointRun) -> PointTask:
        exploration = self._exploration
        folder = exploration.folder / folder_of(run.key)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / BLUEPRINT).write_text(exploration.space.text(run.choices), "utf-8")
        return PointTask(run.key, self._files[run.key], folder, run.fidelity, exploration.use_cache)

    def note(self, begun: _Begun, done: Future[dict[str, Any]]) -> PointRun | None:
        """Note how a run ended, and return it; None if it was not tried to its end.

        Raises:
            OSError: The disk is full, which says nothing of the point: it waits.
        """
        run, seconds = begun.run, time.perf_counter() - begun.since
        try:
            answer = done.result()
        except WorkerLostError as error:
            if self._exploration._stopped or error.blameless:
                self._journal.release(run)
                self._queue.append(run.key)
                return None
            self._journal.fail(run, str(error), seconds, again=True)
        else:
            if answer.get("full"):
                self._journal.release(run)
                raise OSError(answer["reason"])
            if "figures" in answer:
                self._journal.finish(run, answer["figures"], answer["seconds"], answer.get("outside"))
            else:
                self._journal.fail(run, answer["reason"], answer["seconds"], again=bool(answer.get("memory")))
        ended = self._journal.run(run.key, run.fidelity)
        assert ended is not None
        if ended.state == "waiting":
            self._queue.append(ended.key)
        else:
            self._ended.append(ended)
        return ended

    def leave(self, running: Mapping[Future[dict[str, Any]], _Begun]) -> None:
        """Note those whose end nobody waited for: what is done is done, the others wait."""
        for done, begun in running.items():
            if (
                done.done()
                and not done.cancelled()
                and done.exception() is None
                and "figures" in done.result()
            ):
                self.note(begun, done)
        self._journal.release_all()  # the others, and one that Ctrl-C met before a worker had it
