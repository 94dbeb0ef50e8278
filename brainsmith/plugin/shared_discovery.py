"""Discoveries that other machines have done: asked for before everything is read, offered after it was."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.log import debug
from brainsmith.plugin.shared_places import Places
from brainsmith.plugin.shared_snapshot import of_text, to_text
from brainsmith.store.shared.envelope import content_digest
from brainsmith.store.shared.shared_cache import shared_cache

if TYPE_CHECKING:
    from brainsmith.plugin.snapshot import Snapshot
    from brainsmith.settings import Settings
    from brainsmith.store.shared.shared_cache import SharedCache

KIND = "discovery"


class SharedDiscovery:
    """One discovery in the shared cache.

    Args:
        asked: Its modes, frameworks and types.
        settings: Those that hold; they name a shared cache.
        environment: The distributions that are installed here.
    """

    def __init__(self, asked: object, settings: Settings, environment: tuple[tuple[str, ...], ...]) -> None:
        self._places = Places(settings)
        self._environment = environment
        self.key = content_digest(self._places.key(asked, settings).encode("utf-8", "surrogateescape"))

    def find(self, cache: SharedCache) -> Snapshot | None:
        """Return the snapshot that another machine found, if it is true here."""
        content = cache.get(KIND, self.key)
        if content is None:
            return None
        try:
            found = of_text(content.decode("utf-8"), self._places, self._environment)
        except ValueError as error:
            cache.refuse(KIND, self.key, str(error))
            return None
        if found is None:
            debug("the shared discovery is of other files")
        return found

    def offer(self, cache: SharedCache, snapshot: Snapshot) -> bool:
        """Write what was found, for other machines; return whether it was."""
        text = None if cache.read_only else to_text(snapshot, self._places)
        return text is not None and cache.put(KIND, self.key, text.encode("utf-8"))


def cache_of(settings: Settings) -> SharedCache | None:
    """Return the shared cache that the settings name; None if they name none."""
    if settings.shared_cache is None:
        return None
    return shared_cache(
        settings.shared_cache, settings.shared_cache_mode == "read-only", settings.shared_cache_timeout
    )
