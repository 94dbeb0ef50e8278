"""The lock of a blueprint: what its builds use, by version and content, in a file beside it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from brainsmith.blueprint.outputs import RTL_STEPS
from brainsmith.build.environment import environment_of, short
from brainsmith.close_names import did_you_mean
from brainsmith.errors import LockError
from brainsmith.plugin.read_rules import FRAMEWORKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from brainsmith.blueprint.selection import Selection
    from brainsmith.build.environment import Environment
    from brainsmith.plugin.plugin_registry import Registry

FORMAT = 1
_ANEW = "brainsmith lock writes it anew"
_RTL_KEYS = frozenset(f"step:{name}" for name in RTL_STEPS)
_KINDS = ("plugin", "plugin file", "package", "tool")
_FILE_DIGEST = re.compile(r"\(([0-9a-f]{40})\)$")


@dataclass(frozen=True)
class LockChange:
    """What differs between a lock and what is here.

    Attributes:
        kind: `plugin`, `plugin file`, `package` or `tool`.
        name: Of a plugin `type:framework:Name`.
        before: What the lock has; None if it has nothing of that name.
        now: What is here; None if nothing is.
    """

    kind: str
    name: str
    before: str | None
    now: str | None

    def __str__(self) -> str:
        what = f"{self.kind} {self.name}"
        if self.before is None:
            return f"{what} is new{'' if self.kind == 'plugin file' else f': {short(str(self.now))}'}"
        if self.now is None:
            return f"{what} is no longer used or not installed"
        if self.kind == "plugin file":
            return f"{what} has other content"
        return f"{what} was {short(self.before)}, and is {short(self.now)}"

    @property
    def is_of_unused(self) -> bool:
        """Whether the lock has a framework's plugin that is not used: a lock may hold more than one build needs."""
        return self.kind == "plugin" and self.now is None and self.name.split(":")[1] in FRAMEWORKS


def lock_file(blueprint: Sequence[str]) -> Path:
    """Return where the lock of a blueprint lies: beside it, with the suffix `.lock`.

    Raises:
        LockError: There is no blueprint, or there are several files.
    """
    if len(blueprint) != 1:
        found = f"{len(blueprint)} files" if blueprint else "no blueprint"
        raise LockError(
            f"a lock is that of one blueprint, and this build has {found}: let one file extend the others (extends:)"
        )
    return Path(blueprint[0]).with_suffix(".lock")


def used_by(
    selection: Selection, registry: Registry, frameworks: Mapping[str, str] | None = None
) -> Environment:
    """Return what builds of a blueprint use, however far they go: plugins, their files, packages and tools.

    Args:
        selection: What the blueprint selects.
        registry: Where plugins are.
        frameworks: As `framework_versions` gave them a moment ago; None to ask.
    """
    beyond = [step.record for step in selection.left_out if step.record is not None]
    rtl = [info for info in registry.known() if info.key in _RTL_KEYS and info.framework == "brainsmith"]
    return environment_of([*selection.records, *beyond, *rtl], registry, True, frameworks)


def read_lock(file: Path) -> Environment:
    """Read a lock.

    Raises:
        LockError: There is none, or it cannot be read, or is damaged, or of another version of BrainSmith.
    """
    try:
        plain = json.loads(file.read_text("utf-8"))
    except FileNotFoundError as error:
        raise LockError(f"there is no {file}: brainsmith lock {_blueprint_of(file)} writes it") from error
    except OSError as error:
        raise LockError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise LockError(f"{file} is damaged: {error}; {_ANEW}") from error
    found = plain.get("lock") if isinstance(plain, dict) else None
    if found != FORMAT:
        must = f"its 'lock' must be {FORMAT}, not {found!r}"
        raise LockError(f"{file} is no lock of this version of BrainSmith: {must}; {_ANEW}")
    kinds = {kind: plain.get(kind) for kind in _KINDS}
    for kind, values in kinds.items():
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            raise LockError(f"{file} is damaged: {kind!r} must be a table of texts; {_ANEW}")
    return kinds


def write_lock(file: Path, used: Environment) -> None:
    """Write a lock; the file is replaced at once.

    Raises:
        LockError: It cannot be written.
    """
    plain = {"lock": FORMAT, **{kind: dict(sorted(used[kind].items())) for kind in _KINDS}}
    made = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        made.write_text(json.dumps(plain, indent=1, ensure_ascii=False) + "\n", "utf-8")
        made.replace(file)
    except OSError as error:
        made.unlink(missing_ok=True)
        raise LockError(f"{file} cannot be written: {error.strerror}") from error


