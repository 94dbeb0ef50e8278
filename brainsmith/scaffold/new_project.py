"""A new project: settings, a folder of plugins, a blueprint and its schema for editors."""

from __future__ import annotations

import json
from pathlib import Path

from brainsmith.blueprint.json_schema import json_schema
from brainsmith.errors import ProjectError
from brainsmith.scaffold.new_files import filled, write_new
from brainsmith.settings import PROJECT_FOLDER, find_project

FILES = {
    f"{PROJECT_FOLDER}/config.yaml": "project_config.yaml",
    "plugins/README.md": "project_plugins.md",
    "blueprints/my_model.yaml": "project_blueprint.yaml",
}
"""The template of each file."""

SCHEMA = "blueprints/blueprint.schema.json"


def new_project(folder: Path) -> list[Path]:
    """Make a folder a project; return the files that were written.

    Raises:
        ProjectError: It is one already, or one of the files exists. Then nothing is written.
        OutputError: A file cannot be written.
    """
    if (folder / PROJECT_FOLDER).exists():
        raise ProjectError(
            f"{folder.absolute()} is a project already: it has {PROJECT_FOLDER} in it\n"
            "  brainsmith new KIND NAME adds a plugin to it"
        )
    texts = {path: filled(template, {}) for path, template in FILES.items()}
    return write_new(folder, {**texts, SCHEMA: f"{json.dumps(json_schema(), indent=1)}\n"})


def project_here() -> Path:
    """Return the folder of the project that the current folder belongs to.

    Raises:
        ProjectError: There is none.
    """
    found = find_project()
    if found is None:
        raise ProjectError(
            f"no project here: neither this folder nor one above it has {PROJECT_FOLDER} in it\n"
            "  brainsmith init makes this folder a project"
        )
    return Path(found)
