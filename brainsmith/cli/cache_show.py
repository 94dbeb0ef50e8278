"""`brainsmith cache show KEY`: what is known of one entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.cli.cache_list import ago, entry_fields
from brainsmith.figures import plural, size
from brainsmith.settings import cache_dir
from brainsmith.store.examine import examine, why_not_used
from brainsmith.store.inventory import find_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.store.examine import Examined

_LONGEST = 160


def run(options: Options, terminal: Terminal) -> int:
    """Print it."""
    folder = cache_dir()
    examined = examine(folder, find_entry(folder, options.required("KEY")), thorough=True)
    entry, about, reason = examined.entry, examined.about, why_not_used(examined)
    document = {
        **entry_fields(entry, about),
        "valid": not reason,
        "reason": reason,
        "files": dict(examined.files),
        "origin": dict(examined.origin),
        "parts": dict(examined.parts),
    }
    pairs = [(name, value) for name, value in _pairs(examined, reason) if value]
    terminal.give(lambda: document, lambda: terminal.pairs(pairs))
    return 0


def _pairs(examined: Examined, reason: str) -> Iterator[tuple[str, str]]:
    entry, about = examined.entry, examined.about
    yield "kind", f"{entry.kind.name}: {entry.kind.holds}"
    yield "of", about.get("of", "")
    yield "key", entry.key
    yield "path", entry.path
    yield "size", size(entry.bytes)
    yield "made", ago(about.get("time"))
    yield "last used", ago(entry.used)
    by = about.get("by", {})
    yield "made by", ", ".join(f"{name} {value}" for name, value in by.items() if value)
    yield "valid", f"no: {reason}" if reason else "yes"
    yield "depends on", plural(len(examined.files), "file") if examined.files else ""
    yield "came from", "\n".join(examined.origin)
    for name, value in examined.parts.items():
        yield f"key: {name}", value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."
