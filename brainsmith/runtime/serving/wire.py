"""Arrays on the wire: a length, a head in JSON, then the bytes of the arrays one behind the other.

    4 bytes      length of the head, little-endian
    head         UTF-8 JSON: an object, in which `arrays` lists [name, dtype, shape]
    arrays       each in C order, little-endian

Nothing in it is ever executed: a dtype is looked up in a table, and the bytes become numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from brainsmith.errors import WireError

Array = np.ndarray[Any, Any]
Head = dict[str, Any]

DTYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
)
"""The types of numbers that can be sent, as NumPy calls them."""

HEAD_BYTES = 1 << 20
"""The longest head."""

_DIMENSIONS = 32
_LENGTH = 4
_PACKET = 1 << 16


class CutShortError(WireError):
    """The bytes end before what they say is complete."""


class Source(Protocol):
    """Where bytes come from: a file or a response."""

    def readinto(self, buffer: Any, /) -> int | None:
        """Fill a buffer from its beginning; return how many bytes came."""


def encode(head: Mapping[str, Any], arrays: Mapping[str, Array]) -> list[Any]:
    """Return a head and arrays as pieces of bytes, which are to be sent one behind the other; arrays are not copied.

    Args:
        head: Plain values; it must not have `arrays`.
        arrays: By name.

    Raises:
        WireError: An array is of another dtype than `DTYPES`, or the head is too long or not plain.
    """
    listed, pieces = [], []
    for name, array in arrays.items():
        if array.dtype.name not in DTYPES:
            raise WireError(
                f"array '{name}' must be of {', '.join(DTYPES)} to be sent, not {array.dtype.name}"
            )
        listed.append([name, array.dtype.name, list(array.shape)])
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        pieces.append(plain.reshape(-1).view(np.uint8).data)
    text = to_json({**head, "arrays": listed})
    if len(text) > HEAD_BYTES:
        raise WireError(f"the head of a frame must have {HEAD_BYTES:,} bytes at most, not {len(text):,}")
    return [len(text).to_bytes(_LENGTH, "little") + text, *pieces]


def decode(source: Source, length: int) -> tuple[Head, dict[str, Array]]:
    """Read a head and its arrays.

    Args:
        source: Where they come from.
        length: How many bytes there are; all of them are read, unless there is something wrong.

    Raises:
        WireError: They are no frame, or the source ends before them.
    """
    if length < _LENGTH:
        raise WireError(f"a frame must have {_LENGTH} bytes or more, not {length}")
    size = int.from_bytes(read_bytes(source, _LENGTH), "little")
    if size > min(HEAD_BYTES, length - _LENGTH):
        raise WireError(f"the head of a frame of {length:,} bytes cannot have {size:,}")
    head = from_json(read_bytes(source, size))
    listed = _listed(head.pop("arrays", None))
    stated = sum(_count(shape) * np.dtype(dtype).itemsize for _, dtype, shape in listed)
    if stated != length - _LENGTH - size:
        raise WireError(
            f"the arrays of a frame must have {length - _LENGTH - size:,} bytes, not the {stated:,} of its head"
        )
    return head, {name: _read(source, name, dtype, shape) for name, dtype, shape in listed}


def to_json(plain: Mapping[str, Any]) -> bytes:
    """Return plain values as JSON.

    Raises:
        WireError: There is another kind of value among them.
    """
    try:
        return json.dumps(plain, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"only numbers, texts, lists and tables can be sent: {error}") from error


def from_json(data: bytes) -> Head:
    """Return what JSON of one object says.

    Raises:
        WireError: It is something else.
    """
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError(f"it is no JSON: {error}") from error
    if not isinstance(plain, dict):
        raise WireError(f"it must be a JSON object, not {type(plain).__name__}")
    return plain


def read_bytes(source: Source, count: int) -> bytes:
    """Read some bytes.

    Raises:
        WireError: There are fewer.
    """
    buffer = bytearray(count)
    _fill(source, memoryview(buffer))
    return bytes(buffer)


def gathered(pieces: list[Any]) -> list[Any]:
    """Return the same bytes in as few pieces as sending them takes: one, unless copying would cost more."""
    return [b"".join(pieces)] if sum(map(len, pieces)) <= _PACKET else pieces


def _listed(listed: Any) -> list[tuple[str, str, tuple[int, ...]]]:
    if not isinstance(listed, list):
        raise WireError(f"arrays of a frame must be a list, not {listed!r}")
    found: dict[str, tuple[str, str, tuple[int, ...]]] = {}
    for row in listed:
        if not isinstance(row, list) or len(row) != 3:
            raise WireError(f"an array must be stated as [name, dtype, shape], not {row!r}")
        name, dtype, shape = row
        if not isinstance(name, str) or name in found:
            raise WireError(f"the name of an array must be a text that no other has, not {name!r}")
        if dtype not in DTYPES:
            raise WireError(f"the dtype of array '{name}' must be {', '.join(DTYPES)}, not {dtype!r}")
        if not _is_shape(shape):
            raise WireError(f"the shape of array '{name}' must be whole numbers, 0 or more, not {shape!r}")
        found[name] = (name, dtype, tuple(shape))
    return list(found.values())


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list)
        and len(shape) <= _DIMENSIONS
        and all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in shape)
        and _count(tuple(size or 1 for size in shape)) < 1 << 62  # what NumPy can count, beside a 0 too
    )


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _read(source: Source, name: str, dtype: str, shape: tuple[int, ...]) -> Array:
    array: Array = np.empty(_count(shape), np.dtype(dtype).newbyteorder("<"))
    _fill(source, memoryview(array.view(np.uint8).data))
    if dtype == "bool" and array.size and array.view(np.uint8).max() > 1:
        raise WireError(f"array '{name}' of bool must hold the bytes 0 and 1 only")
    return array.astype(dtype, copy=False).reshape(shape)


def _fill(source: Source, view: memoryview) -> None:
    done = 0
    while done < len(view):
        came = source.readinto(view[done:])
        if not came:
            raise CutShortError(f"{len(view) - done:,} bytes are missing at its end")
        done += came
