"""Find plugins that cannot work, as far as the text of their file shows, beside errors in decorators' arguments.

Such a plugin has no record, and the file a problem: without it nothing would be said of a plugin that its author
believes to have written.
"""

from __future__ import annotations

import ast
import re
from collections import Counter

from brainsmith import DECORATORS, TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.definition import DECORATOR_TARGETS, DOOR, KINDS, step_message, takes_model_and_cfg
from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.syntax import DefinitionNode, dotted_name

if TYPE_CHECKING:
    from collections.abc import Iterator


_LOOKS_DECORATED = re.compile(rb"^[ \t]*@(?:\w+\.)*(?:%s)\b" % "|".join(DECORATORS).encode(), re.MULTILINE)
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""With what a file in UTF-16 or UTF-32 begins, as some editors write them."""


def looks_like_plugins(data: bytes) -> bool:
    """Tell whether a file's author means plugins, though it may import no decorator, or not be text that Python reads."""
    return data.startswith(_WIDE) or _LOOKS_DECORATED.search(data) is not None


def unbound_decorators(source: PythonSource) -> Iterator[Problem]:
    """Yield decorators that are called as ours and that nothing in the file gives: importing it raises a NameError."""
    candidates = [
        (decorator, name)
        for definition in source.tree.body
        if isinstance(definition, DefinitionNode)
        for decorator in definition.decorator_list
        if (name := dotted_name(getattr(decorator, "func", decorator))).rpartition(".")[2] in DECORATORS
    ]
    if not candidates or any(
        module != DOOR for module in source.stars()
    ):  # that module gives collections alone
        return
    bound = _bound_names(source.tree)
    for decorator, name in candidates:
        head, dot, rest = name.partition(".")
        target = f"{source.binding(head)}{dot}{rest}"
        plain = name.rpartition(".")[2]
        if head not in bound:
            advice = f"import {head}" if dot else f"from brainsmith import {name}"
            text = f"@{name} is not imported, so the file's plugins cannot be loaded: {advice}"
            yield Problem(source.file.path, decorator.lineno, 0, text)
        elif bound[head] == 1 and target.startswith("brainsmith.") and target not in DECORATOR_TARGETS:
            text = f"@{name} must be imported by `from brainsmith import {plain}`; found {target}"
            yield Problem(source.file.path, decorator.lineno, 0, text)


def _bound_names(tree: ast.Module) -> Counter[str]:
    """Return how often anything in a file binds a name, wherever it does: one bound twice may mean either."""
    return Counter(name for node in ast.walk(tree) if (name := _bound_by(node)))


def _bound_by(node: ast.AST) -> str:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, DefinitionNode):
        return node.name
    if isinstance(node, ast.alias):
        return node.asname or node.name.partition(".")[0]
    return ""


def form_problem(plugin_type: str, node: DefinitionNode) -> str:
    """Return why what is decorated cannot be of its type, as far as its own lines show; nothing if it may be.

    Args:
        plugin_type: What the decorator makes of it.
        node: The definition.
    """
    if plugin_type == "step":
        return _step_problem(node)
    if plugin_type not in KINDS:
        return ""
    wanted = KINDS[plugin_type][0]
    if not isinstance(node, ast.ClassDef):
        return f"@{plugin_type} needs {wanted}, not the function {node.name}"
    if not node.bases and not node.keywords:
        return f"@{plugin_type} needs {wanted}, not the class {node.name}()"
    return ""


def _step_problem(node: DefinitionNode) -> str:
    if not isinstance(node, ast.FunctionDef):
        kind = "class" if isinstance(node, ast.ClassDef) else "coroutine"
        return f"@step needs a function (model, cfg) -> model, not the {kind} {node.name}"
    arguments = node.args
    count = len(arguments.posonlyargs) + len(arguments.args)
    by_name = sum(default is None for default in arguments.kw_defaults)
    required = count - len(arguments.defaults)
    if takes_model_and_cfg(count, required, by_name, arguments.vararg is not None):
        return ""
    return step_message(node.name, required + by_name)
