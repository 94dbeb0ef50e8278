"""Keep plain values on disk: whole or not at all, whatever happens, and never believed when damaged."""

from __future__ import annotations

import marshal
import os
import sys
from _imp import source_hash

from brainsmith import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FORMAT = 1
_MAGIC = b"brainsmith kept\0"


# A pipe of a source file's name must not be waited for.
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)


def read_bytes(path: str) -> bytes:
    """Read a whole file. `open()` costs twice as much, and a discovery reads hundreds."""
    descriptor = os.open(path, _READ)
    try:
        size = os.fstat(descriptor).st_size
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


def checksum(data: bytes) -> bytes:
    """Return 8 bytes that stand for some data, as the interpreter itself makes them for `.pyc` files: no import at all."""
    return bytes(source_hash(_FORMAT, data))


def digest(text: str) -> str:
    """Return 16 hexadecimal digits that stand for a text: for names of files whose content says what they are for."""
    return checksum(text.encode("utf-8", "surrogateescape")).hex()


class Kept:
    """One value on disk, under a folder and a key.

    It is written in marshal's form, which holds plain values only and needs no import; the checksum in front is
    what makes reading a damaged file safe. Another version of Python, of BrainSmith or of this form has another
    file.
    """

    def __init__(self, cache_dir: str, kind: str, key: str) -> None:
        self.key = f"{_FORMAT}|{__version__}|{sys.implementation.cache_tag}|{sys.prefix}|{key}"
        self.path = os.path.join(cache_dir, kind, digest(self.key))

    def load(self, stamp: Any) -> Any | None:
        """Return the value that was saved with this stamp; None if there is none, or it is damaged."""
        try:
            data = read_bytes(self.path)
        except OSError:
            return None
        start = len(_MAGIC) + 8
        if data[: len(_MAGIC)] != _MAGIC or checksum(data[start:]) != data[len(_MAGIC) : start]:
            return None
        try:
            key, saved_stamp, value = marshal.loads(data[start:])
        except (ValueError, EOFError, TypeError):
            return None
        return value if key == self.key and (stamp is None or saved_stamp == stamp) else None

    def save(self, stamp: Any, value: Any) -> bool:
        """Write the value; False if it is not plain or the folder cannot be written, which only costs time."""
        try:
            body = marshal.dumps((self.key, stamp, value))
            write_atomically(self.path, _MAGIC + checksum(body) + body)
        except (OSError, ValueError):
            return False
        return True

    def remove(self) -> None:
        """Forget the value."""
        try:
            os.unlink(self.path)
        except OSError:
            pass
