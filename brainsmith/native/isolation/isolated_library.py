"""Open a native library in a process of its own: `open_isolated`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.native.isolation.isolated_op import IsolatedOp
from brainsmith.native.isolation.worker_process import Worker, start_worker
from brainsmith.native.library_checks import check_time_limit
from brainsmith.native.plugin_library import PluginLibrary, checked_copy

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from brainsmith.native.copy import LibraryCopy
    from brainsmith.native.isolation.connection import WorkerConnection

TIME_LIMIT = 10.0
"""Seconds in which an operation must answer."""


class IsolatedLibrary(PluginLibrary):
    """A native library whose functions run in a process of their own; `open_isolated` makes it.

    The process ends with `close`, or when neither the library nor one of its ops is held any more.

    Attributes:
        time_limit: Seconds in which an operation must answer.
    """

    kind = "isolated native plugin"
    ops: list[IsolatedOp]

    def __init__(
        self, path: Path, copy: LibraryCopy, sha256: str, table: dict[str, Any], connection: WorkerConnection
    ) -> None:
        super().__init__(path, sha256, table)
        self.time_limit = connection.time_limit
        self._worker = Worker(self.name, path, copy, connection)
        self.ops = [IsolatedOp(self, self._worker, at, op) for at, op in enumerate(table["ops"])]

    @property
    def closed(self) -> bool:
        """Whether it is closed, or about to be."""
        return self._worker.closed

    @property
    def pid(self) -> int | None:
        """The process of its worker; None while none runs."""
        connection = self._worker.connection
        return connection.pid if connection else None

    def close(self) -> None:
        """Let the plugin clean up, and end its worker; a call that runs is waited for. A second call does nothing.

        Raises:
            NativeLibraryError: A signal handler or finaliser closes it while its own thread is in a call.
        """
        self._worker.close()


def open_isolated(
    path: str | os.PathLike[str], *, sha256: str | None = None, time_limit: float = TIME_LIMIT
) -> IsolatedLibrary:
    """Open a native library in a process of its own.

    What it does there (a crash, an abort, an endless loop) is an exception here, and nothing else.

    Args:
        path: The shared library.
        sha256: What its file must have, in hexadecimal digits.
        time_limit: Seconds in which an operation, and loading, must end.

    Raises:
        PluginCrashError: It ends the process that loads it.
        NativeLibraryError: It cannot be loaded, or its table is invalid; a class of its own for most reasons.
    """
    time_limit = check_time_limit(time_limit)
    place, copy, digest = checked_copy(path, sha256)
    try:
        connection, table = start_worker(place, copy, time_limit)
        return IsolatedLibrary(place, copy, digest, table, connection)
    except BaseException:
        copy.release()
        raise
