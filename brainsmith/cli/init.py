"""`brainsmith init`: make a folder a project."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote

from brainsmith import TYPE_CHECKING
from brainsmith.errors import ProjectError

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

ABOUT = {
    "config.yaml": "the settings of this project",
    "README.md": "the folder of its plugins",
    "my_model.yaml": "a blueprint to begin with",
    "blueprint.schema.json": "with which editors complete and check blueprints",
}
"""What each file is for, by its name."""


def run(options: Options, terminal: Terminal) -> int:
    """Write the files, and say what comes next."""
    from brainsmith.scaffold.new_project import new_project

    given = options.text("DIR") or "."
    folder = Path(given)
    if folder.exists() and not folder.is_dir():
        raise ProjectError(f"{folder} is a file, and a project is a folder")
    written = new_project(folder)
    terminal.pairs([(f"wrote {path}", ABOUT[path.name]) for path in written])
    terminal.write("")
    terminal.write("next:")
    steps = [
        ("brainsmith new transform MyPass", "a plugin, and its test"),
        ("python -m pytest", "runs the tests"),
        ("brainsmith blueprint check blueprints/my_model.yaml", "what the blueprint selects"),
        (
            "brainsmith build MODEL.onnx --blueprint blueprints/my_model.yaml --output out/my_model",
            "a circuit",
        ),
    ]
    enter = [] if os.path.samefile(folder, ".") else [(f"cd {quote(str(given))}", "")]
    terminal.pairs([*enter, *steps], "  ")
    return 0
