"""Which target was chosen for which resource, so that `auto` asks the targets once."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from brainsmith.forks import lock_of
from brainsmith.plugin.core import get_registry

if TYPE_CHECKING:
    from brainsmith.runtime.live import LiveTarget

REMEMBERED = 256
"""Resources; those chosen for last."""


class Choices:
    """Live targets by a resource's content, as long as no plugin changes; from any thread."""

    def __init__(self) -> None:
        self._lock = lock_of()
        self._chosen: OrderedDict[tuple[str, int], LiveTarget] = OrderedDict()

    def find(self, content: str) -> LiveTarget | None:
        """Return what was chosen for a content, if it can still be used."""
        with self._lock:
            chosen = self._chosen.get(_key(content))
        return chosen if content and chosen is not None and chosen.is_ready else None

    def keep(self, content: str, live: LiveTarget) -> None:
        """Remember what was chosen."""
        with self._lock:
            self._chosen[_key(content)] = live
            while len(self._chosen) > REMEMBERED:
                self._chosen.popitem(last=False)

    def forget(self, live: LiveTarget) -> None:
        """Forget a target that was let go of."""
        with self._lock:
            self._chosen = OrderedDict((key, kept) for key, kept in self._chosen.items() if kept is not live)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._chosen.clear()


def _key(content: str) -> tuple[str, int]:
    return content, get_registry().generation
