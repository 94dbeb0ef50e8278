"""`brainsmith env list`: the other Python environments of the settings."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.cli.terminal import complain
from brainsmith.errors import PluginEnvironmentError
from brainsmith.figures import plural
from brainsmith.plugin.environments.place import read_environment, root_of
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.settings import load_settings

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.settings import Settings


def run(options: Options, terminal: Terminal) -> int:
    """Print each with its Python, version, number of plugins and state."""
    settings = load_settings()
    found = [_described(name, settings) for name in sorted(settings.environments)]
    terminal.give(lambda: {"environments": found, "error": None}, lambda: _show(found, terminal))
    return 0


def _described(name: str, settings: Settings) -> dict[str, Any]:
    stated = settings.environments[name]
    described = {"name": name, "folder": root_of(name, stated), "requirements": list(stated["requirements"])}
    try:
        known = read_environment(name, settings)
    except PluginEnvironmentError as error:
        return {**described, "python": None, "version": None, "plugins": 0, "problem": str(error)}
    records = get_plugin_manager().all_records()[0].records(framework=name)
    return {
        **described,
        "python": known.python,
        "version": known.version,
        "plugins": len(records),
        "problem": None,
    }


def _show(found: list[dict[str, Any]], terminal: Terminal) -> None:
    if not found:
        complain(
            "the settings name no other environments; name one in `environments` of .brainsmith/config.yaml or of your "
            "own settings:\n"
            "  plugin_system:\n"
            "    environments:\n"
            "      acme: {python: ../acme-venv}"
        )
        return
    rows = [
        (
            one["name"],
            one["python"] or one["folder"],
            one["version"] or "",
            one["problem"] or plural(one["plugins"], "plugin"),
        )
        for one in found
    ]
    terminal.table(("name", "python", "version", "state"), rows)
