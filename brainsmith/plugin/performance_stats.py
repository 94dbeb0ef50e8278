"""Count and time what the hub does."""

from __future__ import annotations

import os
import time

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class Stats:
    """Counts and times of one manager.

    Attributes:
        enabled: Whether times are measured.
    """

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled
        self.hits: dict[str, int] = {"memory": 0, "disk": 0, "shared": 0}
        self.misses = 0
        self.last_source = ""
        self.found_ms = 0.0
        self.found_source = ""
        self.check_ms = 0.0
        self.instance_hits = 0
        self.instance_misses = 0

    def clock(self) -> float:
        """Return the time now in seconds; 0 where times are not measured."""
        return time.perf_counter() if self.enabled else 0.0

    def discovered(self, source: str, begin: float) -> None:
        """Note a discovery that began at a time of `clock`.

        Args:
            source: `scan` (everything was read), `update` (what changed was), `disk`, `shared`, or `memory`: a check that
                nothing changed, whose time is kept apart, so that it does not hide what a discovery takes.
            begin: When it began.
        """
        took = (self.clock() - begin) * 1e3
        self.last_source = source
        if source == "memory":
            self.check_ms = took
        else:
            self.found_ms, self.found_source = took, source
        if source in self.hits:
            self.hits[source] += 1
        else:
            self.misses += 1

    def plain(
        self, plugin_count: int, loaded_count: int, adapters: Iterable[dict[str, Any]] = ()
    ) -> dict[str, Any]:
        """Return all figures.

        Args:
            plugin_count: Records known now.
            loaded_count: Plugins imported by now.
            adapters: The summaries of the adapters, each with the time of its last run.
        """
        asked = sum(self.hits.values()) + self.misses
        return {
            "discovery_time_ms": round(self.found_ms, 3),
            "discovery_source": self.found_source,
            "check_time_ms": round(self.check_ms, 3),
            "cache_hit_rate": sum(self.hits.values()) / asked if asked else 0.0,
            "cache_hits": dict(self.hits),
            "cache_misses": self.misses,
            "instance_hits": self.instance_hits,
            "instance_misses": self.instance_misses,
            "memory_usage_mb": memory_mb(),
            "plugin_count": plugin_count,
            "loaded_count": loaded_count,
            "adapters_ms": {summary["name"]: round(summary["milliseconds"], 3) for summary in adapters},
        }


def memory_mb() -> float:
    """Return the resident memory of this process in MB (10^6 bytes)."""
    try:
        with open("/proc/self/statm", "rb") as file:
            pages = int(file.read().split()[1])
        return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
    except OSError:
        import resource  # not on Linux

        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, 1)
