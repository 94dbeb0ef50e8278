"""Read the groups that a file declares: `GROUPS = {"name": ["member", ...]}` at its top level."""

from __future__ import annotations

import ast

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.isolation import on_enough_stack
from brainsmith.plugin.literals import shown_expression
from brainsmith.plugin.syntax import assigned

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.python_source import PythonSource


def declared_groups(source: PythonSource) -> tuple[dict[str, tuple[str, ...]], list[Problem]]:
    """Return the members of each group by its name, and what is wrong with declarations.

    Raises:
        SyntaxError: The file is not Python.
    """
    groups: dict[str, tuple[str, ...]] = {}
    problems: list[Problem] = []
    if b"\nGROUPS" not in source.data and not source.data.startswith(b"GROUPS"):
        return groups, problems
    for node in source.tree.body:
        target, value = assigned(node)
        if target != "GROUPS" or value is None:
            continue
        try:
            table = on_enough_stack(ast.literal_eval, value)
        except (ValueError, TypeError, MemoryError, RecursionError):
            table = None
        if _is_group_table(table):
            groups.update({name: tuple(members) for name, members in table.items()})
        else:
            text = (
                "GROUPS must be a literal dict of lists of plugin names, because discovery does not run plugin code;"
                f" found {shown_expression(value)}"
            )
            problems.append(Problem(source.file.path, node.lineno, 0, text))
    return groups, problems


def _is_group_table(table: Any) -> bool:
    return isinstance(table, dict) and all(
        isinstance(name, str)
        and isinstance(members, list | tuple)
        and all(isinstance(m, str) for m in members)
        for name, members in table.items()
    )
