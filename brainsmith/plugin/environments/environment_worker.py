"""The worker of another environment: started when it is needed, asked, heard, and started again after it was lost."""

from __future__ import annotations

import logging
import sys
import time
import warnings

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginEnvironmentError, ToolError
from brainsmith.forks import in_children, lock_of
from brainsmith.plugin.environments.place import installed_state
from brainsmith.plugin.environments.worker_connection import EnvironmentConnection
from brainsmith.plugin.process_ends import WorkerEndedError
from brainsmith.store.audit import RUNNING
from brainsmith.store.files import is_racy, stamps

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from brainsmith.plugin.environments.worker_connection import Message
    from brainsmith.plugin.info import PluginInfo

START = 60.0
"""Seconds that a worker has to start."""


class EnvironmentWorker:
    """Runs the plugins of one environment, one call at a time; threads wait for their turn.

    A process that has ended is started again by the next call, as is one whose environment or plugins changed since.

    Args:
        name: The environment's.
        python: Its interpreter.
        folders: Where its packages are.
    """

    def __init__(self, name: str, python: str, folders: tuple[str, ...]) -> None:
        self._name, self._python, self._folders = name, python, folders
        self._lock = lock_of(waits=False)  # as long as a call takes
        self._busy = False
        self._connection: EnvironmentConnection | None = None
        self._installed: tuple[tuple[str, str], ...] = ()
        self._state: dict[str, Any] = {}
        self._forget: list[int] = []
        in_children(self, EnvironmentWorker._leave_to_parent)

    @property
    def pid(self) -> int | None:
        """The number of its process; None while none runs."""
        return None if self._connection is None else self._connection.pid

    @property
    def current_pid(self) -> int | None:
        """The number of its process while the files that it has imported are as they were; None otherwise."""
        return self.pid if stamps(list(self._state)) == list(self._state.values()) else None

    def forget(self, number: int) -> None:
        """Let the worker forget an instance."""
        self._forget.append(number)

    def call(
        self,
        info: PluginInfo,
        header: dict[str, Any],
        blobs: list[bytes],
        answer_cfg: Callable[[Message], Message],
    ) -> Message:
        """Have a plugin called, and return the answer; what it prints, logs and warns of goes where it would go here.

        Args:
            info: The plugin.
            header: What is asked; see `worker_script.Plugins`.
            blobs: The model and the arrays.
            answer_cfg: Answers what the plugin asks of `cfg` meanwhile.

        Raises:
            PluginEnvironmentError: The worker cannot be started, ended, or took too long. The next call starts another.
        """
        with self._lock:
            if self._busy:
                raise PluginEnvironmentError(
                    f"{_shown(info)} cannot be called here: environment {self._name!r} is in a call of this thread, "
                    "and does one at a time"
                )
            self._busy = True
            try:
                return self._call(info, header, blobs, answer_cfg)
            finally:
                self._busy = False

    def close(self) -> None:
        """End the worker; a call that runs is waited for."""
        with self._lock:
            self._drop()

    def _call(
        self,
        info: PluginInfo,
        header: dict[str, Any],
        blobs: list[bytes],
        answer_cfg: Callable[[Message], Message],
    ) -> Message:
        if self._connection is not None and (self._connection.has_ended or self._has_changed()):
            self._drop()
        for again in (True, False):
            try:
                connection = self._running(info)
                begin = time.time_ns()
                connection.begin(info.extra.get("time_limit", 0.0))
                forget, self._forget = self._forget, []
                asked = {**header, "forget": forget, "level": logging.getLogger().getEffectiveLevel()}
                connection.send(asked, blobs)
                answer = self._answer(connection, answer_cfg)
                self._note(answer[0], info, begin)
                connection.show_output()
                return answer
            except WorkerEndedError as error:
                self._drop()
                if error.received or not again:  # else it had ended before
                    self._lost(info, error)
            except BaseException:  # what comes later must not be taken for the answer to another question
                self._drop()
                raise
        raise AssertionError

    def _answer(self, connection: EnvironmentConnection, answer_cfg: Callable[[Message], Message]) -> Message:
        while True:
            header, blobs = connection.receive()
            kind = header["kind"]
            if kind == "cfg":
                connection.send(*answer_cfg((header, blobs)))
            elif kind in _SHOW:
                _SHOW[kind](header)
            else:
                return header, blobs

    def _running(self, info: PluginInfo) -> EnvironmentConnection:
        if self._connection is None:
            self._installed, self._state = installed_state(self._folders), {}
            try:
                connection = EnvironmentConnection(self._python)
            except (ToolError, OSError) as error:
                raise PluginEnvironmentError(
                    f"the worker of environment {self._name!r} cannot be started: {error}"
                ) from error
            try:
                connection.begin(START)
                while connection.receive()[0]["kind"] != "ready":
                    pass
            except WorkerEndedError as error:
                connection.close()
                how, line, last = str(error).partition("\n")
                raise PluginEnvironmentError(
                    f"the worker of environment {self._name!r} ({self._python}) {how} when it was started for "
                    f"{_shown(info)}{line}{last}"
                ) from None
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _has_changed(self) -> bool:
        """Tell whether what the worker has imported is no longer what is there."""
        return self.current_pid is None or installed_state(self._folders) != self._installed

    def _note(self, answer: dict[str, Any], info: PluginInfo, begin: int) -> None:
        """Note which files the worker holds, and what the plugin read: the build's recorder would see it of a local one.

        Of a file that may have been written since the call began, nobody knows whether it was imported before: it counts
        as one that changes.
        """
        new = [path for path in {*answer["modules"], info.file} if path and path not in self._state]
        for path, found in zip(new, stamps(new), strict=True):
            self._state[path] = None if is_racy(found, begin) else found
        reads = [(path, flags) for path, flags in answer["reads"] if path not in self._state]
        if reads or answer["hidden"]:
            RUNNING.note(lambda recorder: recorder.read_by_worker(reads, answer["hidden"]))

    def _lost(self, info: PluginInfo, error: WorkerEndedError) -> NoReturn:
        how, line, last = str(error).partition("\n")
        raise PluginEnvironmentError(
            f"the worker of environment {self._name!r} {how} in {_shown(info)}; the next call starts a new one{line}{last}"
        ) from None

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _leave_to_parent(self) -> None:
        """Begin anew in a child of `os.fork`: the worker is the parent's."""
        self._busy, self._forget = False, []
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abandon()


