"""`brainsmith cache push`: copy entries to the cache that machines share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.build.cache import BuildCache
from brainsmith.build.keys import plugin_places
from brainsmith.build.portable_parts import PortableParts
from brainsmith.build.result_transfer import push_results
from brainsmith.build.shared_results import SharedResults
from brainsmith.errors import SettingsError
from brainsmith.figures import plural
from brainsmith.plugin.discovery_transfer import push_discovery
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.settings import load_settings
from brainsmith.store.kinds import SHARED
from brainsmith.store.shared.shared_cache import patient_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.settings import Settings
    from brainsmith.store.shared.shared_cache import SharedCache

    Work = Callable[[str], Iterable[str]]


def run(options: Options, terminal: Terminal) -> int:
    """Copy the entries of one kind, or of all that are shared."""
    settings = load_settings()
    cache = patient_cache(settings)
    if cache.read_only:
        source = settings.sources.get("shared_cache_mode", "the settings")
        raise SettingsError(f"nothing can be pushed: shared_cache_mode is read-only (from {source})")
    return copy(options, terminal, cache, "pushed", lambda kind: _push(kind, settings, cache))


def copy(options: Options, terminal: Terminal, cache: SharedCache, verb: str, work: Work) -> int:
    """Copy the kinds that are asked for, and print how many entries were copied, and why others were not.

    Args:
        options: Of the command.
        terminal: Where it prints.
        cache: The shared cache.
        verb: What is done, in the past tense.
        work: Copies a kind, and yields for each entry why it was not copied; empty if it was.

    Raises:
        SharedCacheError: The shared cache cannot be used.
    """
    name = options.text("KIND")
    found = {}
    # Looking for plugins, as builds need it, is itself a discovery: so that is copied first.
    for kind in SHARED[::-1] if name is None else (name,):
        cache.keys(kind)  # says so if it cannot be used
        found[kind] = Counter(work(kind))
        if cache.failure is not None:
            raise cache.failure
    document = {
        "shared_cache": cache.shown,
        "kinds": [
            {
                "kind": kind,
                verb: reasons[""],
                "left": [
                    {"reason": reason, "entries": count}
                    for reason, count in sorted(reasons.items())
                    if reason
                ],
            }
            for kind, reasons in found.items()
        ],
    }
    terminal.give(lambda: document, lambda: _show(found, verb, cache, terminal))
    return 0


def _show(found: dict[str, Counter[str]], verb: str, cache: SharedCache, terminal: Terminal) -> None:
    for kind, reasons in found.items():
        direction = "to" if verb == "pushed" else "from"
        amount = plural(reasons[""], "entry", "entries")
        terminal.write(f"{kind}: {verb} {amount} {direction} {cache.shown}")
        for reason, count in sorted(reasons.items()):
            if reason:
                terminal.write(f"  left {plural(count, 'entry', 'entries')}: {reason}")


def results_of(settings: Settings, cache: SharedCache) -> tuple[BuildCache, SharedResults, tuple[Path, ...]]:
    """Return where results of steps are kept, where they are shared, and where plugins lie."""
    folders = plugin_places(settings, get_plugin_manager().all_records()[0])
    local = BuildCache(Path(settings.cache_dir) / "builds")
    return local, SharedResults(cache, PortableParts(settings, folders)), folders


def _push(kind: str, settings: Settings, cache: SharedCache) -> Iterable[str]:
    if kind == "builds":
        local, shared, _ = results_of(settings, cache)
        return push_results(local, shared)
    return [push_discovery(get_plugin_manager().everything(), settings, cache)]
