"""`brainsmith lock FILE`: write what builds of a blueprint use into its lock, or compare the two."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.blueprint.resolve import check_blueprint
from brainsmith.build.blueprint_lock import changes, lock_file, read_lock, upgraded, used_by, write_lock
from brainsmith.cli.plugins_list import warn_of_problems
from brainsmith.errors import LockError, UsageError
from brainsmith.figures import plural
from brainsmith.plugin.manager import get_plugin_manager

if TYPE_CHECKING:
    from pathlib import Path

    from brainsmith.build.blueprint_lock import LockChange
    from brainsmith.build.environment import Environment
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Write or check a lock; with --check return 1 if anything differs."""
    path, names = options.required("FILE"), options.texts("--upgrade")
    if names and options.flag("--check"):
        raise UsageError("--check changes nothing, and --upgrade does: leave one of them out")
    file = lock_file([path])
    manager = get_plugin_manager()
    registry, _ = manager.all_records()
    _, selection = check_blueprint(path, registry, overrides=options.texts("--set"))
    now = used_by(selection, registry)
    if options.flag("--check"):
        found = changes(read_lock(file), now)
        _give(file, "differs" if found else "same", found, [], terminal)
    else:
        before = _before(file, needed=bool(names))
        made = upgraded(before, now, names) if names and before is not None else now
        write_lock(file, made)
        found = []
        _give(file, "written", [] if before is None else changes(before, made), changes(made, now), terminal)
    warn_of_problems(manager)
    return 1 if found else 0


def _before(file: Path, needed: bool) -> Environment | None:
    """Return the lock that there is; None if there is none, or if it is damaged and all of it is written anew."""
    try:
        return read_lock(file)
    except LockError:
        if needed:
            raise
        return None


def _give(
    file: Path, state: str, found: list[LockChange], left: list[LockChange], terminal: Terminal
) -> None:
    terminal.give(
        lambda: {"lock": file, "state": state, "changes": _plain(found), "left": _plain(left), "error": None},
        lambda: _show(file, state, found, left, terminal),
    )


def _plain(found: list[LockChange]) -> list[dict[str, str | None]]:
    return [{"kind": one.kind, "name": one.name, "before": one.before, "now": one.now} for one in found]


def _show(
    file: Path, state: str, found: list[LockChange], left: list[LockChange], terminal: Terminal
) -> None:
    for each in found:
        terminal.write(str(each))
    said = {"differs": "does not hold here", "same": "holds here", "written": "is written"}
    many = f": {plural(len(found), 'change')}" if found else ""
    terminal.write(f"{file} {said[state]}{many}")
    if left:
        terminal.write("builds with --locked still refuse:")
    for each in left:
        terminal.write(f"  {each}")
