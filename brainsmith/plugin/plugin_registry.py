"""The registry: every record, under `type:Name`, with the providers of each name beside each other."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import (
    DuplicatePluginError,
    PluginNotFoundError,
)
from brainsmith.plugin.discovered import Discovered
from brainsmith.plugin.held_plugins import held_plugins
from brainsmith.plugin.info import PLUGIN_TYPES, PluginInfo
from brainsmith.plugin.precedence import (
    duplicate_message,
    framework_identifier,
    listing_order,
    named,
    precedence,
    split_name,
)
from brainsmith.plugin.read_rules import is_of_framework
from brainsmith.plugin.record_tables import RecordTables, exists
from brainsmith.plugin.snapshot import DiscoveryLimits, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

    from brainsmith.plugin.plugin_needs import Need, VersionLimits


class Registry(RecordTables):
    """Holds records and loaded objects: a mapping with the keys `type:Name` and `type:framework:Name`.

    All methods may be called from any thread.

    A record comes from discovery (all those that a snapshot has replace the earlier ones) or from a decorator
    that ran. No lock is held while a plugin is imported.
    """

    def __init__(self) -> None:
        super().__init__()
        self._refresh: Callable[[], None] | None = None
        self._recheck: Callable[[], None] | None = None
        self._groups: dict[str, tuple[str, ...]] = {}
        self.limits = DiscoveryLimits()
        self.in_process: Callable[[], Registry] | None = None
        """What returns the registry that this one is in every process; None for one that is pickled as its records."""

    @classmethod
    def of(cls, records: list[tuple[Any, ...]], groups: dict[str, tuple[str, ...]]) -> Registry:
        """Return a registry of records in their plain form."""
        registry = cls()
        found = [PluginInfo.from_plain(values) for values in records]
        registry.replace_discovered(Snapshot(found, groups, [], [], [], [], (), 0.0))
        return registry

    def on_reading(self, refresh: Callable[[], None], recheck: Callable[[], None]) -> None:
        """Have discovery called before the records are read.

        Args:
            refresh: Before they are listed, and where a name is not found: looks at every file.
            recheck: Before a name is looked up: does so unless that was just done.
        """
        self._refresh = refresh
        self._recheck = recheck

    def replace_discovered(self, snapshot: Snapshot, restriction: str = "") -> None:
        """Take over what a discovery found, in place of what the last one found; and what it did not look at."""
        with self._lock:
            self.generation += 1
            self.redefinitions += 1
            self._discovered = Discovered(snapshot.records)
            found = self._discovered.by_reference
            for key, providers in self._registered.items():
                self._registered[key] = {
                    framework: info
                    for framework, info in providers.items()
                    if (info.type, info.reference) not in found
                }
            self._groups = dict(snapshot.groups)
            self.limits = DiscoveryLimits(snapshot, restriction)

    def with_discovered(self, snapshot: Snapshot) -> Registry:
        """Return another registry: with what a discovery found, and what this one has been given at run time."""
        other = Registry()
        with self._lock:
            other._registered = {key: dict(providers) for key, providers in self._registered.items()}
            other._objects = self._objects
        other.replace_discovered(snapshot)
        return other

    def part(self, named: Collection[tuple[str, str]], restriction: str) -> Registry:
        """Return another registry, of some records of this one and with its objects.

        Args:
            named: Type and reference of each record.
            restriction: Says what the others lack, for who misses a plugin.
        """
        other = Registry()
        other._objects = self._objects
        found = [info for info in self.known() if (info.type, info.reference) in named]
        other.replace_discovered(Snapshot(found, {}, [], [], [], [], (), 0.0), restriction)
        return other

    def reset(self) -> None:
        """Forget every record and object."""
        with self._lock:
            self.generation += 1
            self.redefinitions += 1
            self._discovered, self._registered = Discovered(), {}
            self._objects, self._groups, self.limits = {}, {}, DiscoveryLimits()

    def register(self, info: PluginInfo, obj: Any = None, *, override: bool = False) -> None:
        """Enter a plugin that exists as an object: what a decorator does.

        Args:
            info: Its record.
            obj: The class, function or value; loaded from `info.reference` when first used if it is None.
            override: Take the place of another object of the same name in the same framework, whichever of them is
                imported first.

        Raises:
            DuplicatePluginError: Another object has this name in this framework. Nothing is changed.
        """
        with self._lock:
            rival = self._rival(info)
            replaced = rival is not None and not override and bool(rival.extra.get("override"))
            if rival is not None and not override and not replaced:
                raise DuplicatePluginError(duplicate_message(rival, info))
            self.generation += 1
            if (info.type, info.reference) not in self._discovered.by_reference and not replaced:
                self._put(("record", info.key, info.framework), info)
            if obj is not None:
                self._put(("object", info.type, info.reference), obj)

    def unregister(self, plugin_type: str, name: str) -> None:
        """Remove what was registered at run time under a name; discovered records stay.

        Raises:
            PluginNotFoundError: Nothing was.
        """
        framework, name = split_name(name)
        with self._lock:
            providers = self._registered.get(f"{plugin_type}:{name}", {})
            for owner in [o for o in providers if framework in (None, o)]:
                self.generation += 1
                info = providers[owner]
                self._put(("record", info.key, owner), None)
                self._put(("object", info.type, info.reference), None)
                return
        raise PluginNotFoundError(f"no {plugin_type} named {name!r} was registered at run time")

    def resolve(self, plugin_type: str, name: str, limits: VersionLimits | None = None) -> PluginInfo:
        """Return the record of `Name` or `framework:Name`.

        Args:
            plugin_type: One of `PLUGIN_TYPES`.
            name: The name.
            limits: What is asked of versions; None for what is asked in this context (`asked`), if anything is.

        Raises:
            PluginNotFoundError: Nothing has this name; close ones are suggested.
            AmbiguousPluginError: A bare name that only frameworks have, and several do.
            DuplicatePluginError: Two different objects of one framework claim it.
            PluginUnavailableError: Its record says that it cannot be used here; or no version meets what is asked.
        """
        # While several changes are made as one, whoever makes them must not wait for a discovery, which waits for them.
        if self._recheck is not None and not self._lock._is_owned():  # type: ignore[attr-defined]
            self._recheck()
        info = self.resolve_alone(plugin_type, name, limits)
        if info.requires_plugins:
            self._refuse_unmet(info, limits)
        return info

    def required_by(self, info: PluginInfo, limits: VersionLimits | None = None) -> list[PluginInfo]:
        """Return the plugins that a plugin requires, each once, after all that it requires itself.

        Args:
            info: Its record.
            limits: What is asked of versions. What the plugins ask of each other's then chooses, too; without limits, the
                plugins that names mean must meet it.

        Raises:
            PluginUnavailableError: One is missing, or of another version, or plugins require each other.
        """
        from brainsmith.plugin.plugin_needs import required_by  # hardly any plugin requires others

        def find(need: Need) -> PluginInfo:
            return self.resolve_alone(need.type, need.name, None if limits is None else limits.and_need(need))

        return required_by(info, find)

    def resolve_alone(self, plugin_type: str, name: str, limits: VersionLimits | None = None) -> PluginInfo:
        """Return the record of a name as `resolve` does, whatever the plugin requires of others."""
        info = self._find(plugin_type, name, limits)
        if info is None and self._refresh is not None:
            self._refresh()
            info = self._find(plugin_type, name, limits)
        if info is None:
            from brainsmith.plugin.not_found import not_found_message  # only where a name is wrong

            raise PluginNotFoundError(not_found_message(self, plugin_type, name))
        if "stale" in info.extra:
            from brainsmith.plugin.last_good import refuse_stale  # only where files are watched

            refuse_stale(info)
        self.limits.refuse_unusable(info)
        if not is_of_framework(info) and not self.is_loaded(info):
            from brainsmith.plugin.trust import refuse_untrusted  # our own plugins are trusted

            refuse_untrusted(info)
        return info

    def _refuse_unmet(self, info: PluginInfo, limits: VersionLimits | None) -> None:
        from brainsmith.plugin.requirements import LATER  # hardly any plugin requires others

        if info.type not in LATER:
            self.required_by(info, limits)

    def get(self, plugin_type: str, name: str) -> Any:
        """Return the real object of `Name` or `framework:Name`, imported if it was not yet.

        Raises:
            PluginNotFoundError, AmbiguousPluginError, DuplicatePluginError: As `resolve`.
            PluginLoadError: Its import failed.
        """
        return self.load(self.resolve(plugin_type, name))

    def load(self, info: PluginInfo) -> Any:
        """Return the real object of a record, imported if it was not yet; inside of a build, of the version it began with.

        Raises:
            PluginLoadError: Its import failed.
        """
        held = held_plugins()
        return self._load(info) if held is None else held.load(info, self._load)

    def _load(self, info: PluginInfo) -> Any:
        key = (info.type, info.reference)
        try:
            return self._objects[key]
        except KeyError:
            pass
        with self._lock:  # several changes may just be made as one, and this object be among what is put back
            if key in self._objects:
                return self._objects[key]
        from brainsmith.plugin.plugin_loading import import_object  # a listing loads nothing

        obj = import_object(info)
        with self._lock:
            return self._objects.setdefault(key, obj)

    def loaded_objects(self) -> dict[tuple[str, str], Any]:
        """Return the objects that are loaded, by type and reference."""
        with self._lock:
            return dict(self._objects)

    def loaded_modules(self) -> set[str]:
        """Return the modules of which objects are loaded."""
        with self._lock:
            return {reference.partition(":")[0] for _, reference in self._objects}

    def forget(self, modules: set[str]) -> None:
        """Forget the objects of some modules: they are loaded anew when they are asked for."""
        from brainsmith.plugin.node_claims import leave_operator  # only where what was loaded changed

        with self._lock:
            for plugin_type, reference in list(self._objects):
                if reference.partition(":")[0] in modules:
                    obj = self._objects.pop((plugin_type, reference))
                    self.generation += 1
                    self.redefinitions += 1
                    info = self.registered(plugin_type, reference)
                    if info is not None:
                        leave_operator(info, obj)

    def is_loaded(self, info: PluginInfo) -> bool:
        """Tell whether the object of a record has been imported."""
        return (info.type, info.reference) in self._objects

    def loaded_count(self) -> int:
        """Return how many plugins have been imported, whether a blueprint names them or not."""
        return len(self._objects)

    def records(
        self, type: str | None = None, framework: str | None = None, stage: str | None = None
    ) -> tuple[PluginInfo, ...]:
        """Return all records, or those of a type, framework or stage, sorted by type, framework and name."""
        if self._refresh is not None:
            self._refresh()
        wanted = framework and framework_identifier(framework)
        return tuple(
            info
            for info in sorted(self.known(), key=listing_order)
            if (type is None or info.type == type)
            and (framework is None or framework_identifier(info.framework) == wanted)
            and (stage is None or info.stage == stage)
        )

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The declared groups: the members' names, in order, by the group's name."""
        if self._refresh is not None:
            self._refresh()
        return dict(self._groups)

    def group(self, name: str) -> tuple[str, ...] | None:
        """Return the members of a declared group, or the transforms that state a stage of that name; else None."""
        declared = self.groups.get(name)
        if declared is not None:
            return declared
        staged = sorted(self.records("transform", stage=name), key=precedence)
        return tuple(info.qualified for info in staged) or None

    def __getitem__(self, key: str) -> PluginInfo:
        plugin_type, _, name = key.partition(":")
        return self.resolve(plugin_type, name)

    def __contains__(self, key: object) -> bool:
        return exists(lambda: self[str(key)])

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key())

    def keys(self) -> list[str]:
        """Return a key for each plugin: `type:Name`, or `type:framework:Name` where the bare name means another one."""
        return list(self._by_key())

    def items(self) -> list[tuple[str, PluginInfo]]:
        """Return pairs (key, record): `registry[key]` is the record."""
        return list(self._by_key().items())

    def values(self) -> list[PluginInfo]:
        """Return the records, in the order of the keys."""
        return list(self._by_key().values())

    def __len__(self) -> int:
        return len(self._by_key())

    def _by_key(self) -> dict[str, PluginInfo]:
        """Return the records by key; of two that clash, so that neither can be looked up, there is one."""
        return {f"{info.type}:{name}": info for name, info in named(self.records())}

    def __reduce__(self) -> tuple[Any, ...]:
        if self.in_process is not None:
            return self.in_process, ()
        return Registry.of, ([info.to_plain() for info in self.values()], self.groups)

    def __repr__(self) -> str:
        from brainsmith.figures import plural  # who looks at it pays for it, not each discovery

        kinds = [info.type for info in self.known()]
        found = ", ".join(plural(kinds.count(kind), kind) for kind in PLUGIN_TYPES if kind in kinds)
        return f"<registry: {found or 'no plugin found yet'}>"


REGISTRY = Registry()
"""The one registry of this process. Use `brainsmith.plugin.core.get_registry`, which has discovery behind it."""
