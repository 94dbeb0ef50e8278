"""Who builds points: workers that come, are asked one point at a time, and may be lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from brainsmith.exploration.point_process import WorkerProcess
from brainsmith.exploration.point_task import PointTask


class PointWorker(Protocol):
    """One that builds a point at a time."""

    @property
    def usable(self) -> bool:
        """Whether it can be asked for another point."""

    def run(self, task: PointTask, seconds: float) -> dict[str, Any]:
        """Build a point, whose output is in the task's folder then, and return its figures or why it failed.

        Raises:
            WorkerLostError: It died, hangs or takes longer than so many seconds.
        """


class Crew(Protocol):
    """The workers of an exploration."""

    @property
    def most(self) -> int:
        """How many there can be at once."""

    @property
    def patience(self) -> float | None:
        """After how many seconds to look for new ones; None for never."""

    def arrivals(self) -> Iterable[PointWorker]:
        """Return those that are new since this was asked last, or were given back."""

    def give_back(self, workers: Iterable[PointWorker]) -> None:
        """Take those back that have nothing to do."""

    def wait(self) -> None:
        """Wait for new ones where there are none.

        Raises:
            ExplorationError: None can be expected.
        """

    def stop(self) -> None:
        """Let whoever asks a worker hear at once that it is lost."""

    def close(self) -> None:
        """End them all."""


class LocalWorker:
    """A process of this machine; one that is lost is replaced when it is needed.

    Args:
        megabytes: Of memory that it may take; 0 for any.
    """

    usable = True

    def __init__(self, megabytes: int) -> None:
        self.process = WorkerProcess(megabytes)

    def run(self, task: PointTask, seconds: float) -> dict[str, Any]:
        """Build a point."""
        return self.process.run(task.here(), seconds)


class LocalCrew:
    """Some processes of this machine.

    Args:
        count: How many.
        megabytes: Of memory that each may take; 0 for any.
    """

    patience = None

    def __init__(self, count: int, megabytes: int) -> None:
        self.most = count
        self._all = [LocalWorker(megabytes) for _ in range(count)]
        self._new: list[PointWorker] = [*self._all]
        for worker in self._all:
            worker.process.start()  # they get ready before they are asked

    def arrivals(self) -> Iterable[PointWorker]:
        """Return those that have nothing to do."""
        new, self._new = self._new, []
        return new

    def give_back(self, workers: Iterable[PointWorker]) -> None:
        """Take those back that have nothing to do."""
        self._new += workers

    def wait(self) -> None:
        """Return: they are all there."""

    def stop(self) -> None:
        """End the processes at once."""
        for worker in self._all:
            worker.process.stop()

    def close(self) -> None:
        """End the processes."""
        for worker in self._all:
            worker.process.close()
