"""What one target has prepared: made once for each content and configuration, shared by all who use the target."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from brainsmith.forks import lock_of
from brainsmith.plugin.instance_cache import InstanceCache
from brainsmith.runtime.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.runtime.prepared import Prepared

RECENT = 32
"""How many are kept although they are not in use."""


class PreparedCache:
    """Prepared resources by their keys.

    One that is in use is always found; of the others those used last are kept. A payload that can be closed is
    closed once: when its resource is given up by all, or with the cache.
    """

    def __init__(self, recent: int = RECENT) -> None:
        self._lock = lock_of()
        self._alive = InstanceCache()
        self._recent: Recent[str, Prepared] = Recent(recent)
        self._closers: weakref.WeakKeyDictionary[Prepared, weakref.finalize[Any, Prepared]] = (
            weakref.WeakKeyDictionary()
        )

    def get(self, key: str, make: Callable[[], Prepared]) -> Prepared:
        """Return the prepared resource of a key, made by one thread while others wait."""
        prepared: Prepared = self._alive.get(key, lambda: self._watched(make()))[0]
        self._recent.keep(key, prepared)
        return prepared

    def find(self, key: str) -> Prepared | None:
        """Return the prepared resource of a key if there is one."""
        prepared: Prepared | None = self._alive.find(key)
        if prepared is not None:
            self._recent.keep(key, prepared)
        return prepared

    def all(self) -> list[Prepared]:
        """Return those that are alive, in the order of their keys."""
        return sorted(self._alive.values(), key=lambda prepared: prepared.key)

    def close(self) -> list[BaseException]:
        """Close every payload and forget all; return what closing raised."""
        errors: list[BaseException] = []
        with self._lock:
            closers = list(self._closers.values())
        for closer in closers:
            try:
                closer()
            except Exception as error:  # noqa: BLE001  (a payload is the target's own; all are to be closed)
                errors.append(error)
        self._recent.clear()
        self._alive.clear()
        return errors

    def _watched(self, prepared: Prepared) -> Prepared:
        close = getattr(prepared.payload, "close", None)
        if callable(close):
            with self._lock:
                self._closers[prepared] = weakref.finalize(prepared, close)
        return prepared
