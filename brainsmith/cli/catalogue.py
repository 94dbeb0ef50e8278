"""`brainsmith catalogue`: a static site of all plugins."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.cli.plugins_list import warn_of_problems
from brainsmith.cli.terminal import complain
from brainsmith.plugin.manager import get_plugin_manager

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

DEFAULT_FOLDER = "site"
MOST_SHOWN = 10
"""How many plugins of a kind of change are printed; the site lists all."""


def run(options: Options, terminal: Terminal) -> int:
    """Write the site, and say what changed since the one that was there."""
    from brainsmith.web.catalogue.entry_reading import read_entries
    from brainsmith.web.catalogue.publishing import CatalogueFolder
    from brainsmith.web.catalogue.site import catalogue_files
    from brainsmith.web.catalogue.source_links import SourceLinks

    output = options.text("--output") or DEFAULT_FOLDER
    folder = CatalogueFolder(output)
    manager = get_plugin_manager()
    records = manager.discover_plugins(modes=["full"])
    links = SourceLinks(options.texts("--source"), {info.framework for info in records})
    entries, problems = read_entries(manager.registry, records)
    files, change = catalogue_files(entries, links, folder.before)
    folder.publish(files)
    size = sum(map(len, files.values()))
    document = {
        "folder": output,
        "plugins": len(entries),
        "files": len(files),
        "bytes": size,
        "is_first": folder.before is None,
        "change": change,
    }
    terminal.give(lambda: document, lambda: _print(document, terminal))
    warn_of_problems(manager)
    for problem in problems:
        complain(f"warning: {problem}")
    return 0


def _print(document: dict[str, Any], terminal: Terminal) -> None:
    from brainsmith.figures import plural, size
    from brainsmith.web.catalogue.changes import LISTS
    from brainsmith.web.catalogue.page_frame import INDEX

    index = os.path.join(document["folder"], INDEX)
    terminal.write(f"{index}: {plural(document['plugins'], 'plugin')}, {size(document['bytes'])}")
    change = document["change"]
    if document["is_first"]:
        return
    if change is None:
        terminal.write("nothing changed since the last catalogue")
        return
    for what in LISTS:
        for plugin in change[what][:MOST_SHOWN]:
            fields = ", ".join(name.replace("_", " ") for name in plugin.get("fields", {}))
            name = f"{plugin['type']} {plugin['framework']}:{plugin['name']}"
            terminal.write(f"  {what:<8} {name}{f' ({fields})' if fields else ''}")
        if len(change[what]) > MOST_SHOWN:
            terminal.write(f"  {what:<8} {len(change[what]) - MOST_SHOWN} more")
    for what, name in _providers(change):
        terminal.write(f"  {what:<8} {name}")


def _providers(change: dict[str, Any]) -> list[tuple[str, str]]:
    """Return which providers, with their versions, are new, and which are gone."""
    before, after = change["providers"]["before"], change["providers"]["after"]
    return [
        *(("provider", f"{name} is new") for name in after if name not in before),
        *(("provider", f"{name} is gone") for name in before if name not in after),
    ]
