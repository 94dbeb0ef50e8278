"""Open a native library in a process of its own: `open_isolated`."""

from __future__ import annotations

import json
import os
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from brainsmith import __version__
from brainsmith.errors import GradientError, NativeLibraryError, OpError, PluginCrashError
from brainsmith.native.checks import check_file, check_hash, check_table, check_time_limit, read_library
from brainsmith.native.copy import LibraryCopy
from brainsmith.native.frame import failure
from brainsmith.native.isolation import channel as ch
from brainsmith.native.isolation.connection import Connection, WorkerEndedError
from brainsmith.native.isolation.isolated_op import IsolatedOp
from brainsmith.native.isolation.pool import Pool
from brainsmith.native.native_op import Standing
from brainsmith.native.probe import probe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.native.isolation.region import Region
    from brainsmith.native.native_op import NativeOp

TIME_LIMIT = 10.0
"""Seconds in which an operation must answer."""


class IsolatedLibrary:
    """A native library whose functions run in a process of their own; `open_isolated` makes it.

    One call runs at a time; threads wait for their turn. A worker that has gone is started again by the next call,
    from the same copy of the library.

    Attributes:
        path: Where it was found.
        name: The plugin's.
        version: Its version, as text; so are the bounds of the host's, which may be empty.
        description: What it says of itself; empty for nothing.
        author: Likewise.
        sha256: Of its file.
        ops: Its operations.
        pool: From which their outputs come; only this library's worker may write there.
    """

    def __init__(
        self, path: Path, copy: LibraryCopy, sha256: str, table: dict[str, Any], connection: Connection
    ) -> None:
        self.path, self.sha256, self.time_limit = path, sha256, connection.time_limit
        self.name: str = table["name"]
        self.version: str = table["version"]
        self.description: str = table["description"] or ""
        self.author: str = table["author"] or ""
        self.min_brainsmith: str = table["min_brainsmith"] or ""
        self.max_brainsmith: str = table["max_brainsmith"] or ""
        self.pool = Pool()
        self._copy = copy
        self._lock = threading.RLock()
        self._caller: int | None = None
        self._connection: Connection | None = connection
        self._standing = Standing()
        self._release = weakref.finalize(self, _release, self._standing, copy)
        self._release.atexit = False
        self.ops: list[IsolatedOp] = [IsolatedOp(self, at, op) for at, op in enumerate(table["ops"])]
        _LIBRARIES.add(self)

    @property
    def closed(self) -> bool:
        """Whether it is closed, or about to be."""
        return self._standing.closed

    @property
    def pid(self) -> int | None:
        """The process of its worker; None while none runs."""
        return self._connection.pid if self._connection else None

    def start(self) -> None:
        """Start its worker, if none runs; a call does so too.

        Raises:
            PluginCrashError: The library ends it while it is loaded.
            NativeLibraryError: It is closed, or cannot be loaded.
        """
        with self._lock:
            if self._caller is None:
                self._running()

    def ask(self, op: IsolatedOp, command: tuple[Any, ...], regions: Iterable[Region], what: str) -> str:
        """Have the worker do what a command says, and return the text of its answer.

        Args:
            op: Whose function is called.
            command: See `channel`.
            regions: Where the command's arrays lie.
            what: The function.

        Raises:
            OpError: The operation refused or failed, the library is closed, or a signal handler or finaliser asks
                while its own thread does.
            GradientError: Its gradient failed.
            PluginCrashError: The operation ended the worker, or did not answer in time.
        """
        wanted = [(region, region in self.pool.regions) for region in regions]
        with self._lock:
            if self.closed:
                raise OpError(f"Operation {op.name!r} is gone: native plugin {op.plugin} was unloaded")
            if self._caller is not None:
                raise OpError(
                    f"Operation {op.name!r} cannot be called here: a signal handler or finaliser interrupted its own "
                    f"thread in a call of native plugin {op.plugin}, whose process does one at a time"
                )
            try:
                self._caller = threading.get_ident()
                kind, text = self._answer(op, command, wanted, what)
            finally:
                self._caller = None
        if kind == ch.DONE:
            return text
        if kind == ch.REFUSED:
            raise _refusal(op, command, text, what)
        raise NativeLibraryError(f"the process of native plugin {op.plugin} failed: {text}")

    def close(self) -> None:
        """Let the plugin clean up, and end its worker; a call that runs is waited for. A second call does nothing.

        Raises:
            NativeLibraryError: A signal handler or finaliser closes it while its own thread is in a call.
        """
        if self._caller == threading.get_ident():
            raise NativeLibraryError(
                f"native plugin {self.name!r} cannot be unloaded here: a signal handler or finaliser interrupted its "
                "own thread in a call of it"
            )
        self._standing.closed = True  # calls that wait for their turn give up
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()
            self._release()
            self.pool.close()

    def _answer(
        self, op: IsolatedOp, command: tuple[Any, ...], regions: list[tuple[Region, bool]], what: str
    ) -> tuple[bytes, str]:
        for again in (True, False):
            try:
                return self._running().ask(command, regions)
            except WorkerEndedError as error:
                self._connection = None
                if error.asked or not again:  # else it had ended before
                    raise PluginCrashError(
                        f"operation {op.name!r} of native plugin {op.plugin} {error} in {what}; "
                        "that was in a process of its own, and the next call starts a new one"
                    ) from None
        raise AssertionError

    def _running(self) -> Connection:
        if self.closed:
            raise NativeLibraryError(f"native plugin {self.name!r} was unloaded")
        if self._connection is None:
            self._connection, _ = _start(self.path, self._copy, self.time_limit)
        return self._connection

    def leave_to_parent(self) -> None:
        """Begin anew in a child of `os.fork`: the worker and the memory that it writes are the parent's."""
        self._lock, self._caller = threading.RLock(), None
        self.pool = Pool()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abandon()

    def __repr__(self) -> str:
        return f"<isolated native plugin {self.name} {self.version}, {len(self.ops)} operations{', closed' * self.closed}>"


