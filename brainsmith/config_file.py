"""Read a configuration file: YAML with positions. Imported only when a file has changed since it was last read."""

from __future__ import annotations

from typing import Any

from brainsmith.errors import Problem
from brainsmith.yaml_file import read_root
from brainsmith.yaml_nodes import YamlDocument

SECTION = "plugin_system"
"""The key under which all settings stand."""

Setting = tuple[Any, int, int]
"""A value, and the 1-based line and column of its name."""


def read_config_file(path: str, problems: list[Problem]) -> dict[str, Setting]:
    """Return the values under `SECTION` by name, each with its line and column.

    Args:
        path: The file.
        problems: What cannot be read is added here, with its place.
    """
    root = read_root(path, "a settings file")
    if isinstance(root, Problem):
        problems.append(root)
    if root is None or isinstance(root, Problem):
        return {}
    document = YamlDocument(path)
    sections = document.mapping(root, "the settings", (SECTION,))
    settings = document.pairs(sections[SECTION][1], SECTION) if SECTION in sections else {}
    values = {}
    for name, (key, node) in settings.items():
        found = len(document.problems)
        value = document.plain(node, name)
        if len(document.problems) == found:
            values[name] = (value, *document.place(key)[1:])
    problems.extend(document.problems)
    return values
