"""Remove cache entries: the least recently used, or all; never one that a process uses."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brainsmith.store.inventory import all_entries, store_of
from brainsmith.store.kinds import KINDS
from brainsmith.store.quota import remove_half_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brainsmith.store.inventory import Entry
    from brainsmith.store.kinds import Kind

IN_USE = "a running process uses it"


@dataclass
class Removal:
    """What was removed, and what was to be and stays.

    Attributes:
        removed: The entries that were, in that order.
        kept: The others, each with the reason.
        left: The bytes of all entries that are left.
    """

    removed: list[Entry] = field(default_factory=list)
    kept: list[tuple[Entry, str]] = field(default_factory=list)
    left: int = 0

    @property
    def freed(self) -> int:
        """The bytes of what was removed."""
        return sum(entry.bytes for entry in self.removed)


def prune(
    cache_dir: str,
    keep: int | None = None,
    older_than: float | None = None,
    dry_run: bool = False,
    kinds: Sequence[Kind] = KINDS,
) -> Removal:
    """Remove the entries used longest ago, until what is left is small enough.

    Args:
        cache_dir: The cache folder.
        keep: The bytes that are left at most, of these kinds together. If neither this nor `older_than` is given, each
            kind is trimmed to its quota.
        older_than: Seconds: first, what was not used for longer goes.
        dry_run: Whether nothing is removed.
        kinds: Of which kinds.

    Raises:
        CacheError: The cache folder belongs to another user, or cannot be read.
    """
    entries = all_entries(cache_dir, kinds)[::-1]  # the one used longest ago first
    removal = Removal(left=sum(entry.bytes for entry in entries))
    if older_than is not None:
        limit = time.time() - older_than
        _drop(cache_dir, removal, [entry for entry in entries if entry.used < limit], -1, dry_run)
        entries = [entry for entry in entries if entry.used >= limit]
    if keep is not None:
        _drop(cache_dir, removal, entries, keep, dry_run)
    elif older_than is None:
        for kind in kinds:
            of_kind = [entry for entry in entries if entry.kind is kind]
            others = removal.left - sum(entry.bytes for entry in of_kind)
            _drop(cache_dir, removal, of_kind, others + kind.limit, dry_run)
    if not dry_run:
        _remove_abandoned(cache_dir, kinds)
    return removal


def clear(cache_dir: str, kinds: Sequence[Kind] = KINDS, dry_run: bool = False) -> Removal:
    """Remove all entries of some kinds that nobody uses.

    Raises:
        CacheError: The cache folder belongs to another user, or cannot be read.
    """
    return prune(cache_dir, keep=-1, dry_run=dry_run, kinds=kinds)  # entries of no bytes go as well


def _drop(cache_dir: str, removal: Removal, entries: Iterable[Entry], most: int, dry_run: bool) -> None:
    """Remove entries in turn, as long as more than some bytes are left."""
    for entry in entries:
        if removal.left <= most:
            return
        reason = _why_kept(cache_dir, entry, dry_run)
        if reason:
            removal.kept.append((entry, reason))
        else:
            removal.removed.append(entry)
            removal.left -= entry.bytes


def _why_kept(cache_dir: str, entry: Entry, dry_run: bool) -> str:
    """Remove an entry; return why it stays, if it does."""
    if entry.kind.in_folders:
        store = store_of(cache_dir, entry.kind)
        if not store.is_used(entry.key) and (dry_run or store.drop_unused(entry.key)):
            return ""
        return IN_USE if store.is_used(entry.key) else "it cannot be removed" * os.path.lexists(entry.path)
    if dry_run:
        return ""
    try:
        if os.path.isdir(entry.path) and not os.path.islink(entry.path):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
    except FileNotFoundError:  # another process removed it
        return ""
    except OSError as error:
        return f"it cannot be removed: {error.strerror}"
    return ""


def _remove_abandoned(cache_dir: str, kinds: Iterable[Kind]) -> None:
    for kind in kinds:
        if kind.in_folders:
            store_of(cache_dir, kind).remove_abandoned()
        else:
            remove_half_written(os.path.join(cache_dir, kind.folder))
