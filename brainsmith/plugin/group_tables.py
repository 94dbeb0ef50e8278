"""Read the groups that a file declares: `GROUPS = {"name": ["member", ...]}` at its top level."""

from __future__ import annotations

import ast

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.isolation import on_enough_stack
from brainsmith.plugin.literals import shown_expression
from brainsmith.plugin.syntax import assigned
from brainsmith.setting_checks import as_groups

if TYPE_CHECKING:
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
            groups.update(as_groups(on_enough_stack(ast.literal_eval, value)))
        except (ValueError, TypeError, MemoryError, RecursionError):
            text = (
                "GROUPS must be a literal dict of lists of plugin names, because discovery does not run plugin code;"
                f" found {shown_expression(value)}"
            )
            problems.append(Problem(source.file.path, node.lineno, 0, text))
    return groups, problems
