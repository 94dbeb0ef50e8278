"""`brainsmith cache why FILE`: which entries were computed from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.figures import plural
from brainsmith.settings import cache_dir
from brainsmith.store.examine import dependents
from brainsmith.store.inventory import named, short_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.store.examine import Dependent

COLUMNS = ("kind", "key", "of", "the file since then")


def run(options: Options, terminal: Terminal) -> int:
    """Print them, and whether the file is as it was."""
    file = options.required("FILE")
    found = dependents(cache_dir(), file)
    document = {"file": file, "entries": [_plain(one) for one in found]}
    terminal.give(lambda: document, lambda: _show(file, found, terminal))
    return 0


def _show(file: str, found: Sequence[Dependent], terminal: Terminal) -> None:
    if not found:
        terminal.write(
            f"no entry depends on {file}\n  brainsmith cache list shows what is kept; brainsmith build --explain says of "
            "each step why it was not reused"
        )
        return
    short = short_keys([one.examined.entry for one in found])
    rows = []
    for one in found:
        entry = one.examined.entry
        rows.append((entry.kind.name, short[entry], one.examined.about.get("of", ""), effect(one)))
    changed = sum(not one.agrees for one in found)
    entries = plural(len(found), "entry", "entries")
    summary = f"\n{entries} computed from {file}; {changed} of them from another content than it has now"
    terminal.table(COLUMNS, rows, summary)


def effect(one: Dependent) -> str:
    """Return what a change of the file means for an entry."""
    if one.agrees:
        return "the same"
    return "changed: not used any more" if one.depends else "changed: used for the old content only"


def _plain(one: Dependent) -> dict[str, object]:
    entry = one.examined.entry
    fields = {"kind": entry.kind.name, "key": entry.key, "name": named(entry), "path": entry.path}
    return {**fields, "of": one.examined.about.get("of", ""), "depends": one.depends, "agrees": one.agrees}
