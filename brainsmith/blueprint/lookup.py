"""From a name in a blueprint to records: exact, then whatever the case, then a group, then an error."""

from __future__ import annotations

from collections.abc import Iterator

from brainsmith.blueprint.names import parse_name
from brainsmith.blueprint.schema import PHASES, PluginName, Position
from brainsmith.close_names import did_you_mean
from brainsmith.errors import (
    AmbiguousPluginError,
    DuplicatePluginError,
    PluginDefinitionError,
    PluginNotFoundError,
    PluginUnavailableError,
    Problem,
)
from brainsmith.plugin.finn_install import INSTALL_FINN
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.not_found import perhaps_because, registered_line
from brainsmith.plugin.plugin_needs import VersionLimits
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.precedence import ADAPTED, framework_identifier
from brainsmith.plugin.requirements import lacks_finn_alone


class Lookup:
    """Looks names up in one registry, and collects what is wrong or skipped.

    Attributes:
        problems: What is wrong.
        skipped: What the build does without.
        limits: What is asked of the versions of plugins.
        required: The plugins that those that were found require, each after all that it requires itself.
        needing_finn: The plugins that cannot be used for no other reason than that FINN is not installed.
    """

    def __init__(self, registry: Registry, limits: VersionLimits | None = None) -> None:
        self.registry = registry
        self.limits = VersionLimits() if limits is None else limits
        self.required: dict[PluginInfo, None] = {}
        self.problems: list[Problem] = []
        self.skipped: list[Problem] = []
        self.needing_finn: list[PluginInfo] = []
        self._records = registry.records()
        self._groups = registry.groups
        self._by_lower: dict[tuple[str, str], list[PluginInfo]] = {}
        for record in self._records:
            self._by_lower.setdefault((record.type, record.name.lower()), []).append(record)

    def report(self, name: PluginName, text: str) -> None:
        """Collect a problem at the place of a name."""
        self.problems.append(name.position.problem(text))

    def note(self, place: Position, text: str) -> None:
        """Collect something that the build does without; it is no error."""
        self.skipped.append(place.problem(text))

    def refuse(self, name: PluginName, kind: str, reason: str) -> None:
        """Collect why an entry cannot be used: a problem, unless it is optional and so left out."""
        if name.optional:
            self.skip(name, kind, reason)
        else:
            self.report(name, reason)

    def skip(self, name: PluginName, kind: str, reason: str) -> None:
        """Note that an optional entry is left out."""
        first = reason.splitlines()[0]
        self.note(name.position, f"optional {kind} {name.qualified!r} is left out: {first}")

    def find(self, kind: str, name: PluginName) -> list[tuple[PluginInfo, str]]:
        """Give the records that a name stands for, each with the group it came through ('' for none).

        A problem or a skipped entry is collected where there is none.
        """
        try:
            return list(self._expand(kind, name, name.optional, ()))
        except (PluginNotFoundError, PluginUnavailableError) as error:
            self.refuse(name, kind, str(error))
        except (AmbiguousPluginError, DuplicatePluginError, PluginDefinitionError) as error:
            self.report(name, str(error))
        return []

    def record(self, kind: str, name: PluginName) -> PluginInfo | None:
        """Give the one record of a name, whatever its case; None if nothing has it.

        Raises:
            AmbiguousPluginError: Several names differ from it in case alone, or several frameworks have it.
            DuplicatePluginError: As `Registry.resolve`.
        """
        named = self._by_lower.get((kind, name.name.lower()), ())
        candidates = [record for record in named if in_framework(record, name.framework)]
        names = sorted({record.name for record in candidates})
        if not names:
            return None
        if name.name not in names and len(names) > 1:
            listed = ", ".join(repr(candidate) for candidate in names)
            raise AmbiguousPluginError(
                f"{kind} {name.name!r} matches {listed}, which differ in case: write one of them"
            )
        chosen = name.name if name.name in names else names[0]
        prefix = f"{candidates[0].framework}:" if name.framework else ""
        found = self.registry.resolve(kind, prefix + chosen, self.limits)
        self.require(found)
        return found

    def require(self, record: PluginInfo) -> None:
        """Add what a plugin requires to what a build needs.

        Raises:
            PluginUnavailableError: One of them is missing, or of another version, or plugins require each other.
        """
        if record.requires_plugins:
            self.required.update(dict.fromkeys(self.registry.required_by(record, self.limits)))

    def without_finn(self, error: PluginUnavailableError) -> PluginInfo:
        """Return a plugin that could be used if FINN were installed: a build goes as far as it can without.

        Raises:
            PluginUnavailableError: There is another reason why it cannot be used.
        """
        plugin: PluginInfo | None = error.plugin
        if plugin is None or not lacks_finn_alone(plugin):
            raise error
        self.needing_finn.append(plugin)
        return plugin

    def of_type(self, kind: str) -> list[PluginInfo]:
        """Give all records of a type."""
        return [record for record in self._records if record.type == kind]

    def _group(self, kind: str, name: PluginName) -> tuple[str, ...] | None:
        """Give the members of a group: a declared one, or for transforms those that state the stage."""
        if name.framework:
            return None
        if kind == "transform":
            return self.registry.group(name.name)
        return self._groups[name.name] if name.name in self._group_names(kind) else None

    def _expand(
        self, kind: str, name: PluginName, optional: bool, trail: tuple[str, ...]
    ) -> Iterator[tuple[PluginInfo, str]]:
        """Give a plugin, or the members of a group and of the groups in it, in declared order."""
        try:
            record = self.record(kind, name)
        except PluginUnavailableError as error:
            if trail:
                raise
            record = self.without_finn(error)
        if record is not None:
            yield record, trail[0] if trail else ""
            return
        members = self._group(kind, name)
        if members is None:
            raise PluginNotFoundError(self.absent(kind, name))
        if name.name in trail:
            cycle = " > ".join((*trail[trail.index(name.name) :], name.name))
            raise PluginDefinitionError(f"group {name.name!r} contains itself: {cycle}")
        yield from self._members(kind, name, members, optional, (*trail, name.name))

    def _members(
        self, kind: str, group: PluginName, members: tuple[str, ...], optional: bool, trail: tuple[str, ...]
    ) -> Iterator[tuple[PluginInfo, str]]:
        """Expand the members of a group: those of frameworks that are here. The others are noted.

        Raises:
            PluginNotFoundError: All are of frameworks that are not here.
        """
        missing: dict[str, list[str]] = {}
        for text in members:
            member = parse_name(text, group.position)
            if member is None:
                raise PluginDefinitionError(
                    f"group {group.name!r} has the member {text!r}, which is not a name"
                )
            if self._lacks_framework(member):
                missing.setdefault(member.framework, []).append(member.qualified)
            else:
                yield from self._member(kind, group, member, optional, trail)
        if not missing:
            return
        names = ", ".join(name for members in missing.values() for name in dict.fromkeys(members))
        frameworks = " and ".join(map(repr, missing))
        lacking = f"there are no plugins of {frameworks} here (brainsmith health says why)"
        if len(trail) == 1 and sum(map(len, missing.values())) == len(members):
            raise PluginNotFoundError(f"group {group.name!r} is empty without {names}: {lacking}")
        self.note(group.position, f"group {group.name!r} goes without {names}: {lacking}")

    def _member(
        self, kind: str, group: PluginName, member: PluginName, optional: bool, trail: tuple[str, ...]
    ) -> Iterator[tuple[PluginInfo, str]]:
        """Expand one member of a group; the error of an absent one names the group."""
        try:
            yield from self._expand(kind, member, optional or member.optional, trail)
        except (PluginNotFoundError, PluginUnavailableError) as error:
            plugin = getattr(error, "plugin", None)
            if plugin is not None and lacks_finn_alone(plugin):
                text = f"it needs FINN, which is not installed: {INSTALL_FINN}"
                self.note(group.position, f"group {group.name!r} goes without {plugin.qualified}: {text}")
            elif not optional and not member.optional:
                self.report(group, f"in group {group.name!r}: {error}")
            else:
                self.skip(member, f"member of group {group.name!r}", str(error))

    def _lacks_framework(self, name: PluginName) -> bool:
        """Tell whether a name is of a framework that has no plugins here; not of one that seems to be misspelt."""
        frameworks = {record.framework for record in self._records}
        return (
            bool(name.framework)
            and not any(_same_framework(framework, name.framework) for framework in frameworks)
            and (name.framework in ADAPTED or not did_you_mean(name.framework, {*frameworks, *ADAPTED}))
        )

    def absent(self, kind: str, name: PluginName) -> str:
        """Say that a name is unknown, and what was perhaps meant."""
        frameworks = {record.framework for record in self._records}
        if name.framework and not any(_same_framework(f, name.framework) for f in frameworks):
            hint = did_you_mean(name.framework, frameworks) or f". There are {', '.join(sorted(frameworks))}."
            return (
                f"no plugin of framework {name.framework!r} is registered{hint}\n"
                "  what each framework's discovery found: brainsmith health"
                f"{perhaps_because(self.registry, (kind,), f'{name.framework}:{name.name}')}"
            )
        groups = self._group_names(kind)
        words = PHASES if kind == "step" else ()
        plugins = {record.name for record in self.of_type(kind) if in_framework(record, name.framework)}
        hint = self._elsewhere(kind, name) or did_you_mean(name.name, {*plugins, *groups, *words}) or "."
        what = f"{kind} or group" if groups and not name.framework else kind
        where = f" in {name.framework!r}" if name.framework else ""
        return (
            f"no {what} named {name.name!r}{where}{hint}{perhaps_because(self.registry, (kind,), name.name)}\n"
            f"{registered_line(len(plugins), kind)}"
        )

    def _group_names(self, kind: str) -> set[str]:
        """Give the names of the groups of this type, the stages of transforms among them."""
        names = {group for group, members in self._groups.items() if self._is_group_of(kind, members)}
        staged = self.of_type("transform") if kind == "transform" else []
        return names | {record.stage for record in staged if record.stage}

    def _is_group_of(self, kind: str, members: tuple[str, ...]) -> bool:
        """Tell whether a member is of this type; a group that transforms alone can fill is theirs."""
        bare = [member.removeprefix("~").rpartition(":")[2].strip() for member in members]
        fits = any((kind, name.lower()) in self._by_lower or name in self._groups for name in bare)
        transforms = all(("transform", name.lower()) in self._by_lower for name in bare)
        return fits and (kind == "transform" or not transforms)

    def _elsewhere(self, kind: str, name: PluginName) -> str:
        """Say that the name is one of another type, and how a blueprint writes that."""
        for other, how in _OTHER_PLACES.get(kind, {}).items():
            records = self._by_lower.get((other, name.name.lower()))
            if records:
                found = records[0]
                return f". {found.name!r} is a {other}: {how.format(name=found.name, kernel=found.kernel)}"
        if not name.framework and kind != "transform" and name.name in self._group_names("transform"):
            how = _OTHER_PLACES[kind]["transform"].format(name=name.name)
            return f". {name.name!r} is a group of transforms: {how}"
        return ""


def in_framework(record: PluginInfo, framework: str) -> bool:
    """Tell whether a record is of a framework, whatever its case; every record is of an unnamed one."""
    return not framework or _same_framework(record.framework, framework)


def _same_framework(one: str, other: str) -> bool:
    return framework_identifier(one).lower() == framework_identifier(other).lower()


#: By the type that was looked for: the type that was found, and the form to write instead.
_OTHER_PLACES = {
    "step": {"transform": "write {{transform: {name}}}", "kernel": "list it under kernels"},
    "transform": {"step": "list it under steps", "kernel": "list it under kernels"},
    "kernel": {
        "backend": "write {{kernel: {kernel}, backends: [{name}]}}",
        "transform": "list it under transforms",
        "step": "list it under steps",
    },
}