def changes(before: Environment, now: Environment) -> list[LockChange]:
    """Return what differs between a lock and what is here."""
    return [
        LockChange(kind, name, old, new)
        for kind in _KINDS
        for name, old, new in _unequal(before[kind], now[kind])
    ]


def _unequal(
    before: Mapping[str, str], now: Mapping[str, str]
) -> Iterator[tuple[str, str | None, str | None]]:
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if old != new:
            yield name, old, new


def upgraded(before: Environment, now: Environment, names: Sequence[str]) -> Environment:
    """Return a lock in which some names are as they are here, and all others as they were.

    A plugin is taken over with its file, and a file with the plugins in it: a build that uses one uses the other.

    Args:
        before: The lock.
        now: What is here.
        names: Plugins (`Name`, `framework:Name` or `type:framework:Name`), files, packages or tools.

    Raises:
        LockError: Neither has one of the names.
    """
    entries = [(kind, name) for kind in _KINDS for name in {*before[kind], *now[kind]}]
    named = set[tuple[str, str]]()
    for wanted in names:
        found = {entry for entry in entries if wanted in _names(*entry)}
        if not found:
            known = {part for entry in entries for part in _names(*entry)}
            raise LockError(f"neither the lock nor what is here has {wanted!r}{did_you_mean(wanted, known)}")
        named |= found
    made = {kind: dict(before[kind]) for kind in _KINDS}
    for kind, name in _with_their_files(named, entries, before, now):
        made[kind].pop(name, None)
        if name in now[kind]:
            made[kind][name] = now[kind][name]
    return made


def _with_their_files(
    named: set[tuple[str, str]], entries: Sequence[tuple[str, str]], before: Environment, now: Environment
) -> set[tuple[str, str]]:
    """Return entries, the plugins in files among them, and the files of those plugins with all plugins in them."""
    taken = set(named)
    for kind in ("plugin", "plugin file", "plugin"):
        # Files of one content are not one file: only plugins lead to files.
        contents = {
            (_content(before, *each), _content(now, *each))
            for each in taken
            if kind == "plugin" or each[0] == "plugin"
        }
        taken |= {
            each
            for each in entries
            if each[0] == kind
            and any(
                _is_one_file((_content(before, *each), _content(now, *each)), other) for other in contents
            )
        }
    return taken


def _content(of: Environment, kind: str, name: str) -> str | None:
    """Return the digest of a plugin's file, or of a file; None if there is none."""
    found = of[kind].get(name)
    if found is None or kind == "plugin file":
        return found
    digest = _FILE_DIGEST.search(found) if kind == "plugin" else None
    return digest[1] if digest else None


def _is_one_file(one: tuple[str | None, str | None], other: tuple[str | None, str | None]) -> bool:
    """Whether contents before and now can be those of one file: one of the two is shared, and neither is contradicted."""
    pairs = [(mine, theirs) for mine, theirs in zip(one, other, strict=True) if mine and theirs]
    return bool(pairs) and all(mine == theirs for mine, theirs in pairs)


def _names(kind: str, name: str) -> tuple[str, ...]:
    """Return what a user may call an entry."""
    return (name, name.partition(":")[2], name.rpartition(":")[2]) if kind == "plugin" else (name,)


def hold_to_lock(
    file: Path, selection: Selection, registry: Registry, frameworks: Mapping[str, str] | None = None
) -> None:
    """Refuse a build that uses anything else than the lock has.

    Args:
        file: The lock.
        selection: What the blueprint selects here.
        registry: Where plugins are.
        frameworks: As `framework_versions` gave them a moment ago; None to ask.

    Raises:
        LockError: There is no lock, or something differs; the message names all, with old and new.
    """
    found = [
        each
        for each in changes(read_lock(file), used_by(selection, registry, frameworks))
        if not each.is_of_unused
    ]
    if not found:
        return
    one = f"to take one of these over: brainsmith lock {_blueprint_of(file)} --upgrade NAME; without --upgrade all"
    raise LockError("\n  ".join([f"{file} does not hold here:", *map(str, found), one]))


def _blueprint_of(lock: Path) -> str:
    """Return the blueprint of a lock as a shell takes it."""
    return quote(str(lock.with_suffix(".yaml")))
