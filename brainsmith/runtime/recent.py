"""What was used last: as many values as are remembered, by their keys."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from brainsmith.forks import lock_of

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Values by key, those that were used last; from any thread.

    Args:
        most: How many.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = lock_of()
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def find(self, key: Key) -> Value | None:
        """Return the value of a key, which is used by that; None if there is none."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: Key, value: Value) -> Value | None:
        """Remember a value; return the one that is forgotten for it, so that it is freed outside of the lock."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            return self._values.popitem(last=False)[1] if len(self._values) > self._most else None

    def forget(self, value: Value) -> None:
        """Forget a value, whichever keys it has."""
        with self._lock:
            self._values = OrderedDict((key, one) for key, one in self._values.items() if one is not value)

    def clear(self) -> None:
        """Forget all; they are freed outside of the lock."""
        with self._lock:
            values, self._values = self._values, OrderedDict()
        values.clear()
