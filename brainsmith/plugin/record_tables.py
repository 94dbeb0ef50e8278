"""The records of a registry by name and by object, as of the last discovery, and the objects that are loaded."""

from __future__ import annotations

from _contextvars import ContextVar
from _thread import _local

from brainsmith import TYPE_CHECKING
from brainsmith.errors import (
    AmbiguousPluginError,
    DuplicatePluginError,
    PluginNotFoundError,
    PluginUnavailableError,
)
from brainsmith.forks import lock_of
from brainsmith.plugin.discovered import Discovered
from brainsmith.plugin.precedence import (
    chosen,
    framework_identifier,
    ranked_providers,
    refuse_clash,
    split_name,
)

if TYPE_CHECKING:
    from _thread import RLock
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.journal import Journal
    from brainsmith.plugin.plugin_needs import VersionLimits


class RecordTables:
    """What a registry knows: the records of the last discovery, and the records and objects of this process.

    What is registered at run time is noted in the journal that its thread has open, so that it can be undone.
    """

    def __init__(self) -> None:
        self._lock = lock_of(self, RecordTables._start_anew)
        self._discovered = Discovered()
        self._registered: dict[str, dict[str, PluginInfo]] = {}
        self._objects: dict[tuple[str, str], Any] = {}
        self._journals: Any = _local()
        self.generation = 0
        """Grows with every change; what was resolved in an earlier generation is resolved again."""
        self.redefinitions = 0
        """Grows with each change after which a name that was known may mean something else, or nothing."""

    def _start_anew(self) -> None:
        """Resolve all anew: a thread that was just changing something did not get to the end."""
        self.generation += 1
        self.redefinitions += 1

    def _at_run_time(self) -> list[PluginInfo]:
        with self._lock:
            return [info for providers in self._registered.values() for info in providers.values()]

    def scanned(self, plugin_type: str, reference: str) -> PluginInfo | None:
        """Return the discovered record of an object, if there is one."""
        return self._discovered.by_reference.get((plugin_type, reference))

    def registered(self, plugin_type: str, reference: str) -> PluginInfo | None:
        """Return the record of an object whose decorator ran, or that discovery found; None if it has none."""
        known = self._at_run_time()
        found = (info for info in known if (info.type, info.reference) == (plugin_type, reference))
        return next(found, None) or self.scanned(plugin_type, reference)

    def providers(self, plugin_type: str, name: str) -> list[PluginInfo]:
        """Return the records of a bare name, one for each framework that has it; the first has precedence.

        Raises:
            DuplicatePluginError: Two different objects of one framework claim the name.
        """
        found = self._all_providers(plugin_type, name)
        refuse_clash(found)
        return found

    def _all_providers(self, plugin_type: str, name: str) -> list[PluginInfo]:
        key = f"{plugin_type}:{name}"
        with self._lock:
            registered = dict(self._registered.get(key, {}))
            found = list(registered.values())
            discovered = self._discovered.by_key.get(key, ())
            found.extend(info for info in discovered if info.framework not in registered)
        return ranked_providers(found)

    def knows(self, plugin_type: str, name: str) -> bool:
        """Tell whether any framework has a bare name, as far as the last discovery knows."""
        return bool(self._all_providers(plugin_type, name))

    def framework_names(self, plugin_type: str) -> set[str]:
        """Return the frameworks that have plugins of a type, as far as the last discovery knows."""
        return {info.framework for info in self.known() if info.type == plugin_type}

    def _find(self, plugin_type: str, name: str, limits: VersionLimits | None = None) -> PluginInfo | None:
        framework, bare = split_name(name)
        found = self._all_providers(plugin_type, bare)
        if framework is not None:
            wanted = framework_identifier(framework)
            found = [info for info in found if framework_identifier(info.framework) == wanted]
        if not found:
            return None
        asked = _ASKED.get() if limits is None else limits
        return chosen(found) if asked is None else asked.chosen(found)

    @staticmethod
    def asked(limits: VersionLimits) -> AbstractContextManager[None]:
        """Let names mean, inside a `with`, what a blueprint and the plugins that it chose ask of versions."""
        return _Limited(limits)

    def known(self) -> list[PluginInfo]:
        """Return all records as of the last discovery, without looking whether anything changed since."""
        with self._lock:
            registered = self._at_run_time()
            found = list(self._discovered)
        taken = {(info.key, info.framework) for info in registered}
        return registered + [i for i in found if not taken or (i.key, i.framework) not in taken]

    def has_run_time_plugins(self) -> bool:
        """Tell whether a plugin is registered that discovery did not find: what is kept on disk knows none."""
        found = self._discovered.by_reference
        return any((info.type, info.reference) not in found for info in self._at_run_time())

    def recording(self, journal: Journal) -> AbstractContextManager[Journal]:
        """Note in a journal what this thread registers and unregisters, inside a `with`; `undo` takes it back."""
        from brainsmith.plugin.journal import recording  # only bundles are undone

        return recording(self._journals, journal)

    def undo(self, journal: Journal) -> Journal:
        """Put back what was there before a journal's changes; what others have changed since is left alone.

        Returns:
            What undoes this.
        """
        from brainsmith.plugin.journal import Journal  # only bundles are undone

        inverse = Journal()
        with self._lock, self.recording(inverse):
            self.generation += 1
            for place, (before, after) in journal.changes.items():
                if self._at(place) is after:
                    self._put(place, before)
            journal.changes.clear()
        return inverse

    def held(self) -> RLock:
        """Return the lock under which several changes are one to all who look names up."""
        return self._lock

    def _at(self, place: tuple[str, str, str]) -> Any:
        kind, key, name = place
        return self._registered.get(key, {}).get(name) if kind == "record" else self._objects.get((key, name))

    def _put(self, place: tuple[str, str, str], value: Any) -> None:
        """Let a value, or nothing, be in a place, and note it."""
        journal = getattr(self._journals, "journal", None)
        if journal is not None:
            journal.note(place, self._at(place), value)
        if self._redefines(place, value):
            self.redefinitions += 1
        kind, key, name = place
        table: dict[Any, Any] = self._registered.setdefault(key, {}) if kind == "record" else self._objects
        at = name if kind == "record" else (key, name)
        if value is None:
            table.pop(at, None)
        else:
            table[at] = value
        if kind == "record" and not table:
            del self._registered[key]

    def _redefines(self, place: tuple[str, str, str], value: Any) -> bool:
        """Tell whether a name that is known would mean something else with a value in a place."""
        before = self._at(place)
        if before is not None or value is None or place[0] != "record":
            return before is not None and before is not value
        known = (*self._registered.get(place[1], {}).values(), *self._discovered.by_key.get(place[1], ()))
        return any(info.reference != value.reference for info in known)

    def _rival(self, info: PluginInfo) -> PluginInfo | None:
        here = self._registered.get(info.key, {}).get(info.framework)
        known = [here] if here else self._discovered.by_key.get(info.key, ())
        others = (one for one in known if one.framework == info.framework and one.reference != info.reference)
        return next(others, None)


_ASKED: ContextVar[VersionLimits | None] = ContextVar("asked", default=None)
"""What is asked of versions where a build runs."""


class _Limited:
    """Holds for what runs inside a `with`."""

    def __init__(self, limits: VersionLimits) -> None:
        self._limits = limits

    def __enter__(self) -> None:
        self._token = _ASKED.set(self._limits)

    def __exit__(self, *error: object) -> None:
        _ASKED.reset(self._token)


def exists(look_up: Callable[[], object]) -> bool:
    """Tell whether anything has the name that is looked up, though it may be ambiguous, or cannot be used here."""
    try:
        look_up()
    except PluginNotFoundError:
        return False
    except (AmbiguousPluginError, DuplicatePluginError, PluginUnavailableError):
        return True
    return True
