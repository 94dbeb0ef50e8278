"""`brainsmith plugins show NAME`: all that is known of a plugin, without importing it."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.cli.plugins_list import warn_of_problems
from brainsmith.errors import PluginNotFoundError
from brainsmith.plugin.facts import details_or_reason, facts_of
from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.precedence import ADAPTED, framework_identifier, split_name
from brainsmith.plugin.requirements import why_unusable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry


def run(options: Options, terminal: Terminal) -> int:
    """Print every plugin of a name."""
    manager = get_plugin_manager()
    manager.discover_plugins(modes=["full"])
    registry = manager.registry
    name, plugin_type = options.required("NAME"), options.text("--type")
    found = find(registry, name, plugin_type)
    for number, info in enumerate(found):
        if number:
            terminal.write("")
        _print(info, registry, terminal)
    for note in _notes(found, name):
        terminal.write(f"\n{note}")
    warn_of_problems(manager)
    return 0


def find(registry: Registry, name: str, plugin_type: str | None) -> list[PluginInfo]:
    """Return every record of `Name` or `framework:Name`, of one type or of all.

    Raises:
        PluginNotFoundError: Nothing has this name; close ones are named.
        DuplicatePluginError: Two objects of one framework claim it.
    """
    framework, bare = split_name(name)
    wanted = framework and framework_identifier(framework)
    found = [
        info
        for one in (PLUGIN_TYPES if plugin_type is None else (plugin_type,))
        for info in registry.providers(one, bare)
        if wanted is None or framework_identifier(info.framework) == wanted
    ]
    if not found:
        from brainsmith.plugin.not_found import not_found_message

        raise PluginNotFoundError(not_found_message(registry, plugin_type, name))
    return found


def _notes(found: list[PluginInfo], name: str) -> Iterable[str]:
    """Say what a bare name means that several frameworks have."""
    if ":" in name:
        return
    for plugin_type in dict.fromkeys(info.type for info in found):
        same = [info for info in found if info.type == plugin_type]
        if len(same) > 1 and same[0].framework in ADAPTED:
            names = " or ".join(info.qualified for info in same)
            yield f"The bare name {name!r} is ambiguous for a {plugin_type}: write {names}."
        elif len(same) > 1:
            yield f"The bare name {name!r} means the {plugin_type} {same[0].qualified}."


def _print(info: PluginInfo, registry: Registry, terminal: Terminal) -> None:
    terminal.write(f"{info.type} {terminal.style(info.qualified, 'bold')}")
    details, missing = details_or_reason(info)
    pairs = [(name, value) for name, value in facts_of(info, registry) if value]
    if unusable := why_unusable(info):
        pairs.append(("cannot be used", f"it {unusable}"))
    if details is None:
        pairs.append(("parameters", f"unknown: {missing}"))
    else:
        if details.bases:
            pairs.append(("bases", ", ".join(details.bases)))
        if info.type != "bundle":
            pairs.append(("parameters", "\n".join(map(str, details.parameters)) or "none"))
    terminal.pairs(pairs, "  ")
    for line in _tree(info, registry):
        terminal.write(f"    {line}")
    if details is not None and details.docstring:
        terminal.write("")
        for line in details.docstring.splitlines():
            terminal.write(f"    {line}".rstrip())


def _tree(info: PluginInfo, registry: Registry) -> Iterator[str]:
    """Yield what a plugin requires, and below each what that requires itself, as lines of a tree."""
    if info.requires_plugins:
        from brainsmith.plugin.plugin_needs import need_tree  # hardly any plugin requires others

        yield ""
        yield from need_tree(info, lambda need: registry.resolve_alone(need.type, need.name))
