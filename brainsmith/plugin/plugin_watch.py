"""A watch of the plugin folders of this process: which plugins changed, and which file broke.

with manager.watch() as watch:
    for change in watch:
        print(change)
"""

from __future__ import annotations

import os
from threading import Event, Thread

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.last_good import STALE
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.store.file_watch import FileWatch
from brainsmith.store.imported_sources import is_installed
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brainsmith.errors import Problem
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.live_discovery import LiveDiscovery


class PluginChange(Struct):
    """What changed in plugin folders at once: a value. Plugins are named `type:framework:Name`.

    Attributes:
        files: The files that were written, made or removed.
        added: Plugins that were not known before.
        changed: Plugins that such a file has, as before.
        removed: Plugins that are gone.
        stale: Plugins whose file is broken now; their last good version is listed.
        problems: What is wrong with files.
    """

    files: tuple[str, ...]
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    def __str__(self) -> str:
        """Return it as lines: each file, what it changed, and what is wrong."""
        kinds = ("added", "changed", "removed", STALE)
        named = [f"{kind} {name}" for kind in kinds for name in getattr(self, kind)]
        return "\n".join(
            [f"{', '.join(self.files)}: {', '.join(named) or 'no plugin'}", *map(str, self.problems)]
        )


class PluginWatch:
    """Yields what changes in plugin folders, or calls a function with it, until `stop` is called."""

    def __init__(
        self, manager: LiveDiscovery, callback: Callable[[PluginChange], None] | None = None
    ) -> None:
        self._manager = manager
        self._callback = callback
        self._stop = Event()
        self._files = FileWatch()
        self._thread: Thread | None = None
        self._known: dict[str, PluginInfo] = {}

    def __enter__(self) -> PluginWatch:
        self._manager.keep_last_good()
        try:
            self._files.notifier()
            self._known = self._records()
            self._follow()
        except BaseException:
            self._manager.forget_last_good()
            raise
        if self._callback is not None:
            self._thread = Thread(target=self._call, args=(self._callback,), daemon=True, name="plugin watch")
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join()
        self._files.close()
        self._manager.forget_last_good()

    def __iter__(self) -> Iterator[PluginChange]:
        while not self._stop.is_set():
            change = self.next()
            if change is not None:
                yield change

    def next(self, seconds: float | None = None) -> PluginChange | None:
        """Wait for the next change, for so many seconds at most; None if there was none, or the watch was stopped."""
        files = self._files.wait(seconds, self._stop)
        if not files:
            return None
        before, self._known = self._known, self._records()
        self._follow()
        return _change(files, before, self._known, self._problems())

    def stop(self) -> None:
        """End the watch, from any thread; what waits for a change gets none."""
        self._stop.set()

    def _call(self, callback: Callable[[PluginChange], None]) -> None:
        for change in self:
            callback(change)

    def _records(self) -> dict[str, PluginInfo]:
        registry, _ = self._manager.all_records()
        return {
            f"{info.type}:{info.qualified}": info
            for info in registry.known()
            if info.framework not in FRAMEWORKS
        }

    def _problems(self) -> list[Problem]:
        return self._manager.all_records()[0].limits.problems

    def _follow(self) -> None:
        """Watch the plugin folders, and of plugins that are in none the files, but for what is installed."""
        settings = self._manager.settings
        own = [os.path.join(settings.project, "plugins")] if settings.project else []
        files = {info.file for info in self._known.values() if info.file and not is_installed(info.file)}
        self._files.follow(files, [*own, *settings.plugin_folders])


def _change(
    files: list[str], before: dict[str, PluginInfo], now: dict[str, PluginInfo], problems: list[Problem]
) -> PluginChange:
    touched = set(files)
    stale = {name for name, info in now.items() if STALE in info.extra}
    whole = now.keys() - stale
    return PluginChange(
        files=tuple(files),
        added=tuple(sorted(whole - before.keys())),
        changed=tuple(sorted(name for name in whole & before.keys() if now[name].file in touched)),
        removed=tuple(sorted(before.keys() - now.keys())),
        stale=tuple(sorted(name for name in stale if now[name].file in touched)),
        problems=tuple(problem for problem in problems if problem.file in touched),
    )
