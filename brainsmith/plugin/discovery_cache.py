"""Keep what a discovery found, in memory and on disk, for as long as it is still true."""

from __future__ import annotations

import time

from brainsmith import TYPE_CHECKING
from brainsmith.errors import CacheError
from brainsmith.plugin.distributions import environment
from brainsmith.plugin.info import FIELDS
from brainsmith.plugin.precedence import ADAPTED
from brainsmith.plugin.snapshot import STAMPED, Snapshot
from brainsmith.store.file_lock import FileLock
from brainsmith.store.files import is_racy, stamps
from brainsmith.store.values import Kept
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from brainsmith.settings import Settings
    from brainsmith.store.about import About
    from brainsmith.store.files import Stamp

    Installed = tuple[tuple[str, ...], ...]
    """What `environment` returns."""

    Key = tuple[tuple[str, ...], tuple[str, ...] | None, tuple[str, ...] | None]
    """Modes, frameworks and types of a discovery."""


_READ = ("discovery", "definitions", "blueprints", "details", "health", "settings")
"""The kinds that hold what is read of files."""

_LONGEST_SCAN = 20.0
"""Seconds to wait for another process that reads everything: it takes a tenth of one, or was stopped."""


class CachedDiscovery(Struct):
    """What the cache has for a request.

    Attributes:
        snapshot: The one that is still true; None if none is.
        source: Where it was, `memory` or `disk`; or why there is none.
        earlier: One that is true but for what changed, and that knows what it was made of.
        changed: The paths that changed since that one.
    """

    snapshot: Snapshot | None
    source: str
    earlier: Snapshot | None = None
    changed: Sequence[str] = ()


class DiscoveryCache:
    """Snapshots by what was asked for: in this process, and below the cache folder for the next one.

    A snapshot is valid as long as the settings, the installed distributions and every file and folder that was
    read are as they were, and it is not older than the time to live, which bounds what those cannot show. Processes
    that look for distributions in other folders (`python -c` looks in the current one, a script does not) have
    snapshots of their own, so that they do not drop each other's.
    """

    def __init__(self) -> None:
        self._memory: dict[tuple[object, ...], Snapshot] = {}
        self._unsaved: dict[tuple[object, ...], tuple[Settings, Snapshot]] = {}

    def provide(
        self, key: Key, settings: Settings, read: Callable[[CachedDiscovery], Snapshot]
    ) -> tuple[Snapshot, str]:
        """Return the snapshot of a request, and where it was: `memory`, `disk`, `shared`; or it was read: `update`, `scan`.

        Args:
            key: What is asked for.
            settings: Those that hold.
            read: Brings up to date what is kept, or reads everything; then other processes wait for what it finds.
        """
        installed = environment(ADAPTED)
        found = self.get(key, settings, installed)
        if found.snapshot is not None:
            return found.snapshot, found.source
        if found.earlier is not None:
            snapshot = read(found)
            self.put(key, settings, snapshot, at_once=False)
            return snapshot, "update"
        shared = None
        if settings.shared_cache is not None:
            from brainsmith.plugin.shared_discovery import SharedDiscovery, may_share  # only here

            shared = SharedDiscovery(key, settings, installed) if may_share(settings) else None
            theirs = shared.find() if shared is not None and settings.cache_ttl > 0 else None
            if theirs is not None:
                self.put(key, settings, theirs, at_once=False)
                return theirs, "shared"
        with self.lock(key, settings):
            found = self.get(key, settings)  # another process may have read everything meanwhile
            if found.snapshot is not None:
                return found.snapshot, found.source
            snapshot = read(found)
            self.put(key, settings, snapshot)
        if shared is not None:
            shared.offer(snapshot)
        return snapshot, "scan"

    def in_memory(self, key: Key, settings: Settings) -> Snapshot | None:
        """Return what was found last for a request, whether it is still true or not; None if nothing was."""
        return self._memory.get(_full_key(key, settings, environment(ADAPTED)))

    def get(self, key: Key, settings: Settings, installed: Installed | None = None) -> CachedDiscovery:
        """Look for the snapshot that is still true.

        Args:
            key: What was asked for.
            settings: Those that hold.
            installed: The distributions, if they were looked at just now.
        """
        installed = environment(ADAPTED) if installed is None else installed
        full_key = _full_key(key, settings, installed)
        found = CachedDiscovery(None, "nothing kept")
        for source, snapshot in self._known(full_key, settings):
            reason, changed = why_stale(snapshot, settings.cache_ttl, installed)
            if not reason:
                self._memory[full_key] = snapshot
                return CachedDiscovery(snapshot, source)
            if changed and (snapshot.sources is not None or _load_sources(snapshot, full_key, settings)):
                return CachedDiscovery(None, reason, snapshot, changed)
            self._memory.pop(full_key, None)
            found = CachedDiscovery(None, reason)
        return found

    def _known(self, full_key: tuple[object, ...], settings: Settings) -> Iterator[tuple[str, Snapshot]]:
        """Yield the snapshots of a key, true or not, each with where it is."""
        if full_key in self._memory:
            yield "memory", self._memory[full_key]
        plain = _kept(full_key, settings).load(None)
        if plain is not None:
            try:
                kept = Snapshot.from_plain(plain)
            except (TypeError, ValueError):  # it has another form
                return
            yield "disk", kept

    def put(self, key: Key, settings: Settings, snapshot: Snapshot, at_once: bool = True) -> bool:
        """Keep a snapshot that is complete; return whether it was written to disk.

        Args:
            key: What was asked for.
            settings: Those that held.
            snapshot: What was found.
            at_once: Write it now, not when this process ends. Writing costs as much as a look at all files does, and
                whoever edits a file will edit it again.
        """
        full_key = _full_key(key, settings, snapshot.environment)
        self._memory.pop(full_key, None)
        self._unsaved.pop(full_key, None)
        if not snapshot.complete:
            return False
        self._memory[full_key] = snapshot
        if at_once:
            return _save(full_key, settings, snapshot)
        if not self._unsaved:
            import atexit  # only where there is something to write

            atexit.unregister(self.save)
            atexit.register(self.save)
        self._unsaved[full_key] = (settings, snapshot)
        return False

    def save(self) -> None:
        """Write to disk what was brought up to date since."""
        unsaved, self._unsaved = self._unsaved, {}
        for full_key, (settings, snapshot) in unsaved.items():
            _save(full_key, settings, snapshot)

    def lock(self, key: Key, settings: Settings) -> FileLock:
        """Return the lock under which one process reads everything, and the others wait for what it finds."""
        path = _kept(_full_key(key, settings, environment(ADAPTED)), settings).path
        return FileLock(f"{settings.cache_dir}/locks/{path.rpartition('/')[2]}", _LONGEST_SCAN)

    def clear(self, settings: Settings) -> None:
        """Forget everything, on disk too."""
        self.forget()
        # only for who removes what is kept
        from brainsmith.store.kinds import kind_of
        from brainsmith.store.removal import clear

        try:
            clear(settings.cache_dir, list(map(kind_of, _READ)))
        except CacheError:  # another user's, of which nothing is used
            pass

    def forget(self) -> None:
        """Forget what is in memory."""
        self._memory.clear()
        self._unsaved.clear()


