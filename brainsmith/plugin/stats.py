"""Measure what the hub does: nothing here is estimated."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Stats:
    """Counts and times of one manager.

    Attributes:
        enabled: Whether times are measured.
    """

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled
        self.hits: dict[str, int] = {"memory": 0, "disk": 0}
        self.misses = 0
        self.last_ms = 0.0
        self.last_source = ""
        self.instance_hits = 0
        self.instance_misses = 0
        self.adapters_ms: dict[str, float] = {}

    def clock(self) -> float:
        """Return the time now in seconds; 0 where times are not measured."""
        return time.perf_counter() if self.enabled else 0.0

    def discovered(self, source: str, begin: float) -> None:
        """Note a discovery that began at a time of `clock`, answered from `memory`, `disk` or by `scan`."""
        self.last_ms = (self.clock() - begin) * 1e3
        self.last_source = source
        if source in self.hits:
            self.hits[source] += 1
        else:
            self.misses += 1

    def plain(self, plugin_count: int, loaded_count: int) -> dict[str, Any]:
        """Return all figures.

        Args:
            plugin_count: Records known now.
            loaded_count: Plugins imported by now.
        """
        asked = sum(self.hits.values()) + self.misses
        return {
            "discovery_time_ms": round(self.last_ms, 3),
            "discovery_source": self.last_source,
            "cache_hit_rate": sum(self.hits.values()) / asked if asked else 0.0,
            "cache_hits": dict(self.hits),
            "cache_misses": self.misses,
            "instance_hits": self.instance_hits,
            "instance_misses": self.instance_misses,
            "memory_usage_mb": memory_mb(),
            "plugin_count": plugin_count,
            "loaded_count": loaded_count,
            "adapters_ms": {name: round(value, 3) for name, value in self.adapters_ms.items()},
        }


def memory_mb() -> float:
    """Return the resident memory of this process in MB (10^6 bytes)."""
    try:
        with open("/proc/self/statm", "rb") as file:
            pages = int(file.read().split()[1])
        return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
    except OSError:
        import resource

        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, 1)
