"""Locks that survive a fork.

A forked child has all the objects of its parent, and of its threads the one that forked. A lock that another one held would
be held for ever there, and what it guards may be half changed. So before a fork this waits for the locks whose holders soon
release them; a lock that is still held is replaced in the child, and its owner is asked to repair what it guards.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import RLock, get_ident
from _weakref import ref

from brainsmith import TYPE_CHECKING
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONGEST_WAIT = 5.0
"""Seconds that a fork waits for all locks together."""


class _Guard(Struct):
    """What is known of one lock, which it does not keep alive."""

    lock: ref[RLock]
    owner: ref[Any] | None
    repair: Callable[[Any], None] | None
    waits: bool


_GUARDS: dict[int, _Guard] = {}
_CHILDREN: dict[int, tuple[ref[Any], Callable[[Any], None]]] = {}
_HELD: dict[int, list[RLock]] = {}
"""The locks that a forking thread has taken, by the thread."""


def lock_of(owner: Any = None, repair: Callable[[Any], None] | None = None, *, waits: bool = True) -> RLock:
    """Make a lock that no fork leaves held.

    Args:
        owner: Of what it guards; it is not kept alive.
        repair: Called with the owner in a child if another thread held the lock when the process forked.
        waits: Whether a fork waits for it. False for one that is held as long as code of plugins runs.
    """
    lock = RLock()
    key = id(lock)
    known = ref(owner) if owner is not None else None
    _GUARDS[key] = _Guard(ref(lock, lambda _: _GUARDS.pop(key, None)), known, repair, waits)
    return lock


def in_children(owner: Any, function: Callable[[Any], None]) -> None:
    """Have a function called with its owner in each forked child, as long as the owner lives."""
    key = id(owner)
    _CHILDREN[key] = (ref(owner, lambda _: _CHILDREN.pop(key, None)), function)


if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801  (as everyone knows it)
        """A property that is computed once: Python's own before 3.12 holds one lock for all objects while it is computed.

        Two threads that ask at once may both compute it.
        """

        def __init__(self, function: Callable[[Any], Any]) -> None:
            self.function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value


def never_freed(value: object) -> None:
    """Let a value live until the process ends: one whose end would wait for threads that do not exist."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))


def _before() -> None:
    """Take all locks at one moment.

    While it waits for one it holds no other: a thread that takes two of them in another order would wait for this one.
    """
    end = time.monotonic() + LONGEST_WAIT
    guards = [(guard.lock(), guard.waits) for guard in list(_GUARDS.values())]
    taken = _HELD[get_ident()] = []
    busy: RLock | None = None
    while True:
        if busy is not None and busy.acquire(timeout=max(0.0, end - time.monotonic())):
            taken.append(busy)
        busy = _take(guards, taken, may_wait=time.monotonic() < end)
        if busy is None:
            return
        _release(taken)


def _take(guards: list[tuple[RLock | None, bool]], taken: list[RLock], *, may_wait: bool) -> RLock | None:
    """Take each lock that is free, up to the first one that is worth waiting for; return that one."""
    for lock, waits in guards:
        if lock is None:
            continue
        if lock.acquire(blocking=False):
            taken.append(lock)
        elif waits and may_wait:
            return lock
    return None


def _release(taken: list[RLock]) -> None:
    while taken:
        taken.pop().release()


def _in_parent() -> None:
    _release(_HELD.pop(get_ident(), []))


def _in_child() -> None:
    taken = _HELD.pop(get_ident(), [])
    _HELD.clear()
    free = set(map(id, taken))
    interrupted = []
    for guard in list(_GUARDS.values()):
        lock = guard.lock()
        if lock is not None and id(lock) not in free:
            lock._at_fork_reinit()  # type: ignore[attr-defined]  # what Python's own modules do
            interrupted.append(guard)
    _release(taken)
    _forget_unfinished_imports()
    for guard in interrupted:
        owner = guard.owner() if guard.owner is not None else None
        if guard.repair is not None and owner is not None:
            guard.repair(owner)
    for reference, function in list(_CHILDREN.values()):
        owner = reference()
        if owner is not None:
            function(owner)


def _forget_unfinished_imports() -> None:
    """Let a child import what another thread of its parent was just importing; it would wait for that thread.

    With a package go its modules: imported already, they would not become attributes of the new package.
    """
    locks: dict[str, Any] = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    own: set[str] = set()
    unfinished: list[str] = []
    for name, reference in list(locks.items()):
        owner = getattr(reference(), "owner", None)
        if owner == get_ident():
            own.add(name)
        elif owner is not None:
            locks.pop(name, None)
            if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
                unfinished.append(name)
    for name in list(sys.modules):
        if name not in own and any(name == one or name.startswith(f"{one}.") for one in unfinished):
            del sys.modules[name]


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
