"""Read and write whole files, at once and whatever lies in their place."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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
