"""Discoveries that other machines have done: asked for before everything is read, offered after it was."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.collector import collector_at_rest
from brainsmith.plugin.shared_places import Places
from brainsmith.plugin.shared_snapshot import of_text
from brainsmith.plugin.trust import LISTED
from brainsmith.store.shared.envelope import content_digest
from brainsmith.store.shared.shared_cache import shared_cache

if TYPE_CHECKING:
    from brainsmith.plugin.snapshot import Snapshot
    from brainsmith.settings import Settings
    from brainsmith.store.shared.shared_cache import SharedCache

KIND = "discovery"
BY_ITSELF = "with trust: listed each machine reads its plugins itself"


def may_share(settings: Settings) -> bool:
    """Tell whether discoveries of others are used: not where trust goes by the distributions that records name."""
    return settings.trust != LISTED


class SharedDiscovery:
    """One discovery in the shared cache.

    Args:
        asked: Its modes, frameworks and types.
        settings: Those that hold; they name a shared cache.
        environment: The distributions that are installed here.
        cache: The shared cache, if not the one that the settings name.
    """

    def __init__(
        self,
        asked: object,
        settings: Settings,
        environment: tuple[tuple[str, ...], ...],
        cache: SharedCache | None = None,
    ) -> None:
        self._cache = shared_cache(settings) if cache is None else cache
        self._places = Places(settings)
        self._environment = environment
        self.key = content_digest(self._places.key(asked, settings).encode("utf-8", "surrogateescape"))

    def find(self) -> Snapshot | None:
        """Return the snapshot that another machine found, if it is true here."""
        content = self._cache.get(KIND, self.key)
        if content is None:
            return None
        try:
            with collector_at_rest():
                found = of_text(content.decode("utf-8"), self._places, self._environment)
        except ValueError as error:
            self._cache.refuse(KIND, self.key, str(error))
            return None
        if found is None:
            from brainsmith.plugin.log import debug  # all is read now

            debug("the shared discovery is of other files")
        return found

    def offer(self, snapshot: Snapshot) -> bool:
        """Write what was found, for other machines; return whether it was."""
        if self._cache.read_only or self._cache.is_resting:
            return False
        from brainsmith.plugin.shared_writing import to_text  # only where everything was read

        text = to_text(snapshot, self._places)
        return text is not None and self._cache.put(KIND, self.key, text.encode("utf-8"))
