"""Keep plain values on disk: whole or not at all, whatever happens, and never believed when damaged."""

from __future__ import annotations

import marshal
import os
import sys

from brainsmith import TYPE_CHECKING, __version__
from brainsmith.store.files import read_bytes, write_atomically
from brainsmith.store.fingerprint import checksum, short_digest

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.store.about import About

_FORMAT = 1
_MAGIC = b"brainsmith kept\0"
_WRITTEN: dict[str, int] = {}
"""The bytes that this process has kept in a folder since it held it to its quota."""


class Kept:
    """One value on disk, under a folder and a key.

    It is written in marshal's form, which holds plain values only and needs no import; the checksum in front is
    what makes reading a damaged file safe. Another version of Python, of BrainSmith or of this form has another
    file.
    """

    def __init__(self, cache_dir: str, kind: str, key: str) -> None:
        self.key = f"{_FORMAT}|{__version__}|{sys.implementation.cache_tag}|{sys.prefix}|{key}"
        self.kind = kind
        self.path = os.path.join(cache_dir, kind, short_digest(self.key))

    def load(self, stamp: Any) -> Any | None:
        """Return the value that was saved with this stamp; None if there is none, or it is damaged."""
        saved = _saved(self.path)
        if saved is None:
            return None
        key, saved_stamp, value, *_ = saved
        if key != self.key or (stamp is not None and saved_stamp != stamp):
            return None
        try:
            os.utime(self.path)  # what was used longest ago goes first
        except OSError:
            pass
        return value

    def save(self, stamp: Any, value: Any, about: About | None = None) -> bool:
        """Write the value; False if it is not plain or the folder cannot be written, which only costs time.

        Args:
            stamp: What `load` has to give.
            value: A plain one.
            about: What is known of it, for people.
        """
        from brainsmith.store.about import noted
        from brainsmith.store.safety import make_private, tighten

        try:
            body = marshal.dumps((self.key, stamp, value, dict(noted(about))))
            folder = os.path.dirname(self.path)
            make_private(folder)
            tighten(os.path.dirname(folder))
            write_atomically(self.path, _MAGIC + checksum(body) + body)
        except (OSError, ValueError):
            return False
        self._trim(len(body))
        return True

    def _trim(self, written: int) -> None:
        """Hold this kind to its quota: at the first value that a process keeps, and when it has kept many."""
        from brainsmith.store.quota import quota_of, trim_files

        folder, limit = os.path.dirname(self.path), quota_of(self.kind)
        _WRITTEN[folder] = _WRITTEN.get(folder, limit) + written
        if _WRITTEN[folder] >= limit // 8:
            _WRITTEN[folder] = 0
            trim_files(folder, limit, self.path)

    def remove(self) -> None:
        """Forget the value."""
        try:
            os.unlink(self.path)
        except OSError:
            pass


def inspect(path: str) -> tuple[str, Any, About] | None:
    """Return key, value and what is known of what lies in a file; None if it is damaged."""
    saved = _saved(path)
    if saved is None:
        return None
    key, _, value, *about = saved
    return key, value, about[0] if about else {}  # earlier versions noted nothing here


def _saved(path: str) -> tuple[Any, ...] | None:
    """Return key, stamp, value and what is known of it; None if there is no such file, or it is damaged."""
    try:
        data = read_bytes(path)
        start = len(_MAGIC) + 8
        body = memoryview(data)[start:]
        if data[: len(_MAGIC)] != _MAGIC or checksum(body) != data[len(_MAGIC) : start]:
            return None
        key, stamp, value, *about = marshal.loads(body)
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return key, stamp, value, *about
