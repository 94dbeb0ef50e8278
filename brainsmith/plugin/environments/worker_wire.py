"""What this process and the worker of another environment say to each other: JSON and bytes, and no pickle.

A message is a header in JSON and any number of blobs: a model is serialised ONNX, an array is what an `.npy` file holds.
Large ones lie in files of a folder that both ends share, in memory where the system has such a place (`/dev/shm`).
The worker runs this file with the Python of its environment, so it is written for every Python from 3.9 on, and imports
nothing but the standard library; numpy only where an array comes, which then exists at both ends.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LENGTH = struct.Struct("!I")
_PART = 1 << 20
_NUMBERS = itertools.count(1)
LARGE = 1 << 16
"""Bytes from which on a blob passes as a file."""

_PLAIN = (bool, int, float, str)


class UnsendableError(TypeError):
    """A value that is no plain data and no array cannot be passed to another environment."""


def encode(value: Any, blobs: list[bytes]) -> Any:
    """Return a value in a form that JSON can hold; bytes and arrays are added to the blobs.

    Raises:
        UnsendableError: It holds something else than None, numbers, texts, bytes, paths, arrays, and lists, tuples and
            dicts of these.
    """
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, list):
        return [encode(entry, blobs) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(entry, blobs) for entry in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key, blobs), encode(entry, blobs)] for key, entry in value.items()]}
    if isinstance(value, bytes):
        blobs.append(value)
        return {"bytes": len(blobs) - 1}
    if isinstance(value, os.PathLike):
        return {"path": os.fspath(value)}
    return _encoded_array(value, blobs)


def _encoded_array(value: Any, blobs: list[bytes]) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        array = numpy.asarray(value)
        if not array.dtype.hasobject:
            file = io.BytesIO()
            numpy.lib.format.write_array(file, array, allow_pickle=False)
            blobs.append(file.getvalue())
            return {"array" if isinstance(value, numpy.ndarray) else "scalar": len(blobs) - 1}
    raise UnsendableError(type(value).__name__)


def decode(value: Any, blobs: list[bytes]) -> Any:
    """Return what `encode` was given."""
    if isinstance(value, list):
        return [decode(entry, blobs) for entry in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "tuple":
        return tuple(decode(entry, blobs) for entry in content)
    if kind == "dict":
        return {decode(key, blobs): decode(entry, blobs) for key, entry in content}
    if kind == "bytes":
        return blobs[content]
    if kind == "path":
        from pathlib import Path  # hardly any argument is a path

        return Path(content)
    import numpy  # an array comes

    array = numpy.lib.format.read_array(io.BytesIO(blobs[content]), allow_pickle=False)
    return array if kind == "array" else array[()]


def packed(header: dict[str, Any], blobs: list[bytes], folder: str = "") -> list[bytes]:
    """Return the parts of a message, to be written one after the other.

    Args:
        header: Of the message.
        blobs: What goes with it.
        folder: Where large ones are put, for the other end to take; empty for nowhere.
    """
    places: list[int | str] = []
    parts = []
    for blob in blobs:
        name = _shared(blob, folder) if folder and len(blob) >= LARGE else None
        places.append(len(blob) if name is None else name)
        parts += [blob] if name is None else []
    text = json.dumps({**header, "blobs": places}).encode("utf-8", "surrogatepass")
    return [_LENGTH.pack(len(text)) + text, *parts]


def _shared(blob: bytes, folder: str) -> str | None:
    """Put a blob into a file and return its name; None where there is no room, so that it passes as the others do."""
    name = f"{os.getpid()}-{next(_NUMBERS)}"
    path = os.path.join(folder, name)
    try:
        with open(path, "xb") as file:
            file.write(blob)
    except OSError:
        try:
            os.unlink(path)
        except OSError:
            pass
        return None
    return name


def _taken(name: str, folder: str) -> bytes:
    """Return a blob that the other end put into a file, which goes."""
    path = os.path.join(folder, os.path.basename(name))
    with open(path, "rb") as file:
        blob = file.read()
    os.unlink(path)
    return blob


def unpack(
    read: Callable[[int], bytes | None], folder: str = ""
) -> tuple[dict[str, Any], list[bytes]] | None:
    """Return the next message; None at the end of all.

    Args:
        read: Gives exactly so many bytes; None if the other end has closed.
        folder: Where the other end puts large blobs.
    """
    start = read(_LENGTH.size)
    text = None if start is None else read(_LENGTH.unpack(start)[0])
    if text is None:
        return None
    header = json.loads(text.decode("utf-8", "surrogatepass"))
    blobs = []
    for place in header.pop("blobs"):
        blob = _taken(place, folder) if isinstance(place, str) else read(place)
        if blob is None:
            return None
        blobs.append(blob)
    return header, blobs


def read_exactly(descriptor: int, count: int) -> bytes | None:
    """Return so many bytes of a pipe, waiting for them; None if it ends before."""
    parts = []
    while count:
        part = os.read(descriptor, min(count, _PART))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def write_all(descriptor: int, parts: list[bytes]) -> None:
    """Write to a pipe, waiting until all is written."""
    for part in parts:
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
