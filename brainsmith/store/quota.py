"""Limit how much is kept on disk of each kind; the least recently used entries are removed first."""

from __future__ import annotations

import os
import time

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MEBIBYTE = 1 << 20
QUOTAS = {
    "builds": 2048 * MEBIBYTE,
    "rtl": 1024 * MEBIBYTE,
    "synthesis": 1024 * MEBIBYTE,
    "hls": 1024 * MEBIBYTE,
    "ops": 1024 * MEBIBYTE,
    "programs": 512 * MEBIBYTE,
    "onnxruntime": 512 * MEBIBYTE,
    "results": 256 * MEBIBYTE,
}
"""The bytes that are kept of each kind, a folder in the cache folder; `OTHERS` of one that does not stand here."""

OTHERS = 64 * MEBIBYTE

ABANDONED = 3600.0
"""Seconds after which what is half made counts as left by a process that was killed."""


def quota_of(kind: str) -> int:
    """Return how many bytes are kept of a kind."""
    return QUOTAS.get(kind, OTHERS)


def trim(entries: Iterable[tuple[float, int, str]], limit: int, drop: Callable[[str], bool]) -> None:
    """Remove the entries used longest ago until the limit holds.

    Args:
        entries: When each was used last, its bytes, and its path.
        limit: In bytes.
        drop: Removes one; returns False where it is in use, or cannot be removed.
    """
    oldest_first = sorted(entries)
    total = sum(size for _, size, _ in oldest_first)
    for _, size, path in oldest_first:
        if total <= limit:
            return
        if drop(path):
            total -= size


def is_abandoned(path: str) -> bool:
    """Tell whether what is half made was left by a process that was killed."""
    try:
        return time.time() - os.stat(path).st_mtime > ABANDONED
    except OSError:
        return False


def trim_files(folder: str, limit: int, newest: str) -> None:
    """Remove the files of a folder that were used longest ago until the limit holds, and what was left half written.

    Args:
        folder: Of files, each an entry.
        limit: In bytes.
        newest: A file that stays.
    """
    remove_half_written(folder)
    entries = []
    for entry in listed(folder):
        try:
            if entry.is_file(follow_symlinks=False) and not is_half_written(entry):
                status = entry.stat()
                entries.append((status.st_mtime, status.st_size, entry.path))
        except OSError:  # others remove files too
            continue
    trim(entries, limit, lambda path: path != newest and _unlink(path))


def remove_half_written(folder: str) -> None:
    """Remove the files of a folder that killed processes left half written."""
    for entry in listed(folder):
        if is_half_written(entry) and is_abandoned(entry.path):
            _unlink(entry.path)


def listed(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder; nothing where it cannot be listed."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def is_half_written(item: os.DirEntry[str]) -> bool:
    """Tell whether a file is being written, or was when its process was killed."""
    return item.name.endswith(".tmp")


def _unlink(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
