"""Open a native library: checked, tried in a child process, loaded from a private copy, and really unloaded."""

from __future__ import annotations

import os
import time
import weakref
from _thread import get_ident
from typing import TYPE_CHECKING, Any

from brainsmith import __version__
from brainsmith.errors import NativeLibraryError
from brainsmith.forks import in_children, lock_of
from brainsmith.native import abi
from brainsmith.native.dynamic_loading import load
from brainsmith.native.library_checks import check_table, check_time_limit, no_entry
from brainsmith.native.native_op import LoadState, NativeOp, Usage
from brainsmith.native.plugin_library import PluginLibrary, checked_copy
from brainsmith.native.plugin_table import create, describe
from brainsmith.native.probe import loader_error, probe
from brainsmith.plugin.log import debug

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from brainsmith.native.copy import LibraryCopy
    from brainsmith.native.isolation.isolated_library import IsolatedLibrary

PROBE_SECONDS = 10.0
CLOSE_SECONDS = 30.0


def open_library(
    path: str | os.PathLike[str],
    *,
    isolation: str | None = None,
    sha256: str | None = None,
    time_limit: float = PROBE_SECONDS,
) -> NativeLibrary | IsolatedLibrary:
    """Load a native plugin.

    Args:
        path: The library.
        isolation: `process` runs it in a child process permanently; by default it is tried in one, and then loaded here.
        sha256: What its content must have, in hexadecimal digits.
        time_limit: Seconds that the child process may take; with isolation, those of a call.

    Returns:
        A NativeLibrary, or with isolation what has the same attributes.

    Raises:
        NativeLibraryError: It cannot be loaded; what is wrong has its own class (`brainsmith.errors`).
    """
    if isolation == "process":
        from brainsmith.native.isolation.isolated_library import open_isolated

        return open_isolated(path, sha256=sha256, time_limit=time_limit)
    if isolation not in (None, "none"):
        raise NativeLibraryError(f"isolation must be 'process' or None, not {isolation!r}")
    time_limit = check_time_limit(time_limit)
    place, copy, found = checked_copy(path, sha256)
    debug("%s: a library of this machine, sha256 %s", place, found)
    try:
        table = probe(place, copy, time_limit)
        debug("%s: loaded and unloaded in a child process", place)
        check_table(place, table)
        library = NativeLibrary(place, copy, found)
    except BaseException:
        copy.release()
        raise
    debug("%s: plugin %s %s with %d operations", place, library.name, library.version, len(library.ops))
    return library


class NativeLibrary(PluginLibrary):
    """A library that is loaded in this process, from a copy of its own.

    It is unloaded by `close`, or when neither it nor any of its ops is in use.
    """

    ops: list[NativeOp]

    def __init__(self, path: Path, copy: LibraryCopy, sha256: str) -> None:
        self._lock = lock_of()  # a finaliser may call an op in the midst of it
        # One thread that gives up must not open it under another that goes on.
        self._closing = lock_of(waits=False)
        self._usages: weakref.WeakSet[Usage] = weakref.WeakSet()
        self._load_state = LoadState()
        loaded = _Loaded(path, copy, self._load_state)
        try:
            table = loaded.read()
        except BaseException:
            loaded.unload()
            raise
        super().__init__(path, sha256, table)
        self.ops = [NativeOp(self, self._load_state, one) for one in table["ops"]]
        self._unload = weakref.finalize(self, loaded.unload)
        # At the end of the process other threads may still be in it; the system unloads it then.
        self._unload.atexit = False
        in_children(self, NativeLibrary._continue_in_child)

    @property
    def closed(self) -> bool:
        """Whether it is unloaded, or about to be."""
        return self._load_state.closed

    def new_usage(self) -> Usage:
        """Return the mark with which one thread notes that it is in one of the library's functions."""
        with self._lock:
            usage = Usage()
            self._usages.add(usage)
            return usage

    def _calls(self) -> int:
        with self._lock:
            return sum(usage.calls for usage in self._usages)

    def close(self, time_limit: float = CLOSE_SECONDS) -> None:
        """Unload the library, once no thread is in one of its functions any more. A second call does nothing.

        Its ops raise OpError from now on.

        Args:
            time_limit: Seconds to wait for calls to end.

        Raises:
            NativeLibraryError: Calls did not end; it stays loaded, and its ops go on.
        """
        with self._closing:
            if not self._unload.alive:
                return
            # A call first says that it is there, then looks at this; so either it sees this, or it is seen below.
            self._load_state.closed = True
            try:
                self._wait(time_limit)
            except BaseException:
                self._load_state.closed = False
                raise
            self._unload()

    def _wait(self, time_limit: float) -> None:
        until = time.monotonic() + time_limit
        while calls := self._calls():
            if time.monotonic() >= until:
                raise NativeLibraryError(
                    f"native plugin {self.name!r} cannot be unloaded: {calls} of its calls did not end within "
                    f"{time_limit:g} seconds"
                )
            time.sleep(0.0005)

    def _continue_in_child(self) -> None:
        """Forget the threads that a child of `os.fork` has not: their calls never end there."""
        own = get_ident()
        self._usages = weakref.WeakSet([usage for usage in self._usages if usage.thread == own])
        if self._unload.alive:  # a thread that was about to unload it is gone too
            self._load_state.closed = False


class _Loaded:
    """The system's handle of a library. It marks the library as unloaded for those that use it."""

    def __init__(self, path: Path, copy: LibraryCopy, load_state: LoadState) -> None:
        self._path, self._copy, self._load_state, self._table, self._destroy = path, copy, load_state, 0, 0
        with copy.shown() as place:
            try:
                self._library = load(place, copy.beside)
            except OSError as error:
                raise loader_error(path, str(error).replace(place, str(path))) from error

    def read(self) -> Mapping[str, Any]:
        """Return the plugin's table, held to the same rules as that of the trial."""
        try:
            address, message = create(self._library, __version__)
        except AttributeError as error:
            raise no_entry(self._path) from error
        if not address:
            why = message or "it gave no reason"
            raise NativeLibraryError(f"{self._path}: create_plugin returned no table: {why}")
        self._table = address
        table = describe(address)
        self._destroy = table.get("destroy") or 0
        check_table(self._path, table)
        return table

    def unload(self) -> None:
        """Have the plugin clean up, and unmap it."""
        from _ctypes import dlclose

        # The garbage collector unloads a library before it runs the finalisers of what it found with it, which may
        # hold ops.
        self._load_state.closed = True
        if self._destroy:
            abi.DESTROY_FUNCTION(self._destroy)(self._table)
        dlclose(self._library._handle)
        if self._copy.release():
            debug("%s: unmapped", self._path)
        else:
            debug(
                "%s: unloaded, but the system keeps it mapped: it was asked to, or a thread needs it",
                self._path,
            )
