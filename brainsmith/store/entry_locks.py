"""Locks for the entries of a folder, by name: who makes one, and who uses it. Each is a byte of one file.

They are held by an open file, so the system lets go of those of a process that ends, however it ends, and two threads
of a process lock each other out. A file system without locks only costs time: two make the same, and the last one stays.

`FileLock` (`file_lock.py`) is something else: one lock for one piece of work, which discovery takes without importing
any of what is needed here, and gives up waiting for.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import struct
import weakref
from collections import Counter, deque
from hashlib import blake2b
from typing import TYPE_CHECKING

from brainsmith.forks import in_children, lock_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RECENT = 32
"""How many entries that a process obtained last count as in use; beyond them, what an object of its own still uses."""

FOLDERS = 16
"""In how many folders at once they do: each costs an open file. A process has five kinds of them."""

_WAIT = getattr(fcntl, "F_OFD_SETLKW", None)
_TRY = getattr(fcntl, "F_OFD_SETLK", None)
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class EntryLocks:
    """The locks of one folder.

    For each name there are two: one is held while its entry is made, the other, which many may hold at once, while it
    is used.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    @contextlib.contextmanager
    def making(self, name: str, waits: Callable[[], bool] | None = None) -> Iterator[None]:
        """Let one thread of one process at a time make an entry.

        Args:
            name: The entry's.
            waits: Is asked again and again while somebody else makes it, and ends the wait by False: it only saves work.
                None waits as long as it takes.

        Raises:
            OSError: The file of the locks cannot be written.
        """
        descriptor = _open(self.path)
        _PROCESS.opened.add(descriptor)
        try:
            with contextlib.suppress(OSError):
                while not _lock(descriptor, fcntl.F_WRLCK, _byte(name), wait=waits is None):
                    if waits is not None and not waits():
                        break
            yield
        finally:
            _PROCESS.let_go(descriptor, _byte(name))

    @contextlib.contextmanager
    def dropping(self, name: str) -> Iterator[bool]:
        """Try to keep all others from using an entry; gives False if somebody does."""
        descriptor = -1
        free = True
        try:
            with contextlib.suppress(OSError):
                descriptor = _open(self.path)
                _PROCESS.opened.add(descriptor)
                free = _lock(descriptor, fcntl.F_WRLCK, _byte(name) + 1, wait=False)
            yield free
        finally:
            _PROCESS.let_go(descriptor, _byte(name) + 1)

    @contextlib.contextmanager
    def using(self, name: str) -> Iterator[None]:
        """Use something for a while."""
        held = _PROCESS.held(self.path)
        is_seen = held.add(name)
        try:
            yield
        finally:
            if is_seen:
                held.remove(name)

    def use(self, name: str) -> bool:
        """Use an entry from now on, until this process has obtained many others; waits while it is removed.

        Returns:
            Whether others see it; if not, the folder cannot be written, and nothing is removed from it.
        """
        return _PROCESS.held(self.path).add_recent(name)

    def use_as_long_as(self, name: str, user: object) -> None:
        """Use an entry as long as an object lives."""
        held = _PROCESS.held(self.path)
        if held.add(name):
            weakref.finalize(user, held.remove, name).atexit = False


class _Held:
    """What a process uses of one folder, under one open file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.recent: deque[str] = deque()
        self._descriptor = -1
        self._users: Counter[str] = Counter()
        self._guard = lock_of()  # an object may end, and let go, in the midst of a call here

    def add(self, name: str) -> bool:
        with self._guard:
            try:
                if self._descriptor < 0:
                    self._descriptor = _open(self.path)
                if not self._users[name]:
                    _lock(self._descriptor, fcntl.F_RDLCK, _byte(name) + 1, wait=True)
            except OSError:
                return False
            self._users[name] += 1
            return True

    def add_recent(self, name: str) -> bool:
        with self._guard:
            if not self.add(name):
                return False
            self.recent.append(name)
            if len(self.recent) > RECENT:
                self.remove(self.recent.popleft())
            return True

    def remove(self, name: str) -> None:
        with self._guard, contextlib.suppress(OSError):
            self._users[name] -= 1
            if self._users[name] <= 0:
                del self._users[name]
            if name not in self._users and self._descriptor >= 0:
                _lock(self._descriptor, fcntl.F_UNLCK, _byte(name) + 1, wait=False)

    def close_if_idle(self) -> bool:
        """Use nothing any more, unless an object of this process does; return whether that is so."""
        with self._guard:
            if sum(self._users.values()) > len(self.recent):
                return False
            self._users.clear()
            self.recent.clear()
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1
            return True

    def disown(self) -> None:
        """Leave the file to the parent of this process: it stays open, so the locks hold until both are done."""
        self._descriptor = -1
        self._users.clear()


class _Process:
    """What this process uses of all folders; a forked child begins with nothing."""

    def __init__(self) -> None:
        self.opened: set[int] = set()
        """The files that are open to make or to remove something just now."""
        self.by_folder: dict[str, _Held] = {}
        self._guard = lock_of()
        in_children(self, _Process._forget_parents)

    def held(self, path: str) -> _Held:
        """Return what is used of a folder; of those used longest ago no more is."""
        path = os.path.abspath(path)
        with self._guard:
            held = self.by_folder.pop(path) if path in self.by_folder else _Held(path)
            self.by_folder[path] = held  # the last one
            for other in list(self.by_folder)[: max(0, len(self.by_folder) - FOLDERS)]:
                if self.by_folder[other].close_if_idle():
                    del self.by_folder[other]
            return held

    def let_go(self, descriptor: int, at: int) -> None:
        """Undo a lock, also for a child that was forked meanwhile, and close its file."""
        if descriptor in self.opened:
            self.opened.discard(descriptor)
            with contextlib.suppress(OSError):
                _lock(descriptor, fcntl.F_UNLCK, at, wait=False)
            os.close(descriptor)

    def _forget_parents(self) -> None:
        """Let a child neither undo what its parent uses, nor wait for itself on what a thread of its parent makes."""
        for held in self.by_folder.values():
            held.disown()
        self.by_folder.clear()
        for descriptor in self.opened:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self.opened.clear()


_PROCESS = _Process()


def _open(path: str) -> int:
    """Open the file of the locks; anything else in its place, such as a pipe, is removed.

    Raises:
        OSError: It cannot be made.
    """
    for last in (False, True):
        try:
            descriptor = os.open(path, _OPEN, 0o600)
        except OSError:
            if last or not os.path.islink(path):
                raise
        else:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return descriptor
            os.close(descriptor)
        os.unlink(path)
    raise OSError(f"{path} is not a file")


def _byte(name: str) -> int:
    """Return where the two locks of a name are in the file."""
    return int.from_bytes(blake2b(name.encode(), digest_size=7).digest(), "little") * 2


def _lock(descriptor: int, kind: int, at: int, wait: bool) -> bool:
    """Lock or unlock a byte of an open file; return False if somebody else holds it.

    Raises:
        OSError: The file system has no locks.
    """
    if _WAIT is None or _TRY is None:
        return True
    asked = struct.pack("hhqqi0q", kind, os.SEEK_SET, at, 1, 0)
    try:
        fcntl.fcntl(descriptor, _WAIT if wait else _TRY, asked)
    except BlockingIOError:
        return False
    return True
