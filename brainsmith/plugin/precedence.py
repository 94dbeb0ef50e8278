"""Decide which plugin a name means: how names are written, and which framework has precedence."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import AmbiguousPluginError, DuplicatePluginError
from brainsmith.plugin.info import PLUGIN_TYPES, PluginInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OURS = ("project", "brainsmith")
"""The frameworks whose names win over all others, the first one first."""

ADAPTED = ("qonnx", "finn")
"""The frameworks that are read by an adapter; a name that several of them have needs its framework said."""


def framework_identifier(framework: str) -> str:
    """Return a framework's name as it stands in Python: `acme_plugins` (in `tfm.acme_plugins`) for `Acme-Plugins`."""
    return "".join(char if char.isalnum() else "_" for char in framework.lower())


def split_name(name: str) -> tuple[str | None, str]:
    """Split `framework:Name`; the framework is None in a bare name."""
    framework, colon, bare = name.rpartition(":")
    return (framework, bare) if colon else (None, name)


def duplicate_message(first: PluginInfo, second: PluginInfo) -> str:
    """Return the message of a clash, with both places."""
    name = f"{second.type} {second.name!r}"
    return f"{name} is defined twice in framework {second.framework!r}:\n  {first.origin}\n  {second.origin}"


def clashes(records: Iterable[PluginInfo]) -> Iterator[tuple[PluginInfo, PluginInfo]]:
    """Yield each record whose name another object of its framework has, after the first one of that name."""
    firsts: dict[tuple[str, str], PluginInfo] = {}
    for info in records:
        first = firsts.setdefault((info.key, info.framework), info)
        if first.reference != info.reference:
            yield first, info


def preferred(providers: Iterable[PluginInfo]) -> PluginInfo:
    """Return the record that a bare name means among those of that name, one for each framework.

    Raises:
        AmbiguousPluginError: Only frameworks have it, and several do.
    """
    found = ranked_providers(providers)
    if len(found) > 1 and found[0].framework in ADAPTED:
        names = ", ".join(info.qualified for info in found)
        raise AmbiguousPluginError(
            f"{found[0].type} {found[0].name!r} exists in several frameworks; say which: {names}"
        )
    return found[0]


def refuse_clash(found: Iterable[PluginInfo]) -> None:
    """Raise if two different objects of one framework are among the records of a name.

    Raises:
        DuplicatePluginError: They are; it names both places.
    """
    for first, second in clashes(found):
        raise DuplicatePluginError(duplicate_message(first, second))


def named(records: Iterable[PluginInfo]) -> list[tuple[str, PluginInfo]]:
    """Return each record with the name that means it: `Name` where that does, and else `framework:Name`.

    Names are unique within a plugin type, except for two objects that one framework offers under one name: that is a
    clash, and looking it up says so.
    """
    providers: dict[tuple[str, str], list[PluginInfo]] = {}
    found = list(records)
    for info in found:
        providers.setdefault((info.type, info.name), []).append(info)
    meant = {id(meant_by_name(rivals)) for rivals in providers.values()}
    return [(info.name if id(info) in meant else info.qualified, info) for info in found]


def meant_by_name(providers: list[PluginInfo]) -> PluginInfo | None:
    """Return the record that a bare name means among all those of that name; None if looking it up is an error."""
    try:
        return chosen(providers)
    except (AmbiguousPluginError, DuplicatePluginError):
        return None


def chosen(providers: Iterable[PluginInfo]) -> PluginInfo:
    """Return the record that a name means among all those that have it.

    Raises:
        AmbiguousPluginError: As `preferred`.
        DuplicatePluginError: The framework that has precedence offers two different objects.
    """
    found = ranked_providers(providers)
    if len(found) > 1:
        refuse_clash([info for info in found if info.framework == found[0].framework])
    return preferred(found)


def ranked_providers(providers: Iterable[PluginInfo]) -> list[PluginInfo]:
    """Return the records of a name, the one that has precedence first.

    Of distributions with one priority the one with the highest version of the plugin comes first.
    """
    found = sorted(providers, key=precedence)
    if len({precedence(info)[:2] for info in found}) == len(found):
        return found
    from brainsmith.plugin.plugin_versions import version_rank  # hardly any name has two such providers

    return sorted(found, key=lambda info: (precedence(info)[:2], version_rank(info), precedence(info)))


def precedence(info: PluginInfo) -> tuple[int, int, str, str]:
    """Return what to sort the records of a name by: project, own, distributions by priority, adapted frameworks."""
    if info.framework in OURS:
        rank = OURS.index(info.framework)
    else:
        rank = 3 if info.framework in ADAPTED else 2
    return rank, -info.priority, info.framework, info.name


def listing_order(info: PluginInfo) -> tuple[int, str, str]:
    """Return what to sort listings by: type, framework, name."""
    return PLUGIN_TYPES.index(info.type), info.framework, info.name
