"""`brainsmith cache list`: what is kept on disk."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from brainsmith.figures import age, size
from brainsmith.settings import cache_dir
from brainsmith.store.examine import examine
from brainsmith.store.inventory import all_entries, short_keys
from brainsmith.store.kinds import KINDS, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.store.about import About
    from brainsmith.store.inventory import Entry
    from brainsmith.store.kinds import Kind

OF_KINDS = ("kind", "entries", "size", "at most", "last used", "oldest", "holds")
OF_ENTRIES = ("key", "size", "last used", "made", "of")


def run(options: Options, terminal: Terminal) -> int:
    """Print the kinds, or the entries of one."""
    name, folder = options.text("KIND"), cache_dir()
    if name is not None:
        entries = all_entries(folder, [kind_of(name)])
        short = short_keys(entries)
        found = [_listed(entry, short[entry], examine(folder, entry).about) for entry in entries]
        terminal.give(
            lambda: {"path": folder, "kind": name, "entries": found},
            lambda: terminal.table(OF_ENTRIES, list(map(_entry_row, found))),
        )
        return 0
    entries = all_entries(folder)
    kinds = [_kind(kind, [entry for entry in entries if entry.kind is kind]) for kind in KINDS]
    total = sum(entry.bytes for entry in entries)
    terminal.give(
        lambda: {"path": folder, "entries": len(entries), "bytes": total, "kinds": kinds},
        lambda: terminal.table(OF_KINDS, list(map(_kind_row, kinds)), f"\n{size(total)} in {folder}"),
    )
    return 0


def entry_fields(entry: Entry, about: About) -> dict[str, Any]:
    """Return what is known of an entry, for programs."""
    return {
        "kind": entry.kind.name,
        "key": entry.key,
        "path": entry.path,
        "bytes": entry.bytes,
        "used": entry.used,
        "made": about.get("time"),
        "of": about.get("of", ""),
        "by": dict(about.get("by", {})),
    }


def _listed(entry: Entry, short: str, about: About) -> dict[str, Any]:
    return {**entry_fields(entry, about), "short": short, "origin": list(about.get("origin", {}))}


def _entry_row(row: dict[str, Any]) -> tuple[str, ...]:
    by = row["by"] if row["origin"] else {}  # what is the same for all models is of none
    step = by.get("step", "") if row["kind"] not in ("builds", "steps") else ""
    of = ", ".join(dict.fromkeys(filter(None, (row["of"], step and f"step {step}", by.get("model", "")))))
    return row["short"], size(row["bytes"]), ago(row["used"]), ago(row["made"]), of


def ago(moment: float | None) -> str:
    """Return how long ago something was."""
    return "" if moment is None else f"{age(time.time() - moment)} ago"


def _kind(kind: Kind, entries: Sequence[Entry]) -> dict[str, Any]:
    used = [entry.used for entry in entries]
    return {
        "kind": kind.name,
        "folder": kind.folder,
        "holds": kind.holds,
        "entries": len(entries),
        "bytes": sum(entry.bytes for entry in entries),
        "limit": kind.limit,
        "last_used": max(used, default=None),
        "oldest": min(used, default=None),
    }


def _kind_row(kind: dict[str, Any]) -> tuple[str, ...]:
    sizes = size(kind["bytes"]), size(kind["limit"])
    return (
        kind["kind"],
        str(kind["entries"]),
        *sizes,
        ago(kind["last_used"]),
        ago(kind["oldest"]),
        kind["holds"],
    )
