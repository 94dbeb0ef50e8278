"""Read what a decorator's arguments are without running them."""

from __future__ import annotations

import ast

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginDefinitionError
from brainsmith.plugin.bindings import is_bound_once
from brainsmith.plugin.info import Priority
from brainsmith.plugin.isolation import on_enough_stack
from brainsmith.plugin.syntax import dotted_name
from brainsmith.shown import cut

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.python_source import PythonSource

_PRIORITIES = {
    f"{home}.Priority.{name}": value
    for home in ("brainsmith.plugin.info", "brainsmith.targets")
    for name, value in vars(Priority).items()
    if name.isupper()
}
"""The names that may stand for numbers, since everybody writes priorities by them."""


def literal_arguments(
    decorator: ast.expr, plugin_type: str, offset: int, source: PythonSource
) -> dict[str, Any]:
    """Return the keywords of a decorator.

    Args:
        decorator: Its expression.
        plugin_type: What it makes, for messages.
        offset: What to add to the expression's lines to have the lines in the file.
        source: The file.

    Raises:
        PluginDefinitionError: An argument is positional, or no literal.
    """
    if not isinstance(decorator, ast.Call):
        return {}
    path, because = source.file.path, "because discovery does not run plugin code"
    if decorator.args:
        raise PluginDefinitionError(
            f'{path}:{decorator.lineno + offset}: @{plugin_type} takes keywords only, such as @{plugin_type}(name="X");'
            f" found {shown_expression(decorator.args[0])}"
        )
    values: dict[str, Any] = {}
    for keyword in sorted(decorator.keywords, key=lambda keyword: keyword.arg is None):
        place = f"{path}:{keyword.value.lineno + offset}"
        if keyword.arg is None:
            raise PluginDefinitionError(
                f"{place}: @{plugin_type} must be given its keywords as literals, {because}; "
                f"found **{shown_expression(keyword.value)}"
            )
        try:
            values[keyword.arg] = on_enough_stack(_value, keyword.value, source)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise PluginDefinitionError(
                f"{place}: {keyword.arg}= of @{plugin_type} must be a literal, {because}; "
                f"found {shown_expression(keyword.value)}"
            ) from None
    return values


def shown_expression(node: ast.expr) -> str:
    """Return an expression as messages show it: cut where it is long."""
    try:
        return cut(on_enough_stack(ast.unparse, node))
    except (RecursionError, MemoryError):
        return "an expression that is nested too deeply to be shown"


def _value(node: ast.expr, source: PythonSource) -> Any:
    """Return what an argument is without running it: a literal, or a priority by its name (`Priority.HIGH`)."""
    if isinstance(node, ast.Attribute):
        head, _, rest = dotted_name(node).partition(".")
        target = f"{source.binding(head)}.{rest}"
        if target in _PRIORITIES and is_bound_once(source, head):
            return _PRIORITIES[target]
    return ast.literal_eval(node)
