"""A new package of plugins: a distribution that pip installs, with a plugin, its test, and a workflow for CI."""

from __future__ import annotations

from pathlib import Path

from brainsmith import __version__
from brainsmith.scaffold.new_files import filled, write_new
from brainsmith.scaffold.plugin_names import camel_case, check_plugin_name, file_name


def new_package(name: str, parent: Path) -> list[Path]:
    """Write a package into a new folder of its name; return the files.

    Args:
        name: Of the distribution, such as `acme-plugins`.
        parent: The folder for its folder.

    Raises:
        UsageError: It cannot be called so.
        ProjectError: One of the files exists. Then nothing is written.
        OutputError: A file cannot be written.
    """
    check_plugin_name("package", name)
    module = file_name("package", name)
    plugin = f"{camel_case(module)}RemoveIdentity"
    values = {"package": name, "module": module, "version": __version__, "Name": plugin, "name": plugin}
    stem = file_name("transform", plugin)
    templates = {
        "pyproject.toml": "package_pyproject.toml",
        "README.md": "package_readme.md",
        ".gitignore": "package_gitignore",
        ".github/workflows/ci.yml": "package_ci.yml",
        f"src/{module}/__init__.py": "package_init.py",
        f"src/{module}/{stem}.py": "transform.py",
        f"tests/test_{stem}.py": "package_test.py",
    }
    return write_new(parent / name, {path: filled(source, values) for path, source in templates.items()})
