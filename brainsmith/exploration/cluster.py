"""The workers of a Dask cluster as a crew: each is compared with this machine, then asked one point at a time."""

from __future__ import annotations

import logging
import re
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from brainsmith.build.environment import Environment, differences, environment
from brainsmith.build.relocate import relocate_files
from brainsmith.errors import ExplorationError
from brainsmith.exploration.point_process import WorkerLostError
from brainsmith.exploration.point_task import BLUEPRINT
from brainsmith.store.reads import Reads, file_digest

if TYPE_CHECKING:
    from distributed import Client, Future

    from brainsmith.exploration.point_crew import PointWorker
    from brainsmith.exploration.point_task import PointTask

CONNECT = 10.0
"""Seconds for the connection to the scheduler."""

PATIENCE = 60.0
"""Seconds without any worker, or without the scheduler, after which an exploration ends."""

OTHERS = 15.0
"""Seconds in which another worker may come when all that are there were refused: it may just be starting."""

_LOOK = 0.5
"""Seconds between two looks who is there."""

_GRACE = 30.0
"""Seconds beyond a point's own in which a worker that is there must answer."""

_FETCH = 300.0
"""Seconds in which an answer must come over, once it is there."""

_MOST = 4096
_LOGGER = logging.getLogger("distributed.client")
_ADDRESS = re.compile(r"dask://(\[[0-9a-fA-F:]+\]|[\w.-]+):(\d+)")


