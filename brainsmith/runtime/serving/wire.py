"""Bodies of requests and answers: arrays as a safetensors file, with a head of plain values in its metadata.

    {"__metadata__": {"head": '{"prepared": "...", "arrays": ["x"]}'}, "x": {"dtype": "F32", "shape": [1, 6], ...}}

The head's `arrays` lists the names in order, which the file does not keep. Nothing of it is ever executed: the library
checks lengths, offsets and shapes, and a dtype is looked up in a table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from brainsmith.errors import WireError

Array = np.ndarray[Any, Any]
Head = dict[str, Any]

DTYPES = {
    "BOOL": "bool",
    **{
        f"{sign}{bits}": f"{name}{bits}"
        for sign, name in (("I", "int"), ("U", "uint"))
        for bits in (8, 16, 32, 64)
    },
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
}
"""The types of numbers that can be sent: as safetensors calls them, and NumPy."""

HEAD_BYTES = 1 << 20
"""The longest header of a file."""

_LENGTH = 8
_METADATA = "__metadata__"


def encode(head: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Return a head and arrays as a safetensors file.

    Args:
        head: Plain values; it must not have `arrays`.
        arrays: By name.

    Raises:
        WireError: An array is of another dtype than `DTYPES`, or has a name that a file cannot hold; or the head is too
            long or not plain.
    """
    from safetensors.numpy import save

    for name, array in arrays.items():
        if array.dtype.name not in DTYPES.values():
            raise WireError(
                f"array '{name}' must be of {', '.join(DTYPES.values())} to be sent, not {array.dtype.name}"
            )
        if name == _METADATA:
            raise WireError(f"an array cannot be called {name!r} to be sent")
    text = to_json({**head, "arrays": list(arrays)}).decode()
    plain = {name: np.asarray(array, array.dtype.newbyteorder("<"), "C") for name, array in arrays.items()}
    try:
        data = save(plain, {"head": text})
    except UnicodeEncodeError as error:
        raise WireError(f"the name of an array must be a string: {error}") from error
    _checked_length(data)
    return data


def decode(data: bytes) -> tuple[Head, dict[str, Array]]:
    """Return the head and the arrays of a safetensors file.

    Raises:
        WireError: The bytes are something else, or there are arrays or a head that cannot be sent.
    """
    from safetensors import SafetensorError, deserialize

    length = _checked_length(data)
    try:
        found = {name: _array(name, **stated) for name, stated in deserialize(data)}  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise WireError(f"it is not a safetensors file: {error}") from error
    metadata = from_json(data[_LENGTH : _LENGTH + length]).get(_METADATA) or {}
    head = from_json(metadata.get("head", "").encode())
    names = head.pop("arrays", None)
    if not isinstance(names, list) or set(map(type, names)) - {str} or sorted(names) != sorted(found):
        raise WireError(f"arrays of the head must be the names of all arrays, not {names!r}")
    return head, {name: found[name] for name in names}


def to_json(plain: Mapping[str, Any]) -> bytes:
    """Return plain values as JSON.

    Raises:
        WireError: There is another kind of value among them.
    """
    try:
        return json.dumps(plain, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"only numbers, strings, lists and dicts can be sent: {error}") from error


def from_json(data: bytes) -> Head:
    """Return what JSON of one object says.

    Raises:
        WireError: It is something else.
    """
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError(f"it is not JSON: {error}") from error
    if not isinstance(plain, dict):
        raise WireError(f"it must be a JSON object, not {type(plain).__name__}")
    return plain


def _checked_length(data: bytes) -> int:
    """Return the length of a file's header; the library says what is wrong with a file that is too short for one."""
    length = int.from_bytes(data[:_LENGTH], "little")
    if length > HEAD_BYTES and len(data) >= _LENGTH:
        raise WireError(f"the head of arrays must have {HEAD_BYTES:,} bytes at most, not {length:,}")
    return length


def _array(name: str, dtype: str, shape: list[int], data: bytearray) -> Array:
    if dtype not in DTYPES:
        raise WireError(f"the dtype of array '{name}' must be {', '.join(DTYPES)}, not {dtype}")
    array: Array = np.frombuffer(data, np.dtype(DTYPES[dtype]).newbyteorder("<"))
    if dtype == "BOOL" and array.size and array.view(np.uint8).max() > 1:
        raise WireError(f"array '{name}' of bool must hold the bytes 0 and 1 only")
    try:
        return array.astype(DTYPES[dtype], copy=False).reshape(shape)
    except ValueError as error:  # an array without elements may state more of them than can be counted
        raise WireError(f"the shape of array '{name}' is not possible: {error}") from error
