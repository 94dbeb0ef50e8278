"""An entry as it lies in a shared cache: one line that says what it is, and its content, compressed.

    brainsmith-shared 1 discovery 5f0c... 183204 21077 9a1f...
    form, kind, key, bytes of the content, bytes of what follows, and its SHA-256

It is taken only if all of it agrees. Sizes are limited, so that a few bytes cannot fill the
memory.
"""

from __future__ import annotations

import zlib

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_FORM = "brainsmith-shared 1"
_LONGEST_LINE = 512

LARGEST = 64 << 20
"""The bytes of the largest content that is shared."""


class DamagedEntryError(ValueError):
    """What a shared cache gave is not the entry that was asked for."""


def sealed(kind: str, key: str, content: bytes) -> bytes:
    """Return an entry as it is written."""
    body = zlib.compress(content, 6)
    return f"{_FORM} {kind} {key} {len(content)} {len(body)} {content_digest(body)}\n".encode() + body


def opened(kind: str, key: str, data: bytes) -> bytes:
    """Return the content of an entry.

    Raises:
        DamagedEntryError: It is not the one of this kind and key, or not whole; the text says what is wrong.
    """
    end = data.find(b"\n", 0, _LONGEST_LINE)
    start = f"{_FORM} {kind} {key} ".encode()
    if end < 0 or not data.startswith(start):
        raise DamagedEntryError("it is not an entry of this key")
    try:
        size_text, body_text, digest = data[len(start) : end].decode("ascii").split(" ")
        size, body_size = int(size_text), int(body_text)
    except ValueError:
        raise DamagedEntryError("its first line is not that of an entry") from None
    if not 0 <= size <= LARGEST:
        raise DamagedEntryError(f"it says that it has {size} bytes, and an entry may have {LARGEST}")
    if body_size != len(data) - end - 1:
        raise DamagedEntryError("it is cut off, or something follows it")
    body = data[end + 1 :]
    if content_digest(body) != digest:
        raise DamagedEntryError("its content does not have its digest")
    return _unpacked(body, size)


def _unpacked(body: bytes, size: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(body, size + 1)
    except zlib.error:
        raise DamagedEntryError("its content cannot be unpacked") from None
    if len(content) != size or not unpacker.eof or unpacker.unused_data:
        raise DamagedEntryError("its content has another size than it says")
    return content


def content_digest(content: bytes) -> str:
    """Return the SHA-256 of some content, in hexadecimal digits."""
    try:  # importing hashlib costs as much as a cached discovery
        from _sha256 import sha256
    except ImportError:  # from Python 3.12 on it has another name
        from hashlib import sha256
    return str(sha256(content).hexdigest())


class _JsonForm:
    """How JSON is read: as Python's own decoder does, but for numbers that JSON does not have."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int

    @staticmethod
    def parse_constant(name: str) -> object:
        raise ValueError(name)


def read_json(text: str) -> Any:
    """Return what a JSON text holds. It is read by the part of Python that is written in C: importing `json` costs more.

    Marshal's form would be read as fast, and a hostile one ends the interpreter.

    Raises:
        ValueError: It cannot be read as JSON, or is nested too deeply.
    """
    from _json import make_scanner

    try:
        value, end = make_scanner(_JsonForm)(text, 0)  # type: ignore[arg-type]
    except (StopIteration, RecursionError):
        raise ValueError("it cannot be read as JSON") from None
    if end != len(text):
        raise ValueError("something follows it")
    return value
