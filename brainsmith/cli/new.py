"""`brainsmith new KIND NAME`: a plugin with its test, or a package of plugins."""

from __future__ import annotations

import os
from pathlib import Path

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Write the files, and say how they are tried."""
    kind, name = options.required("KIND"), options.required("NAME")
    if kind == "package":
        _package(name, terminal)
    else:
        _plugin(kind, name, terminal)
    return 0


def _plugin(kind: str, name: str, terminal: Terminal) -> None:
    from brainsmith.cli.terminal import complain
    from brainsmith.scaffold.new_plugin import new_plugin
    from brainsmith.scaffold.new_project import project_here
    from brainsmith.scaffold.plugin_names import check_plugin_name

    check_plugin_name(kind, name)
    made = new_plugin(kind, name, project_here())
    _list(made.paths, terminal)
    if made.note:
        complain(f"warning: {made.note}")
    # From a folder below the project's, the paths are still right: the project is found from there, too.
    terminal.write(f"test it: python -m pytest {_relative(made.test)}")
    terminal.write(f"see it: brainsmith plugins show {name}")


def _package(name: str, terminal: Terminal) -> None:
    from brainsmith.scaffold.new_package import new_package

    _list(new_package(name, Path()), terminal)
    terminal.write(f"install it: python -m pip install --editable './{name}[test]'")
    terminal.write(f"test it: python -m pytest {name}")


def _list(paths: list[Path], terminal: Terminal) -> None:
    for path in paths:
        terminal.write(f"wrote {_relative(path)}")
    terminal.write("")


def _relative(path: Path) -> str:
    return os.path.relpath(path)
