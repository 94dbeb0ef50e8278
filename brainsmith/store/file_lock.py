"""Let one process at a time do what all would do alike; a process that ends lets go, however it ends.

`EntryLocks` (`entry_locks.py`) is something else: who makes and who uses each of the entries of a folder. This one is
for what comes before every command, so it imports next to nothing, and a process that waits too long goes on.
"""

from __future__ import annotations

import os
import time

_PAUSE = 0.005


class FileLock:
    """A lock between processes, on a file. It only saves work: who cannot have it in time goes on without.

    Args:
        path: Made where it does not exist.
        seconds: How long to wait for another process, which may have been stopped.

    Attributes:
        is_taken: Whether another process has held it for that long; else it is held, or there are no locks here.
    """

    def __init__(self, path: str, seconds: float) -> None:
        self.path = path
        self.seconds = seconds
        self.is_taken = False
        self._descriptor = -1

    def __enter__(self) -> bool:
        """Wait for the lock; return whether it is held."""
        import fcntl

        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600)
        except OSError:
            return False
        end = time.monotonic() + self.seconds
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                self.is_taken = time.monotonic() >= end
                if self.is_taken:
                    return False
                time.sleep(_PAUSE)
            except OSError:  # a file system without locks
                return False

    def __exit__(self, *error: object) -> None:
        """Let go: also of what a child inherited that was forked meanwhile."""
        import fcntl

        if self._descriptor >= 0:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            except OSError:
                pass
            os.close(self._descriptor)
            self._descriptor = -1