def _release(standing: Standing, copy: LibraryCopy) -> None:
    """Say that a library is gone before it is, to ops that finalisers may still call; and let go of its copy."""
    standing.closed = True
    copy.release()


_LIBRARIES: weakref.WeakSet[IsolatedLibrary] = weakref.WeakSet()


def _leave_all() -> None:
    for library in list(_LIBRARIES):
        library.leave_to_parent()


os.register_at_fork(after_in_child=_leave_all)


def _refusal(op: IsolatedOp, command: tuple[Any, ...], text: str, what: str) -> OpError:
    """Return the error for a status that is not OK."""
    status, message, function = json.loads(text)
    shapes = ", ".join(str(shape) for _, shape in command[2][: op.num_inputs])
    where = f" on shapes {shapes}" if what in ("forward", "backward") and not function else ""
    said = failure(cast("NativeOp", op), status, message, where)
    return GradientError(f"backward: {said}") if what == "backward" else OpError(said)


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
        NativeLibraryError: It cannot be loaded, or its table cannot be; a class of its own for most reasons.
    """
    time_limit = check_time_limit(time_limit)
    place = Path(path)
    data = read_library(place)
    digest = check_hash(place, data, sha256)
    copy = LibraryCopy(place, data, check_file(place, data), digest)
    try:
        connection, table = _start(place, copy, time_limit)
        return IsolatedLibrary(place, copy, digest, table, connection)
    except BaseException:
        copy.release()
        raise


def _start(path: Path, copy: LibraryCopy, time_limit: float) -> tuple[Connection, dict[str, Any]]:
    """Start a worker; return it, and the table of its plugin.

    Raises:
        NativeLibraryError: The library cannot be loaded, or ends the worker: what a trial of it finds is said.
    """
    with copy.shown() as place:
        connection = Connection(copy, place, __version__, time_limit)
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
