"""What is found now: before records are read a discovery looks at every file, and a cache answers where nothing changed."""

from __future__ import annotations

import sys
import time

from brainsmith import TYPE_CHECKING
from brainsmith.errors import BrainsmithError, SettingsError
from brainsmith.forks import lock_of
from brainsmith.plugin.discovery_cache import DiscoveryCache
from brainsmith.plugin.held_plugins import held_plugins
from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.plugin.performance_stats import Stats
from brainsmith.plugin.records import RecordList
from brainsmith.plugin.request import Request
from brainsmith.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brainsmith.errors import Problem
    from brainsmith.plugin.discovery_cache import CachedDiscovery
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.last_good import LastGood
    from brainsmith.plugin.plugin_registry import Registry
    from brainsmith.plugin.snapshot import Snapshot


TRUSTED = 0.05
"""Seconds for which an attribute look-up relies on the last look at all files."""


class LiveDiscovery:
    """Keeps a registry up to date. All methods may be called from any thread.

    Attributes:
        stats: What was measured.
    """

    def __init__(self, registry: Registry, settings: Settings | None = None) -> None:
        self._lock = lock_of(self, LiveDiscovery._start_anew)
        self._registry = registry
        self._given = settings
        self._debug_setting = False
        self._cache = DiscoveryCache()
        self._request: Request | None = None
        self._current: Snapshot | None = None
        self._blueprint: tuple[str, frozenset[tuple[str, str]]] | None = None
        self.stats = Stats()
        self._checked = -TRUSTED
        self._last_good: LastGood | None = None
        self._watches = 0
        registry.on_reading(self._refresh, self._recheck)

    @property
    def settings(self) -> Settings:
        """The settings that hold now: read again when the environment, the project or a file of theirs changed."""
        if self._given is not None:
            return self._given
        settings = load_settings()
        self.stats.enabled = settings.performance_tracking
        if settings.debug != self._debug_setting:  # what the program says holds until the setting changes
            self._debug_setting = settings.debug
            self.set_debug_mode(settings.debug)
        return settings

    @property
    def registry(self) -> Registry:
        """The registry, up to date: discovery has run once at least."""
        if self._current is None:
            self._refresh()
        return self._registry

    def discover_plugins(
        self,
        modes: Iterable[str] | None = None,
        frameworks: Iterable[str] | None = None,
        types: Iterable[str] | None = None,
    ) -> RecordList:
        """Find plugins, from a cache where it is still true.

        What is asked for here holds for later look-ups, until something else is asked for or the hub is reset.

        Args:
            modes: `full`: everything. `selective`: the given types or frameworks. `blueprint`: what the loaded
                blueprint names. Of several, each adds what it finds. The setting `discovery_mode` by default.
            frameworks: Only these frameworks.
            types: Only these plugin types.

        Returns:
            The records.

        Raises:
            SettingsError: A mode, framework or type is unknown, or the mode is `blueprint` and none is loaded.
        """
        request = Request.of(modes, frameworks, types, self.settings.discovery_mode)
        with self._lock:
            before, self._request = self._request, request
            try:
                found = self._discover(request)
                if request.unknown_framework(found) is not None:
                    # only where a name is wrong
                    from brainsmith.plugin.unknown_framework import refuse_unknown_framework

                    refuse_unknown_framework(request, self._whole(self.settings))
            except BrainsmithError:
                self._request = before  # what is looked up next goes by what was asked for before
                self._current = None
                raise
            return found

    def _refresh(self) -> None:
        with self._lock:
            self._discover(self._asked(self.settings))

    def _recheck(self) -> None:
        """Look at every file, unless somebody did just now: what an attribute look-up may rely on."""
        if time.monotonic() - self._checked >= TRUSTED:
            self._refresh()

    def _asked(self, settings: Settings) -> Request:
        """Return what was asked for last, or else what the settings ask for."""
        return self._request or Request(settings.discovery_mode)

    def _discover(self, request: Request) -> RecordList:
        settings = self.settings
        begin, checked = self.stats.clock(), time.monotonic()
        snapshot, source = self._snapshot(request, settings)
        view = self._view(snapshot, request, settings)
        if view is not self._current:
            self._registry.replace_discovered(view, request.restriction)
            self._renewed(self._registry)
            self._current = view
        self._checked = checked
        self.stats.discovered(source, begin)
        return RecordList(view.records)

    def _renewed(self, registry: Registry) -> Registry:
        """Return a registry after a discovery: what changed since it was imported is forgotten, and loaded anew."""
        if registry.loaded_count():
            from brainsmith.plugin.renewal import renew  # reads sources: for who has loaded something

            renew()
        return registry

    def keep_last_good(self) -> None:
        """List what a file that breaks had before as stale, until `forget_last_good` was called as often."""
        with self._lock:
            self._watches += 1
            if self._last_good is None:
                from brainsmith.plugin.last_good import LastGood  # only where files are watched

                self._last_good = LastGood()
            self._whole(self.settings)

    def forget_last_good(self) -> None:
        """List only what files have, unless somebody else watches them."""
        with self._lock:
            self._watches -= 1
            if not self._watches:
                self._last_good = None
                self._current = None

    def _snapshot(self, request: Request, settings: Settings) -> tuple[Snapshot, str]:
        """Return what is found; while files are watched, with what broken ones had before."""
        snapshot, source = self._provided(request, settings)
        if self._last_good is not None and request.is_whole:
            snapshot = self._last_good.completed(snapshot)
        return snapshot, source

    def _provided(self, request: Request, settings: Settings) -> tuple[Snapshot, str]:
        held = self._cache.in_memory(request.key, settings) if held_plugins() is not None else None
        if held is not None:
            return held, "memory"

        def read(kept: CachedDiscovery) -> Snapshot:
            from brainsmith.plugin.discovery import discover  # parses: only where no cache is true

            return discover(request, settings, kept)

        begin = time.time_ns()
        snapshot, source = self._cache.provide(request.key, settings, read)
        if source == "disk" and "opentelemetry.trace" in sys.modules:
            from brainsmith.monitoring.tracing import note_past  # where somebody may want traces

            known = {
                "code.function.name": f"{__name__}.LiveDiscovery._snapshot",
                "brainsmith.discovery.source": source,
            }
            note_past("discovery", {**known, "brainsmith.discovery.plugins": len(snapshot.records)}, begin)
        return snapshot, source

    def _view(self, snapshot: Snapshot, request: Request, settings: Settings) -> Snapshot:
        """Return the part of a snapshot that a blueprint names, in blueprint mode."""
        if request.mode != "blueprint":
            return snapshot
        if self._blueprint is None:
            where = settings.sources.get("discovery_mode", "the call")
            raise SettingsError(
                f"discovery_mode is blueprint (from {where}), and no blueprint is loaded\n"
                "  load one: load_blueprint_plugins('my.yaml'), or set discovery_mode: full"
            )
        current = self._current
        kept = request.part(snapshot.records, self._blueprint[1])
        if current is not None and current.identity == snapshot.identity and current.records == kept:
            return current
        view = snapshot.restricted(PLUGIN_TYPES)
        view.records = kept
        return view

    def use_blueprint(self, path: str, records: Iterable[PluginInfo]) -> None:
        """Note which plugins the loaded blueprint names; in blueprint mode only they are found from now on."""
        with self._lock:
            self._blueprint = (path, frozenset((info.type, info.reference) for info in records))
            if self._asked(self.settings).mode == "blueprint":
                self._current = None  # the registry may still show what the last blueprint named

    def all_records(self) -> tuple[Registry, str]:
        """Return a registry of everything, whatever the mode, and what stands for its contents.

        A blueprint is resolved in it: it is what decides what may be loaded, so it must see all.
        """
        with self._lock:
            settings, checked = self.settings, time.monotonic()
            snapshot = self._whole(settings)
            current = self._current
            asked = self._asked(settings)
            whole = asked.is_whole
            # In blueprint mode the registry shows what the loaded blueprint names, and refuses while there is none.
            if asked.mode != "blueprint" and (current is None or current is snapshot or whole):
                if current is not snapshot:
                    self._registry.replace_discovered(snapshot)
                    self._renewed(self._registry)
                    self._current = snapshot
                if whole:
                    self._checked = checked
                return self._registry, snapshot.identity
        return self._renewed(self._registry.with_discovered(snapshot)), snapshot.identity

    def recent_records(self) -> Registry:
        """Return a registry of everything that relies on the last look at all files, as an attribute look-up does."""
        with self._lock:
            looked = time.monotonic() - self._checked < TRUSTED
            if looked and self._current is not None and self._asked(self.settings).is_whole:
                return self._registry
        return self.all_records()[0]

    def registry_with_finn(self) -> Registry:
        """Return a registry of everything, FINN's too where the setting `frameworks` leaves that out.

        The setting says whose plugins are found by their names. Steps that make hardware layers are made of FINN's.
        """
        settings = self.settings
        if settings.frameworks is None or "finn" in settings.frameworks:
            return self.all_records()[0]
        from copy import copy  # only where the setting leaves FINN out

        widened = copy(settings)
        widened.frameworks = (*settings.frameworks, "finn")
        with self._lock:
            snapshot, _ = self._snapshot(Request("full"), widened)
        return self._renewed(self._registry.with_discovered(snapshot))

    def everything(self) -> Snapshot:
        """Return what a full discovery finds; what is asked for later goes by what was asked for before."""
        with self._lock:
            return self._whole(self.settings)

    def _whole(self, settings: Settings) -> Snapshot:
        begin = self.stats.clock()
        snapshot, source = self._snapshot(Request("full"), settings)
        self.stats.discovered(source, begin)
        return snapshot

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What discovery could not read, and clashes: each with its place."""
        self.registry  # noqa: B018  (discovers)
        return tuple(self._current.problems) if self._current else ()

    @property
    def adapters(self) -> tuple[dict[str, Any], ...]:
        """A summary of each adapter of the last discovery."""
        self.registry  # noqa: B018  (discovers)
        return tuple(self._current.adapters) if self._current else ()

    def set_debug_mode(self, on: bool) -> None:
        """Log every step of discovery and loading to stderr, or stop doing so; the logger's level is then as before."""
        from brainsmith.plugin.log import set_debug  # hardly ever on

        set_debug(on)

    def _start_anew(self) -> None:
        """Forget what another thread was just finding when the process forked."""
        self._cache = DiscoveryCache()
        self._current, self._checked = None, -TRUSTED
