"""The manager: discovers plugins, keeps the registry up to date, makes instances, and says how it is.

manager = get_plugin_manager()
manager.discover_plugins(modes=["full"])
manager.get_instance("transform", "ExpandNorms")
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import BrainsmithError
from brainsmith.forks import lock_of
from brainsmith.plugin.live_discovery import TRUSTED, LiveDiscovery
from brainsmith.plugin.performance_stats import Stats
from brainsmith.plugin.plugin_registry import REGISTRY, Registry

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from brainsmith.monitoring.metrics_server import MetricsServer
    from brainsmith.plugin.instance_cache import InstanceCache
    from brainsmith.plugin.plugin_watch import PluginChange, PluginWatch
    from brainsmith.settings import Settings


METRICS_PORT = 9464
"""Where figures are served by default; exporters of OpenTelemetry's listen there, too."""


class PluginManager(LiveDiscovery):
    """Discovery and everything that is known of it. All methods may be called from any thread."""

    def __init__(self, registry: Registry, settings: Settings | None = None) -> None:
        super().__init__(registry, settings)
        self._instances: InstanceCache | None = None
        self._before_reset: list[Callable[[], None]] = []

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
        from brainsmith.plugin.making import instance_of  # only for who has the hub make them

        instance, hit = instance_of(self._made(), info, plugin, args, kwargs)
        if hit:
            self.stats.instance_hits += 1
        else:
            self.stats.instance_misses += 1
        return instance

    def _made(self) -> InstanceCache:
        with self._lock:
            if self._instances is None:
                from brainsmith.plugin.instance_cache import InstanceCache  # so too

                self._instances = InstanceCache()
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
        from brainsmith.plugin.health_check import check  # asks all tools and packages

        return check(self)

    def serve_metrics(self, port: int = METRICS_PORT, host: str = "127.0.0.1") -> MetricsServer:
        """Serve the figures of this process at `/metrics`, in Prometheus' form, until what is returned is closed.

        Args:
            port: Where; 0 for any that is free.
            host: The address at which it listens. By default only programs of this machine reach it; there is no token.

        Raises:
            MetricsError: prometheus-client is not installed, or the server cannot listen there.
        """
        from brainsmith.monitoring.needed import require_prometheus  # only where figures are served

        require_prometheus()
        from brainsmith.monitoring.metrics_server import serve_hub  # it imports prometheus-client

        return serve_hub(self, host, port)

    def watch(self, callback: Callable[[PluginChange], None] | None = None) -> PluginWatch:
        """Return a watch of the plugin folders, for `with`: saved plugins are taken over at once.

        Meanwhile a file that breaks keeps its plugins in listings, with what is wrong as `stale`; to use one raises
        StalePluginError.

        Args:
            callback: Called with each change, in a thread of the watch. Without it, the watch yields the changes:
                `with manager.watch() as watch: for change in watch: ...`

        Raises:
            WatchError: The package watchfiles is not installed.
        """
        from brainsmith.plugin.plugin_watch import PluginWatch  # only where files are watched

        return PluginWatch(self, callback)

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
    elsewhere must be registered again.
    """
    get_plugin_manager().reset()
