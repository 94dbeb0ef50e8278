"""`brainsmith plugins list`: the records, in columns or as JSON. Imports nothing that it can do without."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.cli.terminal import complain
from brainsmith.errors import UsageError
from brainsmith.figures import plural
from brainsmith.plugin.info import FIELDS, PLUGIN_TYPES
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.precedence import framework_identifier
from brainsmith.plugin.read_rules import FRAMEWORKS

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.manager import PluginManager
    from brainsmith.plugin.records import RecordList

COLUMNS = ("type", "framework", "name", "stage", "kernel", "description")
"""The columns, in order."""


def run(options: Options, terminal: Terminal) -> int:
    """Print the plugins; problems of the discovery go to standard error."""
    manager = get_plugin_manager()
    everything = manager.discover_plugins(modes=["full"])
    plugin_type, framework, stage = map(options.text, ("--type", "--framework", "--stage"))
    records = _chosen(everything, plugin_type, framework, stage)
    if not records:
        _refuse_unknown(everything, framework, stage, manager)
    terminal.give(lambda: list(map(_plain, records)), lambda: _print_table(records, terminal))
    warn_of_problems(manager)
    if not records:
        wanted = " and ".join(word for word in (plugin_type, framework, stage) if word)
        complain(f"no plugin is {wanted}" if wanted else "there are no plugins")
    return 0


def warn_of_problems(manager: PluginManager) -> None:
    """Say on standard error what discovery could not use: no command that shows or uses plugins is silent of it."""
    for problem in manager.problems:
        complain(f"warning: {problem}")
    for reason, many in _untrusted(manager).items():
        complain(f"warning: {plural(many, 'plugin')} cannot be loaded, untrusted: {reason}")


def _untrusted(manager: PluginManager) -> dict[str, int]:
    """Return why plugins are not trusted, and how many for that reason."""
    if all(info.framework in FRAMEWORKS for info in manager.registry.known()):
        return {}
    from brainsmith.plugin.trust import why_not_trusted

    found: dict[str, int] = {}
    for info in manager.registry.known():
        if reason := why_not_trusted(info):
            found[reason] = found.get(reason, 0) + 1
    return found


def _chosen(
    everything: RecordList, plugin_type: str | None, framework: str | None, stage: str | None
) -> list[PluginInfo]:
    """Return the records that the user wants, by type, framework and name."""
    wanted = framework and framework_identifier(framework)
    rank = {name: index for index, name in enumerate(PLUGIN_TYPES)}
    return sorted(
        (
            info
            for info in everything
            if (plugin_type is None or info.type == plugin_type)
            and (wanted is None or framework_identifier(info.framework) == wanted)
            and (stage is None or info.stage == stage)
        ),
        key=lambda info: (rank[info.type], info.framework, info.name),
    )


def _plain(info: PluginInfo) -> dict[str, object]:
    from brainsmith.plugin.trust import why_not_trusted  # only for programs

    return {**plain(info), "untrusted": why_not_trusted(info)}


def plain(info: PluginInfo) -> dict[str, object]:
    """Return all fields of a record, with what only its framework knows under `extra`."""
    return dict(zip(FIELDS, info.to_plain(), strict=True))


def _print_table(records: list[PluginInfo], terminal: Terminal) -> None:
    rows = [
        (i.type, i.framework, i.name, i.stage or "", _kernel(i), " ".join(i.description.split()))
        for i in records
    ]
    terminal.table(COLUMNS, rows)
    if terminal.is_terminal:
        counts: dict[str, int] = {}
        for info in records:
            counts[info.type] = counts.get(info.type, 0) + 1
        parts = ", ".join(plural(count, name) for name, count in counts.items())
        terminal.write(f"\n{plural(len(records), 'plugin')}: {parts}" if records else "no plugins")


def _kernel(info: PluginInfo) -> str:
    if info.kernel and info.backend_type:
        return f"{info.kernel} ({info.backend_type})"
    return info.kernel or ""


def _refuse_unknown(
    everything: RecordList, framework: str | None, stage: str | None, manager: PluginManager
) -> None:
    """Complain about a framework or stage that no plugin has, rather than print nothing."""
    for option, value, names in (
        ("--framework", framework, sorted({info.framework for info in everything})),
        ("--stage", stage, sorted({info.stage for info in everything if info.stage})),
    ):
        identifiers = [framework_identifier(name) for name in names]
        if value is not None and framework_identifier(value) not in identifiers:
            from brainsmith.close_names import did_you_mean

            there = f"the {option[2:]}s are {', '.join(names)}" if names else "no plugin states one"
            warn_of_problems(manager)
            raise UsageError(
                f"{option}: no plugin has the {option[2:]} {value!r}{did_you_mean(value, names)}"
                f"{_why_empty(value, manager) if option == '--framework' else ''}\n  {there}"
            )


def _why_empty(framework: str, manager: PluginManager) -> str:
    """Return why discovery found nothing of a framework, where it knows that."""
    from brainsmith.plugin.not_found import why_framework_is_missing

    missing = why_framework_is_missing(manager.registry, framework)
    details = [summary["detail"] for summary in manager.adapters if summary["name"] == framework]
    return "".join(f"\n  {detail}" for detail in ([missing] if missing else details))