def _shown(info: PluginInfo) -> str:
    return f"{info.type} {info.qualified!r}"


def _print(header: dict[str, Any]) -> None:
    stream = sys.stdout if header["stream"] == "stdout" else sys.stderr
    stream.write(header["text"])


def _log(header: dict[str, Any]) -> None:
    logger = logging.getLogger(header["name"])
    if logger.isEnabledFor(header["level"]):
        logger.handle(
            logger.makeRecord(header["name"], header["level"], "", 0, "%s", (header["text"],), None)
        )


def _warn(header: dict[str, Any]) -> None:
    import builtins  # only where something is warned of

    category = getattr(builtins, header["category"], None)
    is_warning = isinstance(category, type) and issubclass(category, Warning)
    warnings.warn_explicit(
        header["text"], category if is_warning else UserWarning, header["file"], header["line"]
    )


_SHOW: dict[str, Callable[[dict[str, Any]], None]] = {"print": _print, "log": _log, "warning": _warn}
"""What shows a message of a plugin, by its kind."""

_WORKERS: dict[tuple[str, str], EnvironmentWorker] = {}
_LOCK = lock_of()


def worker_of(info: PluginInfo) -> EnvironmentWorker:
    """Return the worker of a plugin's environment: one for all of its plugins in this process."""
    key = (info.extra["environment"], info.extra["python"])
    with _LOCK:
        worker = _WORKERS.get(key)
        if worker is None:
            worker = _WORKERS[key] = EnvironmentWorker(*key, tuple(info.extra["folders"]))
        return worker


def close_workers() -> None:
    """End the workers of all environments; the next calls start others."""
    for worker in list(_WORKERS.values()):
        worker.close()
