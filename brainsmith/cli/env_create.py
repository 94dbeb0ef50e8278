"""`brainsmith env create NAME`: make an environment that the settings state by requirements."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.environments.creation import create
from brainsmith.settings import load_settings

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Make it, and say where it is."""
    name = options.required("NAME")
    root, made = create(name, load_settings())
    if made:
        terminal.write(f"environment {name} is made: {root}")
    else:
        terminal.write(
            f"environment {name} is made already: {root}; to make it anew, remove this folder first"
        )
    return 0
