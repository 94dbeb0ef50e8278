"""`brainsmith cache prune`: remove what was used longest ago."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from brainsmith.errors import UsageError
from brainsmith.figures import plural, size
from brainsmith.settings import cache_dir
from brainsmith.store.inventory import named
from brainsmith.store.removal import Removal, prune

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

_BYTES = {"": 1, "B": 1} | {
    f"{prefix}{unit}": base**power
    for power, prefix in enumerate("KMGT", 1)
    for unit, base in (("", 1000), ("B", 1000), ("iB", 1024))
}
_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", re.ASCII)
_SHOWN = 10


def run(options: Options, terminal: Terminal) -> int:
    """Remove what was used longest ago."""
    keep = _amount(options, "--keep", _BYTES, "a size, such as 5GB or 500 MiB")
    older = _amount(options, "--older-than", _SECONDS, "an age, such as 30d, 12h, 10m or 2w")
    dry_run = options.flag("--dry-run")
    removal = prune(cache_dir(), None if keep is None else int(keep), older, dry_run)
    return show(removal, dry_run, terminal)


def _amount(options: Options, name: str, units: Mapping[str, int], wanted: str) -> float | None:
    text = options.text(name)
    if text is None:
        return None
    found = _AMOUNT.fullmatch(text.strip())
    by_name = {unit.lower(): factor for unit, factor in units.items()}
    factor = None if found is None else by_name.get(found[2].lower())
    if found is None or factor is None:
        raise UsageError(
            f"{name} must be {wanted}, not {text!r}\n  brainsmith cache prune --help shows its options"
        )
    return float(found[1]) * factor


def show(removal: Removal, dry_run: bool, terminal: Terminal) -> int:
    """Print what was removed, and what stays although it was to be removed."""
    terminal.give(lambda: _plain(removal, dry_run), lambda: _print(removal, dry_run, terminal))
    return 0


def _plain(removal: Removal, dry_run: bool) -> dict[str, object]:
    return {
        "removed": [named(entry) for entry in removal.removed],
        "freed": removal.freed,
        "kept": [{"entry": named(entry), "reason": reason} for entry, reason in removal.kept],
        "left": removal.left,
        "dry_run": dry_run,
    }


def _print(removal: Removal, dry_run: bool, terminal: Terminal) -> None:
    verb = "would remove" if dry_run else "removed"
    amount = plural(len(removal.removed), "entry", "entries")
    terminal.write(f"{verb} {amount}, {size(removal.freed)}; {size(removal.left)} left in {cache_dir()}")
    for entry, reason in removal.kept[:_SHOWN]:
        terminal.write(f"  kept {named(entry)} ({size(entry.bytes)}): {reason}")
    if len(removal.kept) > _SHOWN:
        terminal.write(f"  kept {plural(len(removal.kept) - _SHOWN, 'more entry', 'more entries')}")
