"""The targets that one manager holds: each once, however often it is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import NoActiveTargetError, TargetError
from brainsmith.forks import lock_of
from brainsmith.runtime.live_target import raise_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brainsmith.runtime.live_target import LiveTarget


class Holdings:
    """Live targets in the order in which they were first chosen; from any thread."""

    def __init__(self) -> None:
        self._lock = lock_of()
        self._held: dict[int, LiveTarget] = {}

    def keep(self, live: LiveTarget) -> LiveTarget:
        """Keep a target that was just acquired; of one that is kept already, the second hold is released."""
        with self._lock:
            known = id(live) in self._held
            self._held[id(live)] = live
        if known:
            live.release()
        return live

    def all(self) -> list[LiveTarget]:
        """Return them in their order."""
        with self._lock:
            return list(self._held.values())

    def named(self, name: str, device_id: int | None) -> list[LiveTarget]:
        """Return those of a name, `name` or `framework:name`, and of a device if one is given.

        Raises:
            NoActiveTargetError: There is none.
        """
        held = self.all()
        found = [
            live
            for live in held
            if name in (live.name, live.info.qualified) and device_id in (None, live.device_id)
        ]
        if not found:
            which = "" if device_id is None else f" (device {device_id})"
            raise NoActiveTargetError(
                f"target {name!r}{which} is not held by this manager; it holds {', '.join(map(str, held)) or 'none'}"
            )
        return found

    def release(self, found: Iterable[LiveTarget], each: Callable[[LiveTarget], None]) -> None:
        """Release targets; those that have no other holder are cleaned up.

        Args:
            found: Which.
            each: Called with each that was released.

        Raises:
            TargetError: The `cleanup` of one raised; the first is reported, the others are logged. All are released,
                except one whose release is called from inside its own `execute`, which ends the loop.
        """
        errors = []
        for live in found:
            try:
                live.release()
            except TargetError as error:
                if live.is_ready:
                    raise
                errors.append(error)
            with self._lock:
                self._held.pop(id(live), None)
            each(live)
        raise_first(errors)

    def __len__(self) -> int:
        return len(self._held)
