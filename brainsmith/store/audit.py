"""Report to recorders what code does: Python's audit events, and reads of `os.environ`.

The hook is installed once and does nothing while there is no recorder; `os.environ` is as usual then.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident

from brainsmith import TYPE_CHECKING
from brainsmith.forks import in_children, lock_of
from brainsmith.store.reads import ALL_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from brainsmith.store.read_recorder import Recorder

HIDDEN: dict[str, str] = {
    "subprocess.Popen": "starts a program",
    "os.system": "starts a program",
    "os.posix_spawn": "starts a program",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
    "socket.connect": "connects to an address",
    "socket.bind": "listens at an address",
    "socket.sendto": "connects to an address",
    "socket.sendmsg": "connects to an address",
    "builtins.input": "asks the user",
    "sqlite3.connect": "opens a database",
}
"""Events after which results may come from where nobody sees it, and what whoever raises them does."""
LISTINGS = ("os.listdir", "os.scandir")
RENAMES = ("os.rename", "os.link")
FILES = ("open", *LISTINGS, *RENAMES, "os.mkdir")
_EVENTS = frozenset((*FILES, "import", "ctypes.dlopen", *HIDDEN))


class _Running:
    """Which recorder each thread has; the hook stays once it is in its place, and does nothing while there is none."""

    def __init__(self) -> None:
        self._lock = lock_of(self)
        in_children(self, _Running._forked)
        self._recorders: dict[int, Recorder] = {}
        self._noting: set[int] = set()
        self._hooked = False
        self._classes: tuple[Any, Any] | None = None

    def begin(self, recorder: Recorder) -> Recorder | None:
        """Let a recorder be that of this thread; return the one that it had."""
        with self._lock:
            if not self._hooked:
                sys.addaudithook(self._hook)
                self._hooked = True
            outer = self._recorders.get(get_ident())
            self._recorders[get_ident()] = recorder
            if self._classes is None:
                self._classes = type(os.environ), type(os.environb)
                os.environ.__class__ = os.environb.__class__ = _NotingEnviron
        return outer

    def end(self, outer: Recorder | None) -> None:
        """Let this thread have the recorder that it had before."""
        with self._lock:
            if outer is not None:
                self._recorders[get_ident()] = outer
                return
            self._recorders.pop(get_ident(), None)
            self._rest()

    def _rest(self) -> None:
        """Let `os.environ` be as usual, if there is no recorder."""
        if not self._recorders and self._classes is not None:
            os.environ.__class__, os.environb.__class__ = self._classes
            self._classes = None

    def _forked(self) -> None:
        """Forget, in a child, what threads record that do not exist."""
        self._recorders = {thread: one for thread, one in self._recorders.items() if thread == get_ident()}
        self._noting &= {get_ident()}
        self._rest()

    def aside(self, function: Callable[[], object]) -> None:
        """Call a function, and note nothing of what it does in this thread: it is not what is recorded."""
        thread = get_ident()
        if thread in self._noting:
            function()
            return
        self._noting.add(thread)
        try:
            function()
        finally:
            self._noting.discard(thread)

    def note(self, function: Callable[[Recorder], None]) -> None:
        """Have this thread's recorder note something, if it has one and is not noting just now."""
        thread = get_ident()
        if not self._recorders or thread in self._noting:
            return
        own = self._recorders.get(thread)
        self._noting.add(thread)
        try:
            for recorder in [own] if own is not None else self._begun_in(thread):
                function(recorder)
        finally:
            self._noting.discard(thread)

    def _begun_in(self, thread: int) -> list[Recorder]:
        """Return the recorders in which a thread without one was started; Python does not tell by whom."""
        started = sys.modules["threading"]._active.get(thread) if "threading" in sys.modules else None
        return [recorder for recorder in list(self._recorders.values()) if recorder.has_begun(started)]

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._recorders and event in _EVENTS:
            self.note(lambda recorder: recorder.take(event, arguments))


RUNNING = _Running()
"""The one of this process."""


class _NotingEnviron(os._Environ):  # type: ignore[type-arg]
    """`os.environ` and `os.environb` while a recorder runs: the same objects, which report what is read of them."""

    def __getitem__(self, key: Any) -> Any:
        RUNNING.note(lambda recorder: recorder.variable(key))
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        RUNNING.note(lambda recorder: recorder.variable_set(key))

    def __delitem__(self, key: Any) -> None:
        super().__delitem__(key)
        RUNNING.note(lambda recorder: recorder.variable_set(key))

    def __iter__(self) -> Iterator[Any]:
        keys = list(super().__iter__())
        RUNNING.note(lambda recorder: recorder.listed(keys))
        return iter(keys)

    def __len__(self) -> int:
        RUNNING.note(lambda recorder: recorder.variable(ALL_VARIABLES))
        return int(super().__len__())

    def __repr__(self) -> str:
        RUNNING.note(lambda recorder: recorder.variable(ALL_VARIABLES))
        return str(super().__repr__())


def threads() -> list[Any]:
    """Return the threads that there are; nobody needs `threading` for it."""
    module = sys.modules.get("threading")
    return list(module._active.values()) if module is not None else []


def processes_made() -> str:
    """Return what counts the processes that `multiprocessing` makes; Python's audit is not told of all of them."""
    module = sys.modules.get("multiprocessing.process")
    return repr(module._process_counter) if module is not None else "count(1)"
