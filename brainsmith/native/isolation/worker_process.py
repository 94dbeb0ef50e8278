"""The host's side of an isolated library: a worker that is started when it is needed, asked, and ended."""

from __future__ import annotations

import json
import weakref
from _thread import get_ident
from typing import TYPE_CHECKING, Any

from brainsmith import __version__
from brainsmith.autodiff.op import operation_error
from brainsmith.errors import NativeLibraryError, PluginCrashError
from brainsmith.forks import in_children, lock_of
from brainsmith.native.function_call import StatusError
from brainsmith.native.isolation import channel as ch
from brainsmith.native.isolation.connection import WorkerConnection
from brainsmith.native.isolation.pool import Pool
from brainsmith.native.library_checks import check_table
from brainsmith.native.native_op import LoadState
from brainsmith.native.probe import probe
from brainsmith.plugin.process_ends import WorkerEndedError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from brainsmith.native.copy import LibraryCopy
    from brainsmith.native.isolation.isolated_op import IsolatedOp
    from brainsmith.native.isolation.region import Region


class Worker:
    """Runs the functions of one library in a process of their own.

    One call runs at a time; threads wait for their turn. A process that has ended is started again by the next call,
    from the same copy of the library. The library and its ops hold their worker, and it holds neither: when the last
    of them goes, the process ends.

    Args:
        name: The plugin's.
        path: Where the library was found.
        copy: Of the library.
        connection: To the process that was started.

    Attributes:
        pool: From which the outputs of its ops come; only its process may write there.
    """

    def __init__(self, name: str, path: Path, copy: LibraryCopy, connection: WorkerConnection) -> None:
        self._name, self._path, self._copy = name, path, copy
        self._time_limit = connection.time_limit
        self.pool = Pool()
        self._lock = lock_of(waits=False)  # as long as a call takes
        self._caller: int | None = None
        self._connection: WorkerConnection | None = connection
        self._load_state = LoadState()
        self._release = weakref.finalize(self, _release, self._load_state, copy)
        self._release.atexit = False
        in_children(self, Worker._leave_to_parent)

    @property
    def closed(self) -> bool:
        """Whether it is closed, or about to be."""
        return self._load_state.closed

    @property
    def connection(self) -> WorkerConnection | None:
        """What leads to its process; None while none runs."""
        return self._connection

    def ask(self, op: IsolatedOp, command: tuple[Any, ...], regions: Iterable[Region]) -> str:
        """Have the worker do what a command says, and return the text of its answer.

        Args:
            op: Whose function is called.
            command: See `channel`.
            regions: Where the command's arrays lie.

        Raises:
            StatusError: The function refused or failed.
            OpError: The library is closed, or a signal handler or finaliser asks while its own thread does.
            PluginCrashError: The operation ended the worker, or did not answer in time.
        """
        wanted = [(region, region in self.pool.regions) for region in regions]
        with self._lock:
            if self._caller is not None:
                raise operation_error(
                    op,
                    f"cannot be called here: a signal handler or finaliser interrupted its own "
                    f"thread in a call of native plugin {op.plugin}, whose process does one at a time",
                )
            try:
                self._caller = get_ident()
                if self.closed:  # if not now, then not in this call: who closes waits, or is refused
                    raise op.unloaded_error()
                kind, text = self._answer(op, command, wanted)
            finally:
                self._caller = None
        if kind == ch.DONE:
            return text
        if kind == ch.REFUSED:
            raise StatusError(*json.loads(text))
        raise NativeLibraryError(f"the process of native plugin {op.plugin} failed: {text}")

    def close(self) -> None:
        """Let the plugin clean up, and end its worker; a call that runs is waited for. A second call does nothing.

        Raises:
            NativeLibraryError: A signal handler or finaliser closes it while its own thread is in a call.
        """
        if self._caller == get_ident():
            raise NativeLibraryError(
                f"native plugin {self._name!r} cannot be unloaded here: a signal handler or finaliser interrupted its "
                "own thread in a call of it"
            )
        self._load_state.closed = True  # calls that wait for their turn give up
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()
            self._release()
            self.pool.close()

    def _answer(
        self, op: IsolatedOp, command: tuple[Any, ...], regions: list[tuple[Region, bool]]
    ) -> tuple[bytes, str]:
        for again in (True, False):
            try:
                return self._running().ask(command, regions)
            except WorkerEndedError as error:
                self._connection = None
                if error.received or not again:  # else it had ended before
                    raise PluginCrashError(
                        f"operation {op.name!r} of native plugin {op.plugin} {error} in {command[0]}; "
                        "that was in a process of its own, and the next call starts a new one"
                    ) from None
        raise AssertionError

    def _running(self) -> WorkerConnection:
        if self._connection is None:
            self._connection, _ = start_worker(self._path, self._copy, self._time_limit)
        return self._connection

    def _leave_to_parent(self) -> None:
        """Begin anew in a child of `os.fork`: the worker and the memory that it writes are the parent's."""
        self._caller = None
        self.pool = Pool()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abandon()


def _release(load_state: LoadState, copy: LibraryCopy) -> None:
    """Mark a library as unloaded before it is, for ops that finalisers may still call; and release its copy."""
    load_state.closed = True
    copy.release()


def start_worker(path: Path, copy: LibraryCopy, time_limit: float) -> tuple[WorkerConnection, dict[str, Any]]:
    """Start a worker; return it, and the table of its plugin.

    Raises:
        NativeLibraryError: The library cannot be loaded, or ends the worker: what a trial of it finds is reported.
    """
    with copy.shown() as place:
        connection = WorkerConnection(copy, place, __version__, time_limit)
        try:
            kind, text = connection.receive()
            if kind == ch.DONE:
                table: dict[str, Any] = json.loads(text)
                check_table(path, table)
                return connection, table
            probe(path, copy, time_limit)
            raise NativeLibraryError(f"{path} cannot be loaded: {text.replace(place, str(path))}")
        except WorkerEndedError as error:
            probe(path, copy, time_limit)
            raise PluginCrashError(f"native plugin {path} {error} when it was loaded") from None
        except BaseException:
            connection.end()
            raise
