"""The manager: discovers plugins, keeps the registry up to date, makes instances, and says how it is.

manager = get_plugin_manager()
manager.discover_plugins(modes=["full"])
manager.get_instance("transform", "ExpandNorms")
"""

from __future__ import annotations

import time

from brainsmith.errors import BrainsmithError, SettingsError
from brainsmith.forks import lock_of
from brainsmith.plugin.discovery_cache import DiscoveryCache
from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.plugin.records import RecordList
from brainsmith.plugin.registry import REGISTRY, Registry
from brainsmith.plugin.request import Request
from brainsmith.plugin.stats import Stats
from brainsmith.settings import Settings, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from brainsmith.errors import Problem
    from brainsmith.plugin.discovery_cache import Found
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.making import Instances
    from brainsmith.plugin.snapshot import Snapshot


TRUSTED = 0.05
"""Seconds for which an attribute look-up relies on the last look at all files."""


class PluginManager:
    """Discovery and everything that is known of it. All methods may be called from any thread.

    Attributes:
        stats: What was measured.
    """

    def __init__(self, registry: Registry, settings: Settings | None = None) -> None:
        self._lock = lock_of(self, PluginManager._start_anew)
        self._registry = registry
        self._given = settings
        self._debug_setting = False
        self._cache = DiscoveryCache()
        self._instances: Instances | None = None
        self._request: Request | None = None
        self._current: Snapshot | None = None
        self._blueprint: tuple[str, frozenset[tuple[str, str]]] | None = None
        self._before_reset: list[Callable[[], None]] = []
        self.stats = Stats()
        self._checked = -TRUSTED
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
            self._replace(view, request.restriction)
        self._checked = checked
        self.stats.discovered(source, begin)
        return RecordList(view.records)

    def _replace(self, view: Snapshot, restriction: str = "") -> None:
        """Let the registry hold what a discovery found."""
        self._registry.replace_discovered(view, restriction)
        self._renew()
        self._current = view

    def _beside(self, snapshot: Snapshot) -> Registry:
        """Return a registry of its own for what a discovery found."""
        other = self._registry.with_discovered(snapshot)
        self._renew()
        return other

    def _renew(self) -> None:
        """Something may have changed, and what is loaded be of what was before."""
        if self._registry.loaded_count():
            from brainsmith.plugin.renewal import renew  # reads sources: for who has loaded something

            renew()

    def _snapshot(self, request: Request, settings: Settings) -> tuple[Snapshot, str]:
        def read(kept: Found) -> Snapshot:
            from brainsmith.plugin.discovery import discover_for

            return discover_for(request, settings, kept)

        return self._cache.provide(request.key, settings, read)

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
            settings = self.settings
            snapshot = self._whole(settings)
            current = self._current
            asked = self._asked(settings)
            whole = asked.mode == "full" and asked.frameworks is None and asked.types is None
            # In blueprint mode the registry shows what the loaded blueprint names, and refuses while there is none.
            if asked.mode != "blueprint" and (current is None or current is snapshot or whole):
                if current is not snapshot:
                    self._replace(snapshot)
                return self._registry, snapshot.identity
        return self._beside(snapshot), snapshot.identity

    def registry_with_finn(self) -> Registry:
        """Return a registry of everything, FINN's too where the setting `frameworks` leaves that out.

        The setting says whose plugins are found by their names. Steps that make hardware layers are made of FINN's.
        """
        settings = self.settings
        if settings.frameworks is None or "finn" in settings.frameworks:
            return self.all_records()[0]
        from copy import copy

        widened = copy(settings)
        widened.frameworks = (*settings.frameworks, "finn")
        with self._lock:
            snapshot, _ = self._snapshot(Request("full"), widened)
        return self._beside(snapshot)

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

    def get_instance(self, plugin_type: str, name: str, *args: Any, **kwargs: Any) -> Any:
        """Return an instance of a plugin; the same one for the same arguments while somebody uses it.

        A step is a function and is returned itself. Arguments that cannot be compared as keys, such as arrays,
        make a fresh instance each time. A kernel and a backend are made for a node: `get_instance("kernel", name, node)`.

        Raises:
            PluginNotFoundError, AmbiguousPluginError, DuplicatePluginError: The name.
            PluginLoadError: The import failed.
            PluginArgumentsError: Its constructor takes other arguments: that of a kernel takes a node.
        """
        info = self.registry.resolve(plugin_type, name)
        plugin = self._registry.load(info)
        if not isinstance(plugin, type):
            return plugin
        instance, hit = self._made().get(info, plugin, args, kwargs)
        if hit:
            self.stats.instance_hits += 1
        else:
            self.stats.instance_misses += 1
        return instance

    def _made(self) -> Instances:
        with self._lock:
            if self._instances is None:
                from brainsmith.plugin.making import Instances

                self._instances = Instances()
            return self._instances

    def get_performance_stats(self) -> dict[str, Any]:
        """Return what was measured so far.

        `discovery_time_ms`, `cache_hit_rate`, `memory_usage_mb`, `plugin_count` and more; the reference lists them.

        It looks at no file, so it changes nothing of what it reports; only where nothing was discovered yet, that is
        done first. In mode `blueprint` there is nothing to discover before a blueprint is loaded.
        """
        with self._lock:
            waits = self._asked(self.settings).mode == "blueprint" and self._blueprint is None
            if self._current is None and not waits:
                self._refresh()
            adapters = self._current.adapters if self._current else ()
            return self.stats.plain(len(self._registry.known()), self._registry.loaded_count(), adapters)

    def health_check(self) -> dict[str, Any]:
        """Return the state of adapters, caches, tools and package pairs; see the reference of `brainsmith health`."""
        from brainsmith.plugin.health import check

        return check(self)

    def set_debug_mode(self, on: bool) -> None:
        """Log every step of discovery and loading to stderr, or stop doing so; the logger's level is then as before."""
        from brainsmith.plugin.log import set_debug

        set_debug(on)

    def clear_cache(self) -> None:
        """Forget every cached discovery, blueprint and instance, in memory and on disk. Changes no result."""
        with self._lock:
            self._cache.clear(self.settings)
            if self._instances is not None:
                self._instances.clear()
            self._current = None

    def before_reset(self, function: Callable[[], None]) -> None:
        """Have a function called before everything is forgotten: it removes the bundles, or closes the targets."""
        self._before_reset.append(function)

    def reset(self) -> None:
        """Forget everything that this process knows; what lies in scanned places is found again.

        Raises:
            BundleError: The clean-up of a bundle failed. Everything is forgotten all the same.
            TargetError: The clean-up of a target did; so too. Of several errors the first is raised, with notes of the
                others.
        """
        errors = []
        try:
            for function in reversed(self._before_reset):
                try:
                    function()
                except BrainsmithError as error:
                    errors.append(error)
        finally:
            self._forget()
        if errors:
            for other in errors[1:]:
                errors[0].add_note(f"and then: {other}")
            raise errors[0]

    def __repr__(self) -> str:
        """Say what was found by now; nothing is discovered for it."""
        asked = self._request.mode if self._request else "as the settings say"
        return f"<plugin manager: mode {asked}, {self._registry!r}, {self._registry.loaded_count()} loaded>"

    def _start_anew(self) -> None:
        """Forget what another thread was just finding when the process forked."""
        self._cache = DiscoveryCache()
        self._current, self._checked = None, -TRUSTED

    def _forget(self) -> None:
        with self._lock:
            self._cache.forget()
            if self._instances is not None:
                self._instances.clear()
            self._registry.reset()
            self._current = self._request = self._blueprint = None
            self._checked = -TRUSTED
            self.stats = Stats(self.stats.enabled)


_MANAGERS: list[PluginManager] = []
_MANAGERS_LOCK = lock_of()


def get_plugin_manager() -> PluginManager:
    """Return the one manager of this process."""
    if not _MANAGERS:
        with _MANAGERS_LOCK:
            if not _MANAGERS:
                REGISTRY.in_process = get_registry
                _MANAGERS.append(PluginManager(REGISTRY))
    return _MANAGERS[0]


def get_registry() -> Registry:
    """Return the one registry, kept up to date by discovery: what is asked of it is found if it exists."""
    return get_plugin_manager().registry


def reset_plugin_system() -> None:
    """Forget all plugins, caches in memory and instances, as between two tests.

    Discovery finds again what lies in scanned places, imported before or not. Plugins that were made at run time
    elsewhere stay gone.
    """
    get_plugin_manager().reset()
