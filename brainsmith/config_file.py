"""Read a configuration file: YAML with positions. Imported only when a file has changed since it was last read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from brainsmith.errors import Problem

Setting = tuple[Any, int, int]
"""A value, and the 1-based line and column of its name."""


def read_config_file(path: str, problems: list[Problem]) -> dict[str, Setting]:
    """Return the values under `plugin_system` by name, each with its line and column.

    Args:
        path: The file.
        problems: What cannot be read is added here, with its place.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except OSError as error:
        problems.append(Problem(path, 0, 0, f"the settings cannot be read: {error.strerror}"))
        return {}
    except UnicodeDecodeError as error:
        problems.append(Problem(path, 0, 0, f"the settings must be UTF-8 text: {error.reason}"))
        return {}
    except yaml.YAMLError as error:
        problems.append(_not_yaml(path, error))
        return {}
    if root is None or root.tag == "tag:yaml.org,2002:null":
        return {}
    return _plugin_system(root, path, problems)


def _plugin_system(root: yaml.Node, path: str, problems: list[Problem]) -> dict[str, Setting]:
    values: dict[str, Setting] = {}
    if not isinstance(root, yaml.MappingNode):
        problems.append(Problem(path, 1, 1, "the settings must be a table with the key plugin_system"))
        return values
    constructor = yaml.SafeLoader("")
    for key, value in root.value:
        line, column = key.start_mark.line + 1, key.start_mark.column + 1
        if key.value != "plugin_system":
            text = f"there is no section {key.value!r}; there is plugin_system"
            problems.append(Problem(path, line, column, text))
        elif isinstance(value, yaml.MappingNode):
            for name, item in value.value:
                _add_setting(constructor, name, item, path, values, problems)
        elif value.tag != "tag:yaml.org,2002:null":
            problems.append(Problem(path, line, column, "plugin_system must be a table of settings"))
    return values


def _add_setting(
    constructor: yaml.SafeLoader,
    name: yaml.Node,
    item: yaml.Node,
    path: str,
    values: dict[str, Setting],
    problems: list[Problem],
) -> None:
    line, column = name.start_mark.line + 1, name.start_mark.column + 1
    if not isinstance(name, yaml.ScalarNode):
        problems.append(Problem(path, line, column, "a setting's name must be a word"))
        return
    if name.value in values:
        problems.append(Problem(path, line, column, f"{name.value} is set twice"))
        return
    try:
        values[name.value] = (constructor.construct_object(item, deep=True), line, column)
    except yaml.YAMLError as error:
        problems.append(_not_yaml(path, error, line, column))


def _not_yaml(path: str, error: yaml.YAMLError, line: int = 0, column: int = 0) -> Problem:
    """Return the problem of a text that is not YAML, at the place that the error states or else a given one."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        line, column = mark.line + 1, mark.column + 1
    reason = getattr(error, "problem", None) or getattr(error, "reason", None)
    return Problem(path, line, column, f"the settings are not YAML: {reason}")
