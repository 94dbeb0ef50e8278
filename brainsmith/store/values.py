"""Keep plain values on disk: whole or not at all, whatever happens, and never believed when damaged."""

from __future__ import annotations

import marshal
import os
import sys

from brainsmith import __version__
from brainsmith.store.files import read_bytes, write_atomically
from brainsmith.store.fingerprint import checksum, short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FORMAT = 1
_MAGIC = b"brainsmith kept\0"


class Kept:
    """One value on disk, under a folder and a key.

    It is written in marshal's form, which holds plain values only and needs no import; the checksum in front is
    what makes reading a damaged file safe. Another version of Python, of BrainSmith or of this form has another
    file.
    """

    def __init__(self, cache_dir: str, kind: str, key: str) -> None:
        self.key = f"{_FORMAT}|{__version__}|{sys.implementation.cache_tag}|{sys.prefix}|{key}"
        self.path = os.path.join(cache_dir, kind, short_digest(self.key))

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
