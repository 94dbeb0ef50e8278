"""Compose the messages for names that no plugin has."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.close_names import close_names, one_of
from brainsmith.plugin.finn_install import INSTALL_FINN
from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.plugin.precedence import framework_identifier, split_name
from brainsmith.plugin.source_files import source_or_nothing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from brainsmith.errors import Problem
    from brainsmith.plugin.plugin_registry import Registry

INSTALL = {"qonnx": "pip install qonnx", "finn": INSTALL_FINN}
"""The commands that install the frameworks that adapters read."""

_OFFERS = {
    "qonnx": frozenset({"transform", "op"}),
    "finn": frozenset({"transform", "kernel", "backend", "step", "op"}),
}
"""The types of plugins that they have."""

_MOST = 3
"""The problems that one message shows."""


def not_found_message(registry: Registry, plugin_type: str | None, name: str) -> str:
    """Return the sentence that says that a name is unknown: where it was looked for, and what is close to it.

    Args:
        registry: Where it was looked up.
        plugin_type: The type of plugins among which it was looked for; None for all.
        name: `Name` or `framework:Name`.
    """
    if plugin_type is not None and plugin_type not in PLUGIN_TYPES:
        return unknown_type_message(plugin_type)
    framework, bare = split_name(name)
    where = f" in {framework!r}" if framework else ""
    hint = one_of(_close_names(registry, plugin_type, framework, bare))
    types = (plugin_type,) if plugin_type else PLUGIN_TYPES
    elsewhere = [other for other in PLUGIN_TYPES if other not in types and registry.knows(other, bare)]
    also = f" (there is a {elsewhere[0]} of that name)" if elsewhere else ""
    count = len(registry.records(plugin_type, framework))
    reasons = perhaps_because(registry, types, name)
    return f"no {plugin_type or 'plugin'} named {bare!r}{where}{also}{hint}{reasons}\n{registered_line(count, plugin_type)}"


def registered_line(count: int, plugin_type: str | None) -> str:
    """Return the line that says how many there are to choose from, and what lists them."""
    listing = "brainsmith plugins list" + (f" --type {plugin_type}" if plugin_type else "")
    return f"  {count} {'is' if count == 1 else 'are'} registered: {listing}"


def unknown_type_message(plugin_type: str) -> str:
    """Return the sentence that says that there is no such type of plugin, with those that there are."""
    return f"there is no plugin type {plugin_type!r}; the types are {', '.join(PLUGIN_TYPES)}"


def _close_names(registry: Registry, plugin_type: str | None, framework: str | None, bare: str) -> list[str]:
    """Return what was perhaps meant: in the framework that was named, or that name in another one."""
    records = registry.records(plugin_type)
    if framework is not None:
        same = [info.qualified for info in records if info.name == bare]
        wanted = framework_identifier(framework)
        if same:
            return same
        own = [info for info in records if framework_identifier(info.framework) == wanted]
        names = {info.name.lower(): info.qualified for info in own}
    else:
        names = {info.name.lower(): info.name for info in records}
    return [names[close] for close in close_names(bare, names)]


def why_framework_is_missing(registry: Registry, framework: str) -> str:
    """Return why a framework that an adapter reads has no plugins here, and what to do; nothing if it is read."""
    if framework in registry.limits.absent:
        return f"{framework.upper()} is not installed: {INSTALL[framework]}"
    if framework in registry.limits.disabled and not registry.limits.restriction:
        add = f"add {framework} to plugin_system: frameworks in .brainsmith/config.yaml"
        return f"{framework.upper()} is left out by the setting frameworks: {add}"
    return ""


def perhaps_because(registry: Registry, types: Iterable[str], name: str) -> str:
    """Return lines that say why a name may be missing that the user believes to be there; nothing if nothing is known.

    Args:
        registry: Where it was looked up.
        types: The plugin types among which it was looked for.
        name: `Name` or `framework:Name`.
    """
    return "".join(f"\n  {line}" for line in _reasons(registry, tuple(types), name))


def _reasons(registry: Registry, types: tuple[str, ...], name: str) -> Iterator[str]:
    framework, bare = split_name(name)
    for absent in registry.limits.absent:
        if framework in (None, absent) and not _OFFERS[absent].isdisjoint(types):
            kinds = ", ".join(f"{one}s" for one in PLUGIN_TYPES if one in types and one in _OFFERS[absent])
            yield f"{absent.upper()} is not installed, so none of its {kinds} is found: {INSTALL[absent]}"
    for disabled in () if registry.limits.restriction else registry.limits.disabled:
        if framework in (None, disabled) and not _OFFERS[disabled].isdisjoint(types):
            yield why_framework_is_missing(registry, disabled)
    yield from _elsewhere(registry, bare)
    if registry.limits.restriction:
        yield registry.limits.restriction
    problems = registry.limits.problems
    of_environment = list(_of_environment(registry, framework or bare))
    if of_environment:
        yield from of_environment
        return
    naming = [problem for problem in problems if _names(problem, bare)]
    if naming:
        yield "a file that contains this name has a problem:"
    elif problems:
        yield "it may be in a file that has a problem:"
    yield from _shown(naming or problems)


def not_used_elsewhere(registry: Registry, name: str) -> str:
    """Return what another environment has that is called so, or makes nodes of that type, and is not used; else nothing.

    Args:
        registry: Where it was looked up.
        name: Of a plugin, or of a type of node.
    """
    said = [one for one in registry.limits.elsewhere.split("; ") if f"{name!r}" in one]
    return f"of another environment kernels and backends are not used: {'; '.join(said)}" if said else ""


def _elsewhere(registry: Registry, name: str) -> Iterator[str]:
    found = not_used_elsewhere(registry, name)
    if found:
        yield found


def _of_environment(registry: Registry, name: str) -> Iterator[str]:
    """Say of another Python environment why it has no plugins here; nothing if the settings name none that is called so."""
    start = f"environment {name!r}"
    yield from (line for line in map(str, registry.limits.problems) if start in line)
    if f"; {name}: Python " in f"; {registry.limits.elsewhere}" and not registry.records(None, name):
        yield f"{start} offers no plugins: brainsmith env list"


def _names(problem: Problem, name: str) -> bool:
    """Tell whether the file of a problem holds a name as a word."""
    import re  # only where a file has a problem

    data = source_or_nothing(problem.file)
    return re.search(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)", data) is not None


def _shown(problems: Sequence[Problem]) -> Iterator[str]:
    for problem in problems[:_MOST]:
        yield f"  {str(problem).splitlines()[0]}"
    if len(problems) > _MOST:
        yield f"  and {len(problems) - _MOST} more: brainsmith health"
