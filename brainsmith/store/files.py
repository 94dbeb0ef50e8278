"""Read and write whole files, at once and whatever lies in their place."""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISREG

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    Stamp = tuple[int, int, int]

ABSENT = (-1, -1, -1)
"""The stamp of a path that does not exist."""

CLOCK_TICK = 50_000_000
"""Nanoseconds within which two changes of a file may bear the same time."""

COARSE_TICK = 2_000_000_000
"""The same for a file system whose times are whole seconds."""

# A pipe of a source file's name must not be waited for.
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)


def read_bytes(path: str, check: Callable[[os.stat_result], None] | None = None) -> bytes:
    """Read a whole file. `open()` costs twice as much, and a discovery reads hundreds.

    Args:
        path: The file.
        check: Looks at its status before anything is read, and raises where it is not to be.
    """
    descriptor = os.open(path, _READ)
    try:
        status = os.fstat(descriptor)
        if check is not None:
            check(status)
        size = status.st_size
        data = os.read(descriptor, size + 1)
        while len(data) < size:
            more = os.read(descriptor, size - len(data))
            if not more:
                break
            data += more
        return data
    finally:
        os.close(descriptor)


def read_json_table(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the table that a JSON file holds; an empty one of a file that is missing, damaged or holds something else."""
    import json  # only what builds and imports leave is JSON

    try:
        found = json.loads(read_bytes(os.fspath(path)))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_endless(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is a pipe, a device or a socket: reading one may never end.

    Raises:
        OSError: Its status cannot be read, for another reason than that there is nothing.
        ValueError: It cannot be a path.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    return not (S_ISREG(mode) or S_ISDIR(mode))


def write_atomically(path: str, data: bytes) -> None:
    """Write a file so that a reader sees all of it or nothing, whatever happens to this process.

    Raises:
        OSError: The folder cannot be written.
    """
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts by their names below a folder, as UTF-8; folders that a name leads into are made.

    Raises:
        OSError: One cannot be written.
    """
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def stamp(path: str) -> Stamp:
    """Return what changes when a file or folder does: times in ns (content, status) and size in bytes.

    The status time notices a file that was replaced under its old modification time.
    """
    try:
        status = os.stat(path)
    except OSError:
        return ABSENT
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


def stamps(paths: Iterable[str]) -> list[Stamp]:
    """Return the stamp of each path, in order."""
    found: list[Stamp] = []
    add = found.append
    statuses = map(os.stat, paths)
    while True:
        try:
            for status in statuses:
                add((status.st_mtime_ns, status.st_ctime_ns, status.st_size))
            return found
        except OSError:  # the path ends here, the map goes on
            add(ABSENT)


def is_racy(times: Sequence[int], read: int) -> bool:
    """Tell whether a path may have changed after it was read without a change of its stamp.

    A clock that ticks gives two changes within a tick the same time. So a stamp says that nothing changed only if it is
    older than a tick before the reading; else the content has to be compared.

    Args:
        times: When it changed last, in ns: its content and its status, before or after the reading; more may follow.
        read: The time in ns before anything was read.
    """
    changed = max(times[:2])
    return changed >= read - (CLOCK_TICK if changed % 1_000_000_000 else COARSE_TICK)


def working_folder() -> str:
    """Return the working folder; empty where it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""