def _full_key(key: Key, settings: Settings, installed: Installed) -> tuple[object, ...]:
    return key, settings.key(), tuple(place for place, *_ in installed)


def _kept(full_key: tuple[object, ...], settings: Settings) -> Kept:
    return Kept(settings.cache_dir, "discovery", _own_key(full_key))


def _definitions(full_key: tuple[object, ...], settings: Settings) -> Kept:
    return Kept(settings.cache_dir, "definitions", _own_key(full_key))


def _own_key(full_key: tuple[object, ...]) -> str:
    """Return the key of both entries: what one is beside the other is found by it. Records of other fields have another."""
    return f"{full_key!r}|answers as tables|{' '.join(FIELDS)}"


def _save(full_key: tuple[object, ...], settings: Settings, snapshot: Snapshot) -> bool:
    about: About = {"of": f"the plugins of {settings.project or 'no project'}", "origin": {}}
    if snapshot.sources is not None:
        plain = snapshot.sources.to_plain()
        _definitions(full_key, settings).save(snapshot.identity, plain, {**about, "beside": "discovery"})
    return _kept(full_key, settings).save(None, snapshot.to_plain(), {**about, "stamped": STAMPED})


def _load_sources(snapshot: Snapshot, full_key: tuple[object, ...], settings: Settings) -> bool:
    """Give a snapshot from disk what it was made of; return whether that was kept."""
    from brainsmith.plugin.adapter_result import SnapshotSources  # parses: only where a file changed

    plain = _definitions(full_key, settings).load(snapshot.identity)
    try:
        snapshot.sources = None if plain is None else SnapshotSources.from_plain(plain)
    except (TypeError, ValueError, AttributeError):  # it has another form
        return False
    return snapshot.sources is not None


def why_stale(snapshot: Snapshot, ttl: float, installed: Installed) -> tuple[str, list[str]]:
    """Return why a snapshot is no longer true, empty if it is; and the paths that changed, if nothing else did.

    Args:
        snapshot: What was found.
        ttl: Seconds for which it may be believed.
        installed: The distributions that are installed now.
    """
    begin = time.time()
    age = begin - snapshot.created
    if age >= ttl or age < 0:
        return f"older than {ttl:g} seconds", []
    if installed != snapshot.environment:
        return "the installed distributions changed", []
    now = stamps(snapshot.paths)
    changed = []
    if now != snapshot.stamps:
        both = zip(snapshot.paths, now, snapshot.stamps, strict=True)
        changed = [path for path, new, old in both if new != old]
    if snapshot.racy:
        changed.extend(_changed_unnoticed(snapshot, now, changed, int(begin * 1e9)))
    if not changed:
        return "", []
    return f"{changed[0]} changed" + (f", and {len(changed) - 1} more" if len(changed) > 1 else ""), changed


def _changed_unnoticed(snapshot: Snapshot, now: list[Stamp], known: list[str], begin: int) -> Iterator[str]:
    """Yield the paths with the same stamp and another content; a stamp that has become old enough needs no more looks."""
    from brainsmith.plugin.definitions import digest_now  # parses: only where a time shows too little

    found = dict(zip(snapshot.paths, now, strict=True))
    for path, digest in list(snapshot.racy.items()):
        if path in known:
            continue
        if digest_now(path) != digest:
            yield path
        elif not is_racy(found[path], begin):
            del snapshot.racy[path]
