"""Keep instances of plugins for as long as somebody uses them."""

from __future__ import annotations

from weakref import WeakValueDictionary

from brainsmith import TYPE_CHECKING
from brainsmith.forks import lock_of

if TYPE_CHECKING:
    from _thread import RLock
    from collections.abc import Callable, Hashable
    from typing import Any


class InstanceCache:
    """Instances by a key, held weakly: an instance that nobody uses is freed.

    Two threads that ask for one key get one instance, made once. Instances that cannot be held weakly (a class with
    `__slots__` and no `__weakref__`) are made anew each time.
    """

    def __init__(self) -> None:
        self._lock = lock_of()
        self._instances: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self._making: WeakValueDictionary[Hashable, RLock] = WeakValueDictionary()
        """The locks of the keys whose instances are made just now: each lives as long as a thread has it."""

    def get(self, key: Hashable, make: Callable[[], Any]) -> tuple[Any, bool]:
        """Return the instance of a key, and whether it was there already.

        Args:
            key: What tells instances apart.
            make: Makes one; called without the cache's lock held, and by one thread at a time for one key.
        """
        with self._lock:
            instance = self._instances.get(key)
            if instance is not None:
                return instance, True
            lock = self._making.get(key)
            if lock is None:
                lock = self._making[key] = lock_of(waits=False)
        with lock:
            with self._lock:
                instance = self._instances.get(key)
            if instance is not None:
                return instance, True
            instance = make()
            with self._lock:
                try:
                    self._instances[key] = instance
                except TypeError:
                    pass  # it cannot be held weakly
            return instance, False

    def find(self, key: Hashable) -> Any | None:
        """Return the instance of a key if there is one."""
        with self._lock:
            return self._instances.get(key)

    def values(self) -> list[Any]:
        """Return the instances that are in use."""
        with self._lock:
            return list(self._instances.values())

    def discard(self, key: Hashable, instance: Any) -> None:
        """Forget an instance, unless its key has another one by now."""
        with self._lock:
            if self._instances.get(key) is instance:
                del self._instances[key]

    def clear(self) -> None:
        """Forget all instances; those in use live on with their users."""
        with self._lock:
            self._instances.clear()

    def __len__(self) -> int:
        return len(self._instances)
