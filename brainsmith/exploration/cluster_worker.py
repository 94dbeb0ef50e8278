"""What runs in the workers of a Dask cluster: functions that a coordinator asks for, with plain values.

A Dask worker builds one point at a time, in a process of its own below a folder of the worker's, in which files lie under
the names that their content gives them.
"""

from __future__ import annotations

import io
import threading
import time
import weakref
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Worker, get_worker

from brainsmith.exploration.point_process import WorkerLostError, WorkerProcess
from brainsmith.exploration.point_task import asked
from brainsmith.forks import lock_of
from brainsmith.store.reads import file_digest

_FOLDER = "brainsmith-points"
_ASK = 60.0
"""Seconds for the environment of a worker."""

_LOOK = 0.5
"""Seconds between two looks whether the point is still wanted."""

_WANTED = ("executing", "long-running")
_BUILDERS: weakref.WeakKeyDictionary[Worker, _Builder] = weakref.WeakKeyDictionary()
_LOCK = lock_of()


class _Builder:
    """What one Dask worker has: a folder, and a process that builds."""

    def __init__(self, worker: Worker) -> None:
        self.root = Path(worker.local_directory) / _FOLDER
        self.process = WorkerProcess()
        self.megabytes = 0
        self.lock = lock_of()

    def build(
        self,
        task: Mapping[str, Any],
        names: Sequence[str],
        contents: Mapping[str, bytes],
        seconds: float,
        megabytes: int,
    ) -> dict[str, Any]:
        """Build a point; as the function of the same name."""
        for name, content in contents.items():
            _write(self.root / name, content)
        missing = [name for name in names if not (self.root / name).is_file()]
        if missing:
            return {"missing": missing}
        # Its files are named as they lie beside it.
        blueprint = self.root / blueprint_of(task["key"])
        blueprint.write_text(task["blueprint"], "utf-8")
        output = self.root / output_of(task["key"], task["fidelity"])
        process = self._process_with(megabytes)
        words = asked(
            str(self.root / task["model"]), blueprint, output, task["fidelity"], bool(task["use_cache"])
        )
        try:
            with _ended_unless_wanted(process):
                answer = process.run(words, seconds)
        except WorkerLostError as error:
            return {"lost": str(error)}
        return {**answer, "root": str(self.root), "output": _packed(output)}

    def environment(self) -> dict[str, Any]:
        """Return the environment of points here, as a new process sees it: another may have imported what changed since."""
        self.process.close()
        return self._process_with(self.megabytes).run({"environment": True}, _ASK)

    def _process_with(self, megabytes: int) -> WorkerProcess:
        """Return the process, of which a limit of memory holds; another one after it was stopped."""
        if self.process.stopped or megabytes != self.megabytes:
            self.process.close()
            self.process, self.megabytes = WorkerProcess(megabytes), megabytes
        return self.process


CODE = file_digest(__file__)
"""What stands for this module as it runs: a Dask worker keeps what it has imported when a newer one is installed."""


def environment_of() -> dict[str, Any]:
    """Return the environment of points here, and `code`, what stands for this module."""
    builder = _builder(get_worker())
    with builder.lock:
        return {**builder.environment(), "code": CODE}


def build(
    task: Mapping[str, Any],
    names: Sequence[str],
    contents: Mapping[str, bytes],
    seconds: float,
    megabytes: int,
) -> dict[str, Any]:
    """Build a point.

    Args:
        task: `key`, `model` (its name among the files), `blueprint` (a text), `fidelity`, `use_cache`.
        names: Of all files that it needs.
        contents: Those of them that are new here.
        seconds: How long it may take.
        megabytes: Of memory that it may take; 0 for any.

    Returns:
        What `point_worker` answers, with `output`, an archive, and `root`, the folder below which all was; or `missing`,
        the names of files that are not here (any more); or `lost`, why the process was lost.
    """
    builder = _builder(get_worker())
    with builder.lock:
        return builder.build(task, names, contents, seconds, megabytes)


def blueprint_of(key: str) -> str:
    """Return where a point's blueprint is, below the worker's folder."""
    return f"{key}.yaml"


def output_of(key: str, fidelity: str) -> str:
    """Return where a point's build goes, below the worker's folder."""
    return f"points/{key}/{fidelity}"


def _builder(worker: Worker) -> _Builder:
    with _LOCK:
        if worker not in _BUILDERS:
            _BUILDERS[worker] = _Builder(worker)
        return _BUILDERS[worker]


@contextmanager
def _ended_unless_wanted(process: WorkerProcess) -> Iterator[None]:
    """Stop the process once the scheduler does not want the task any more: its coordinator is gone."""
    worker = get_worker()
    key, over = worker.get_current_task(), False

    def look() -> None:
        while not over:
            time.sleep(_LOOK)
            task = worker.state.tasks.get(key)
            if not over and (task is None or task.state not in _WANTED):
                process.stop()
                return

    threading.Thread(target=look, daemon=True).start()
    try:
        yield
    finally:
        over = True


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    part.write_bytes(content)
    part.replace(file)


def _packed(folder: Path) -> bytes:
    """Return the files of a folder as an archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(folder))
    return stream.getvalue()
