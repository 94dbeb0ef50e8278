"""What a value holds, as a key: two values have one key exactly if code computes the same with them."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable

    from brainsmith.autodiff.op import Op

_PLAIN = {bool, int, str, bytes, type(None), FunctionType}
"""The types whose values are their own keys, and come most often."""


def content_key(value: Any) -> Hashable:
    """Return a key of all that an attribute holds: type, dtype, shape and every bit.

    What is no number, text, array or collection of them is its own key: equal as it says itself, or by identity.
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return np.ndarray, value.dtype.str, value.shape, sha256(value.tobytes()).digest()
    if isinstance(value, np.generic):
        return kind, value.dtype.str, value.tobytes()
    if isinstance(value, float):
        return kind, value.hex()  # tells -0.0 from 0.0, and NaN equals itself
    if isinstance(value, dict | Mapping):
        return kind, tuple([(content_key(key), content_key(one)) for key, one in value.items()])
    if isinstance(value, list | tuple | np.ndarray):
        return kind, tuple([content_key(one) for one in value])
    try:
        hash(value)
    except TypeError:
        return _Itself(value)
    return kind, value


def op_key(op: Op) -> Hashable:
    """Return a key of an op as it is now: itself, and what its instance holds (`self.k = 3`)."""
    state = vars(op) if hasattr(op, "__dict__") else {}
    return (op, content_key(state)) if state else op


class _Itself:
    """A value that cannot be hashed, known by its identity; held, so that no other one takes its place in memory."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)
