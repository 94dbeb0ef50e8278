"""`brainsmith plugins stubs`: type stubs of the door."""

from __future__ import annotations

import brainsmith.plugins as door
from brainsmith import TYPE_CHECKING
from brainsmith.figures import plural
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.stubs import COLLECTIONS, DEFAULT_FOLDER, write_stubs

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Write the stubs and say what to do with them."""
    folder = options.text("--output") or DEFAULT_FOLDER
    manager = get_plugin_manager()
    manager.discover_plugins(modes=["full"])
    path = write_stubs(manager.registry, door_names(), folder)
    terminal.write(f"{path}: {plural(len(manager.registry), 'plugin')}")
    if folder == DEFAULT_FOLDER:
        terminal.write("pyright and Pylance read it as it is; for mypy set mypy_path = typings")
    else:
        terminal.write(f"pyright: set stubPath to {folder}; mypy: set mypy_path to {folder}")
    return 0


def door_names() -> dict[str, str]:
    """Return the door's names that are no collections, with the modules that they come from."""
    return {name: getattr(door, name).__module__ for name in dir(door) if name not in COLLECTIONS}
