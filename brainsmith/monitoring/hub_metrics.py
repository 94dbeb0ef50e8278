"""The figures of the plugin hub and of what is kept on disk: those of `brainsmith stats`, `health` and `cache list`."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

from brainsmith.errors import BrainsmithError
from brainsmith.forks import lock_of
from brainsmith.monitoring.families import counter, gauge
from brainsmith.store.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prometheus_client import Metric

    from brainsmith.monitoring.timings import Labels

HEALTH_SECONDS = 15.0
"""How long one look at the health is shown: it starts the tools, and lists the cache."""

STATUSES = ("healthy", "degraded", "broken")


class Hub(Protocol):
    """What the figures are of: the plugin manager."""

    def get_performance_stats(self) -> dict[str, Any]:
        """Return what was measured so far."""

    def health_check(self) -> dict[str, Any]:
        """Return what works, and what does not."""

    def everything(self) -> Any:
        """Return what a full discovery finds, with its `records`."""


class HubMetrics:
    """The hub's figures, as families of metrics.

    Args:
        hub: It keeps them.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._lock = lock_of(waits=False)
        self._looked = float("-inf")
        self._health: dict[str, Any] = {}
        self._plugins: Mapping[Labels, int] = {}

    def collect(self) -> Iterator[Metric]:
        """Yield them. Where a setting is wrong, nothing but the health can be known, which then is `broken`."""
        try:
            stats = self._hub.get_performance_stats()
        except BrainsmithError:
            stats = None
        health, plugins = self._now()
        yield gauge("brainsmith_info", "The version of BrainSmith.", ("version",), {(health["version"],): 1})
        yield from _of_health(health)
        yield from _of_caches(health["caches"])
        if stats is not None:
            yield gauge("brainsmith_plugins", "How many plugins there are.", ("type", "framework"), plugins)
            yield from _of_stats(stats)

    def _now(self) -> tuple[dict[str, Any], Mapping[Labels, int]]:
        """Return the health, and the numbers of plugins, as they were a moment ago."""
        with self._lock:
            if time.monotonic() - self._looked >= HEALTH_SECONDS:
                self._health = self._hub.health_check()
                self._plugins = self._counted()
                self._looked = time.monotonic()
            return self._health, self._plugins

    def _counted(self) -> Mapping[Labels, int]:
        try:
            records = self._hub.everything().records
        except BrainsmithError:
            return {}
        return dict(sorted(Counter((info.type, info.framework) for info in records).items()))


def _of_health(health: Mapping[str, Any]) -> Iterator[Metric]:
    yield gauge(
        "brainsmith_health_status",
        "1 for the status that brainsmith health gives, 0 for the others.",
        ("status",),
        {(status,): float(health["status"] == status) for status in STATUSES},
    )
    yield _number(
        "brainsmith_problems", "How many problems brainsmith health lists.", len(health["problems"])
    )
    yield gauge(
        "brainsmith_adapter_failed",
        "1 if the plugins of a framework cannot be found or loaded.",
        ("adapter",),
        {(name,): float(item["status"] == "failed") for name, item in sorted(health["adapters"].items())},
    )
    yield gauge(
        "brainsmith_tool_usable",
        "1 if an optional tool is there, starts and is new enough.",
        ("tool",),
        {(name,): float(tool["status"] == "found") for name, tool in sorted(health["tools"].items())},
    )


def _of_caches(caches: Mapping[str, Any]) -> Iterator[Metric]:
    kinds = {kind.name: caches["kinds"].get(kind.name, {"entries": 0, "bytes": 0}) for kind in KINDS}
    entries: dict[Labels, float] = {(name,): item["entries"] for name, item in kinds.items()}
    sizes: dict[Labels, float] = {(name,): item["bytes"] for name, item in kinds.items()}
    limits: dict[Labels, float] = {(kind.name,): kind.limit for kind in KINDS}
    yield _number(
        "brainsmith_cache_writable", "1 if the cache folder can be written.", float(caches["writable"])
    )
    yield gauge("brainsmith_cache_entries", "How many entries are kept on disk.", ("kind",), entries)
    yield gauge("brainsmith_cache_size_bytes", "How large they are.", ("kind",), sizes)
    yield gauge("brainsmith_cache_limit_bytes", "How large they may be.", ("kind",), limits)


def _of_stats(stats: Mapping[str, Any]) -> Iterator[Metric]:
    yield _number("brainsmith_plugins_loaded", "How many plugins were imported.", stats["loaded_count"])
    source = stats["discovery_source"]
    yield gauge(
        "brainsmith_discovery_duration_seconds",
        "How long the last discovery took, by where it was found: scan, update or disk.",
        ("source",),
        {(source,): stats["discovery_time_ms"] / 1e3} if source else {},
    )
    yield _number(
        "brainsmith_discovery_check_duration_seconds",
        "How long the last check took that nothing changed.",
        stats["check_time_ms"] / 1e3,
    )
    yield gauge(
        "brainsmith_adapter_duration_seconds",
        "How long an adapter took when it ran last.",
        ("adapter",),
        {(name,): value / 1e3 for name, value in sorted(stats["adapters_ms"].items())},
    )
    yield counter(
        "brainsmith_discovery_cache_hits",
        "Discoveries that a cache answered; those that these figures cause are among them.",
        ("cache",),
        {(name,): value for name, value in sorted(stats["cache_hits"].items())},
    )
    yield counter(
        "brainsmith_discovery_cache_misses",
        "Discoveries that read sources.",
        (),
        {(): stats["cache_misses"]},
    )
    yield counter(
        "brainsmith_instance_cache_hits",
        "Instances of plugins that existed already.",
        (),
        {(): stats["instance_hits"]},
    )
    yield counter(
        "brainsmith_instance_cache_misses",
        "Instances of plugins that were made.",
        (),
        {(): stats["instance_misses"]},
    )


def _number(name: str, about: str, value: float) -> Metric:
    return gauge(name, about, (), {(): value})
