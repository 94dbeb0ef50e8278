"""`brainsmith cache pull`: copy entries from the cache that machines share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.build.result_transfer import pull_results
from brainsmith.cli.cache_push import copy, results_of
from brainsmith.plugin.discovery_transfer import pull_discovery
from brainsmith.settings import load_settings
from brainsmith.store.shared.shared_cache import patient_cache

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.settings import Settings
    from brainsmith.store.shared.shared_cache import SharedCache


def run(options: Options, terminal: Terminal) -> int:
    """Copy the entries of one kind, or of all that are shared."""
    settings = load_settings()
    cache = patient_cache(settings)
    return copy(options, terminal, cache, "pulled", lambda kind: _pull(kind, settings, cache))


def _pull(kind: str, settings: Settings, cache: SharedCache) -> Iterable[str]:
    if kind == "builds":
        return pull_results(*results_of(settings, cache))
    is_there, reason = pull_discovery(settings, cache)
    return [reason] if is_there else []
