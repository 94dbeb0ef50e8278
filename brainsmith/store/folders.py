"""Folders kept by content: made once, whole or not at all, and never believed when damaged.

An entry is made elsewhere and renamed into place, under a lock that ends with the process that holds it. So two
processes make it once, and a killed one leaves nothing that looks whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import SimulationError
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brainsmith.errors import BrainsmithError

DEFAULT_LIMIT = 1 << 30
_MANIFEST = "manifest.json"
_ABANDONED = 3600.0


class KeptFolders:
    """Entries in a folder, shared by all processes of a user.

    Args:
        folder: Made when something is stored.
        limit: Bytes that `trim` leaves at most; the entries used longest ago go first.
        failure: The error that says that the folder cannot be written.
    """

    def __init__(
        self, folder: Path, limit: int = DEFAULT_LIMIT, failure: type[BrainsmithError] = SimulationError
    ) -> None:
        self.folder = folder
        self.limit = limit
        self.failure = failure

    def entry(self, key: str) -> Path:
        """Return where an entry lies, or will lie."""
        return self.folder / key

    def obtain(self, key: str, make: Callable[[Path], None]) -> Path:
        """Return an entry, which is made if there is no whole one.

        Args:
            key: Stands for everything that the entry depends on.
            make: Fills an empty folder. What it raises leaves no entry behind.

        Raises:
            BrainsmithError: The folder cannot be written; it is a `failure`.
        """
        entry = self.entry(key)
        if not _is_whole(entry):
            try:
                with self._locked(key):
                    if not _is_whole(entry):
                        self._make(entry, make)
            except OSError as error:
                raise self.failure(
                    f"{self.folder}: cannot be written, and what builds make is kept there: {error.strerror}\n"
                    "  make room or give rights there, or set XDG_CACHE_HOME to another folder"
                ) from error
            self.trim(keep=entry)
        with contextlib.suppress(OSError):
            os.utime(entry)
        return entry

    def trim(self, keep: Path | None = None) -> None:
        """Remove what killed processes left, and the entries used longest ago until the limit holds."""
        for work in _folders(self.folder / "tmp"):
            with contextlib.suppress(OSError):
                if time.time() - work.stat().st_mtime > _ABANDONED:
                    shutil.rmtree(work, ignore_errors=True)
        sized = []
        for entry in _folders(self.folder):
            with contextlib.suppress(OSError):
                if (entry / _MANIFEST).is_file():
                    size = sum(path.stat().st_size for path in entry.rglob("*") if path.is_file())
                    sized.append((entry == keep, entry.stat().st_mtime, size, entry))
        total = sum(size for _, _, size, _ in sized)
        for kept, _, size, entry in sorted(sized):
            if total <= self.limit or kept:
                break
            self._drop(entry)
            total -= size

    def _make(self, entry: Path, make: Callable[[Path], None]) -> None:
        work = self._work()
        try:
            make(work)
            manifest = {str(path.relative_to(work)): _digest(path) for path in _files(work)}
            (work / _MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True))
            if entry.exists():
                self._drop(entry)
            work.rename(entry)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _drop(self, entry: Path) -> None:
        """Remove an entry at once for all readers, then its files."""
        attic = self._work() / "dropped"
        with contextlib.suppress(OSError):
            entry.rename(attic)
        shutil.rmtree(attic.parent, ignore_errors=True)

    def _work(self) -> Path:
        work = self.folder / "tmp" / f"{os.getpid()}-{secrets.token_hex(6)}"
        work.mkdir(parents=True)
        return work

    @contextlib.contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        """Let one process at a time make an entry; the system lets go of the lock of a process that ends."""
        locks = self.folder / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        with (locks / key).open("w") as file:
            with contextlib.suppress(
                OSError
            ):  # a file system without locks: both make it, the last one stays
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _is_whole(entry: Path) -> bool:
    try:
        manifest = json.loads((entry / _MANIFEST).read_text())
        return bool(manifest) and all(_digest(entry / name) == known for name, known in manifest.items())
    except (OSError, ValueError, AttributeError):
        return False


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _folders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except OSError:
        return []


def _digest(path: Path) -> str:
    return digest(path.read_bytes())
