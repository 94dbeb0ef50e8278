"""Write parameters as they stand in a type stub, of what their source says."""

from __future__ import annotations

import ast

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.details import REQUIRED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.plugin.details import Parameter

_GENERIC = {
    **dict.fromkeys(("Dict", "Mapping", "dict"), "Any, Any"),
    "Callable": "..., Any",
    **dict.fromkeys(("Iterable", "Iterator", "List", "Sequence", "Set", "Type"), "Any"),
    **dict.fromkeys(("frozenset", "list", "set", "type"), "Any"),
    **dict.fromkeys(("Tuple", "tuple"), "Any, ..."),
}
"""The arguments of generic types where an annotation has none."""

_PLAIN = ("Any", "Literal", "None", "Optional", "Union", "bool", "bytes", "float", "int", "object", "str")
_KNOWN = frozenset((*_GENERIC, *_PLAIN))
"""The names that an annotation may use in the stub; what uses others becomes Any."""


def signature(parameters: Iterable[Parameter]) -> str:
    """Return parameters as they stand in a stub: annotations that it can resolve, and literal defaults."""
    parts: list[str] = []
    many = False
    for parameter in parameters:
        if parameter.keyword_only and not many:
            parts.append("*")
            many = True
        many = many or (parameter.name.startswith("*") and not parameter.name.startswith("**"))
        text = f"{parameter.name}: {annotation(parameter)}"
        if parameter.default != REQUIRED:
            text += f" = {parameter.default if _is_short_literal(parameter.default) else '...'}"
        parts.append(text)
    return ", ".join(parts)


def annotation(parameter: Parameter) -> str:
    """Return a parameter's annotation as the stub can resolve it; Any for all others."""
    try:
        tree = ast.parse(parameter.annotation, mode="eval")
        if isinstance(tree.body, ast.Constant) and isinstance(tree.body.value, str):  # a forward reference
            tree = ast.parse(tree.body.value, mode="eval")
    except SyntaxError:
        return "Any"
    tree = _WithArguments().visit(tree)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if names - _KNOWN or any(isinstance(node, ast.Attribute | ast.Call) for node in ast.walk(tree)):
        return "Any"
    text = ast.unparse(tree)
    if parameter.default == "None" and "Optional" not in names and "None" not in text and text != "Any":
        return f"{text} | None"
    return text


class _WithArguments(ast.NodeTransformer):
    """Gives generic types that stand alone, such as `list`, their arguments, which strict type checkers ask for."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        node.slice = self.visit(node.slice)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        arguments = _GENERIC.get(node.id)
        return node if arguments is None else ast.parse(f"{node.id}[{arguments}]", mode="eval").body


def _is_short_literal(text: str) -> bool:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return isinstance(value, str | int | float | bool | bytes | None) and len(text) <= 60
