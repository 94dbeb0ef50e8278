"""Keep what a discovery found, in memory and on disk, for as long as it is still true."""

from __future__ import annotations

import time

from brainsmith.plugin.distributions import environment
from brainsmith.plugin.files import stamps
from brainsmith.plugin.precedence import ADAPTED
from brainsmith.plugin.snapshot import Snapshot
from brainsmith.store.values import Kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brainsmith.settings import Settings

    Installed = tuple[tuple[str, ...], ...]
    """What `environment` returns."""

    Key = tuple[tuple[str, ...], tuple[str, ...] | None, tuple[str, ...] | None]
    """Modes, frameworks and types of a discovery."""


class DiscoveryCache:
    """Snapshots by what was asked for: in this process, and below the cache folder for the next one.

    A snapshot is believed as long as the settings, the installed distributions and every file and folder that was
    read are as they were, and it is not older than the time to live, which bounds what those cannot show. Processes
    that look for distributions in other folders (`python -c` looks in the current one, a script does not) have
    snapshots of their own, so that they do not drop each other's.
    """

    def __init__(self) -> None:
        self._memory: dict[tuple[object, ...], Snapshot] = {}

    def get(self, key: Key, settings: Settings) -> tuple[Snapshot | None, str]:
        """Return the snapshot that is still true, and where it was: `memory`, `disk`, or a reason why there is none."""
        installed = environment(ADAPTED)
        full_key = _full_key(key, settings, installed)
        snapshot = self._memory.get(full_key)
        if snapshot is not None:
            reason = why_stale(snapshot, settings.cache_ttl, installed)
            if not reason:
                return snapshot, "memory"
            del self._memory[full_key]
        plain = _kept(full_key, settings).load(None)
        if plain is None:
            return None, "nothing kept" if snapshot is None else reason
        try:
            kept = Snapshot.from_plain(plain)
        except (TypeError, ValueError):
            return None, "what was kept has another form"
        reason = why_stale(kept, settings.cache_ttl, installed)
        if reason:
            return None, reason
        self._memory[full_key] = kept
        return kept, "disk"

    def put(self, key: Key, settings: Settings, snapshot: Snapshot) -> bool:
        """Keep a snapshot that is complete and settled; return whether it was written to disk."""
        if not snapshot.complete:
            return False
        full_key = _full_key(key, settings, snapshot.environment)
        self._memory[full_key] = snapshot
        return snapshot.settled and _kept(full_key, settings).save(None, snapshot.to_plain())

    def clear(self, settings: Settings) -> None:
        """Forget everything, on disk too."""
        self._memory.clear()
        import shutil

        for kind in ("discovery", "blueprints", "details", "health", "settings"):
            shutil.rmtree(f"{settings.cache_dir}/{kind}", ignore_errors=True)

    def forget(self) -> None:
        """Forget what is in memory."""
        self._memory.clear()


def _full_key(key: Key, settings: Settings, installed: Installed) -> tuple[object, ...]:
    return key, settings.key(), tuple(place for place, *_ in installed)


def _kept(full_key: tuple[object, ...], settings: Settings) -> Kept:
    return Kept(settings.cache_dir, "discovery", repr(full_key))


def why_stale(snapshot: Snapshot, ttl: float, installed: Installed) -> str:
    """Return why a snapshot is no longer true; empty if it is.

    Args:
        snapshot: What was found.
        ttl: Seconds for which it may be believed.
        installed: The distributions that are installed now.
    """
    if not snapshot.settled:
        return "a file changed just before it was read"
    age = time.time() - snapshot.created
    if age >= ttl or age < 0:
        return f"older than {ttl:g} seconds"
    if installed != snapshot.environment:
        return "the installed distributions changed"
    now = stamps(snapshot.paths)
    if now != snapshot.stamps:
        changed = [
            path for path, new, old in zip(snapshot.paths, now, snapshot.stamps, strict=True) if new != old
        ]
        return f"{changed[0]} changed" + (f", and {len(changed) - 1} more" if len(changed) > 1 else "")
    return ""