class ClusterCrew:
    """The workers of a cluster, as they come and go.

    Args:
        address: Of the scheduler, `dask://host:8786`.
        megabytes: Of memory that a point may take; 0 for any.
        warn: Is called with what the user should know.

    Attributes:
        present: The addresses of the workers that are there.
        known: Those of them that build what this machine builds.
        stopped: Whether no answer is wanted any more.

    Raises:
        ExplorationError: The address has another form, Dask is not installed, or no scheduler answers.
    """

    patience: float | None = _LOOK
    most = _MOST

    def __init__(self, address: str, megabytes: int = 0, warn: Callable[[str], None] | None = None) -> None:
        self.address, self.megabytes = address, megabytes
        self._warn = warn or (lambda text: None)
        self._client = _connected(address)
        self._level = _LOGGER.level
        _LOGGER.setLevel(logging.CRITICAL)  # the errors that this class raises say what goes wrong
        self._own = environment()
        self._checks: dict[str, Future[Any]] = {}
        self.known: dict[str, ClusterWorker] = {}
        self._refused: dict[str, list[str]] = {}
        self._back: list[PointWorker] = []
        self._seen = self._scheduler_seen = self._refused_last = time.monotonic()
        self._looked = -_LOOK
        self.present: frozenset[str] = frozenset()
        self.stopped = False

    def arrivals(self) -> Iterable[PointWorker]:
        """Return those that are new, compared with this machine, and those that were given back.

        Raises:
            ExplorationError: The scheduler has vanished.
        """
        self._look()
        back, self._back = self._back, []
        return [*(worker for worker in back if worker.usable), *self._checked()]

    def give_back(self, workers: Iterable[PointWorker]) -> None:
        """Take those back that have nothing to do."""
        self._back += workers

    def wait(self) -> None:
        """Wait a moment for a worker.

        Raises:
            ExplorationError: All that are there were refused, or there are none, and none has come for some time.
        """
        none_fits = self._refused and not self._checks and not self.present - set(self._refused)
        if none_fits and time.monotonic() > max(self._refused_last, self._seen) + OTHERS:
            raise ExplorationError(
                f"no worker of {self.address} builds what this machine builds\n"
                + "".join(f"  {line}\n" for line in self._said())
                + "  start workers with the same packages and tools, in the folder of the same project"
            )
        if time.monotonic() > self._seen + PATIENCE:
            raise ExplorationError(
                f"no worker of {self.address} has answered for {PATIENCE:g} s: start some with\n"
                f"  dask worker {address_of(self.address)} --nthreads 1\n"
                "and the same command goes on; no finished point is lost"
            )
        time.sleep(_LOOK)

    def stop(self) -> None:
        """Let whoever asks a worker hear at once that it is lost; the workers end what they build."""
        self.stopped = True

    def close(self) -> None:
        """Leave the cluster; its workers go on for others."""
        self.stop()
        with suppress(Exception):  # whatever the state is in which the connection is
            self._client.close(timeout=CONNECT)
        _LOGGER.setLevel(self._level)

    def submit(self, address: str, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Let one worker, and no other, call a function."""
        future: Future[Any] = self._client.submit(
            function, *arguments, workers=[address], allow_other_workers=False, pure=False, retries=0
        )
        return future

    def scatter(self, address: str, contents: Mapping[str, bytes]) -> Any:
        """Bring files to a worker, beside what it is asked."""
        return self._client.scatter([dict(contents)], workers=[address], hash=False)[0] if contents else {}

    @property
    def connected(self) -> bool:
        """Whether the scheduler is there."""
        return bool(self._client.status == "running")

    def _look(self) -> None:
        """Find out which workers are there."""
        now = time.monotonic()
        if now < self._looked + _LOOK:
            return
        self._looked = now
        try:
            if not self.connected:
                raise OSError("the connection is broken")
            self.present = frozenset(self._client.nthreads())
            self._scheduler_seen = now
        except Exception as error:  # noqa: BLE001  (Dask documents none of those that it raises)
            if self.connected and now <= self._scheduler_seen + CONNECT:
                return  # a scheduler that is slow to answer has lost nobody
            self.present = frozenset()
            if now > self._scheduler_seen + CONNECT or self._client.status == "closed":
                raise ExplorationError(
                    f"the scheduler {self.address} has vanished: {str(error) or type(error).__name__}\n"
                    "  start it and its workers again, and the same command goes on; no finished point is lost"
                ) from None
        # One that comes back under its old address may be another one.
        self.known = {address: one for address, one in self.known.items() if address in self.present}
        self._refused = {address: why for address, why in self._refused.items() if address in self.present}
        if self.known:
            self._seen = now

    def _checked(self) -> Iterator[ClusterWorker]:
        """Ask those that are new for their environment, and yield those that are the same as here."""
        from brainsmith.exploration.cluster_worker import environment_of

        for address in self.present - set(self.known) - set(self._refused) - set(self._checks):
            self._checks[address] = self.submit(address, environment_of)
        for address, future in [*self._checks.items()]:
            if address not in self.present:
                del self._checks[address]
            elif future.done():
                del self._checks[address]
                found = self._differences(future)
                if found:
                    self._refused[address], self._refused_last = found, time.monotonic()
                    self._warn(f"worker {address} is not used: {'; '.join(found)}")
                    continue
                self._seen = time.monotonic()
                self.known[address] = ClusterWorker(self, address)
                yield self.known[address]

    def _differences(self, future: Future[Any]) -> list[str]:
        from brainsmith.exploration.cluster_worker import CODE

        try:
            answer = future.result(timeout=CONNECT)
            there: Environment = answer["environment"]
        except Exception as error:  # noqa: BLE001  (whatever is wrong there)
            said = str(error).strip().splitlines()
            return [
                f"it cannot say what it builds with: {said[-1] if said else type(error).__name__}; brainsmith[cluster] "
                "must be installed there, in the same version"
            ]
        if answer["code"] != CODE:
            return ["it was started before brainsmith was installed anew: start it again"]
        return differences(self._own, there)

    def _said(self) -> list[str]:
        """Return who was refused, and why; those for the same reason together."""
        by: dict[str, list[str]] = {}
        for address, found in self._refused.items():
            by.setdefault("; ".join(found), []).append(address)
        return [
            f"{names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}: {why}"
            for why, names in by.items()
        ]


class ClusterWorker:
    """One worker of a cluster.

    Args:
        crew: Of which it is.
        address: Its own.
    """

    def __init__(self, crew: ClusterCrew, address: str) -> None:
        self._crew, self.address = crew, address
        self._there: set[str] = set()  # the names of files that were sent

    @property
    def usable(self) -> bool:
        """Whether it is still there."""
        return self._crew.known.get(self.address) is self and not self._crew.stopped

    def run(self, task: PointTask, seconds: float) -> dict[str, Any]:
        """Build a point there, and bring its output here.

        Raises:
            WorkerLostError: It left the cluster, its process died, or it takes too long.
        """
        from brainsmith.exploration.cluster_worker import blueprint_of, build, output_of

        files = task.files.files
        words = {
            "key": task.key,
            "model": task.files.model_name,
            "blueprint": task.files.blueprint,
            "fidelity": task.fidelity,
            "use_cache": task.use_cache,
        }
        wanted = [name for name in files if name not in self._there]
        end = time.monotonic() + seconds + _GRACE
        while True:
            contents = {name: Path(files[name]).read_bytes() for name in wanted}
            try:
                sent = self._crew.scatter(self.address, contents)
                future = self._crew.submit(
                    self.address, build, words, list(files), sent, seconds, self._crew.megabytes
                )
            except Exception as error:  # Dask has no one error of its own
                raise self._lost(error) from error
            answer = self._answer(future, end)
            if "missing" not in answer:
                break
            wanted = answer["missing"]
        self._there |= set(files)
        if "lost" in answer:
            raise WorkerLostError(f"on {self.address}: {answer['lost']}")
        if answer.get("full"):
            raise WorkerLostError(f"on {self.address}: {answer['reason']}")
        root, here = answer.pop("root"), task.folder.absolute()
        places = {f"{root}/{name}": path for name, path in files.items()}
        places[f"{root}/{blueprint_of(task.key)}"] = str(here / BLUEPRINT)
        places[f"{root}/{output_of(task.key, task.fidelity)}"] = str(here / task.fidelity)
        _unpack(answer.pop("output"), task.output, places)
        return self._compared(answer) if "figures" in answer else answer

    def _compared(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return an answer whose steps read nothing that is another file here; else why it does not count."""
        files = Reads.from_plain(answer["outside"]).files
        code = tuple(f"{place.rstrip('/')}/" for place in answer["code"])
        same = {path: there for path, there in files.items() if file_digest(path) == there}
        other = [path for path in files if path not in same and not path.startswith(code)]
        if other:
            reason = (
                f"a step read {other[0]}, which is not the same file on {self.address} as here: put it beside the plugin "
                "that reads it"
            )
            return {"reason": reason, "seconds": answer["seconds"]}
        return {**answer, "outside": Reads(same).plain()}

    def _answer(self, future: Future[Any], end: float) -> dict[str, Any]:
        try:
            while not _has_ended(future, _LOOK):
                why = (
                    "does not answer" if time.monotonic() > end else "" if self.usable else "left the cluster"
                )
                if why:
                    with suppress(Exception):  # the scheduler may be gone, too
                        future.cancel()
                    said = f"its worker {self.address} {why}"
                    raise WorkerLostError(said, blameless=not self._crew.connected)
            # In one piece: Dask can fetch nothing any more after a look that ended in the midst of it.
            answer: dict[str, Any] = future.result(timeout=_FETCH)
            return answer
        except WorkerLostError:
            raise
        except Exception as error:  # Dask's or the worker's
            raise self._lost(error) from error

    def _lost(self, error: Exception) -> WorkerLostError:
        """Return what it means that Dask does not answer: the worker was killed, or the scheduler is gone."""
        time.sleep(_LOOK)  # the client takes a moment to find out
        said = f"its worker {self.address} was lost: {str(error) or type(error).__name__}"
        return WorkerLostError(said, blameless=not self._crew.connected)


def _has_ended(future: Future[Any], seconds: float) -> bool:
    """Wait some seconds for an outcome, which is not fetched; tell whether there is one."""
    from distributed import wait

    try:
        with future.client.as_current():
            wait(future, timeout=seconds)
    except TimeoutError:
        return False
    return True


def _unpack(archive: bytes, folder: Path, places: Mapping[str, str]) -> None:
    """Replace a folder by what an archive holds, in whose files the names of places are those of this machine then."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with zipfile.ZipFile(BytesIO(archive)) as files:
        files.extractall(folder)
    for there, here in places.items():
        relocate_files(folder, there, here)


def address_of(address: str) -> str:
    """Return Dask's name of a scheduler.

    Raises:
        ExplorationError: It is not named as `dask://HOST:PORT`.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise ExplorationError(
            f"a cluster must be named as dask://HOST:PORT, such as dask://localhost:8786, not {address!r}"
        )
    return f"tcp://{found[1]}:{found[2]}"


def _connected(address: str) -> Client:
    where = address_of(address)
    try:
        from distributed import Client
    except ImportError:
        raise ExplorationError('a cluster needs Dask: pip install "brainsmith[cluster]"') from None
    try:
        return Client(where, timeout=CONNECT, set_as_default=False, name="brainsmith")
    except OSError as error:
        raise ExplorationError(
            f"no Dask scheduler answers at {address}: start one with 'dask scheduler', and workers with\n"
            f"  dask worker {where} --nthreads 1"
        ) from error
