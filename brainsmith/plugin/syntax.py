"""Parse Python text, and read what its syntax tree says of names and of what runs at import."""

from __future__ import annotations

import ast
import re
import warnings

from brainsmith import TYPE_CHECKING
from brainsmith.forks import lock_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

DefinitionNode = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
"""The syntax tree of a class or function."""

_ATTEMPTS = 5
_PARSING = lock_of()
_COMMENT = re.compile(rb"#[^\n]*")


def parse(text: bytes | str, path: str = "<text>") -> ast.Module:
    """Parse Python text, without the warnings that its strings may cause.

    Raises:
        SyntaxError: It is not Python.
    """
    try:
        tree: ast.Module = _undisturbed(_parse_alone, text, path)
    except ValueError as error:  # a null byte
        raise SyntaxError(str(error)) from error
    return tree


def check_compiles(text: bytes, path: str) -> None:
    """Find what only compiling finds, such as a `return` outside of a function.

    The text is compiled, as an import does it: of its syntax tree Python compiles less deep expressions.

    Raises:
        SyntaxError: It is no Python program.
    """
    _undisturbed(_compile_alone, text, path)


def _undisturbed(function: Callable[..., Any], *arguments: Any) -> Any:
    for _ in range(_ATTEMPTS):
        try:
            with _PARSING:
                return function(*arguments)
        except SystemError:
            continue  # somebody else's thread parsed meanwhile: the interpreter counts both nestings together
    return function(*arguments)


def _compile_alone(text: bytes, path: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, path, "exec", dont_inherit=True)


def _parse_alone(text: bytes | str, path: str) -> ast.Module:
    backslash = "\\" if isinstance(text, str) else b"\\"
    if backslash not in text:  # type: ignore[operator]
        return ast.parse(text, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, path)


def without_comments(text: bytes) -> bytes:
    """Return text in which no string holds a number sign, without its comments."""
    return _COMMENT.sub(b"", text)


def dotted_name(node: ast.expr) -> str:
    """Return `a.b.c` for such an expression (or for its generic form `a.b.c[T]`); empty for any other."""
    parts: list[str] = []
    if isinstance(node, ast.Subscript):
        node = node.value
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def assigned(node: ast.stmt) -> tuple[str, ast.expr | None]:
    """Return the name that a statement assigns to, and the value; no name where it assigns to none, or to several."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def statements_at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run at import, those within `if` and `try` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from statements_at_import(node.body + node.orelse)
        elif isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            yield from statements_at_import(node.body + handlers + node.orelse + node.finalbody)
        elif isinstance(node, ast.With):
            yield from statements_at_import(node.body)
