"""In which parts of a function a variable has the meaning that a binding gives it: read in its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, *_COMPREHENSIONS, ast.Module)
_NAMES = {
    ast.Lambda: "<lambda>",
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
    ast.Module: "<module>",
}


class Place(NamedTuple):
    """A place in a file: 1-based line, and column in bytes."""

    line: int
    column: int


class Span(NamedTuple):
    """From where to where a binding holds."""

    start: Place
    end: Place

    def holds(self, place: Place) -> bool:
        """Tell whether a place lies within."""
        return self.start <= place < self.end


def is_current(name: str, tree: ast.Module, code: CodeType, place: Place) -> bool:
    """Tell whether a variable of a function means, at a place, what a binding around that place gave it.

    Args:
        name: The variable's.
        tree: The file.
        code: The function.
        place: In the function; where in a loop's header, the loop's variable is that of the turn before.
    """
    scope = _scope(tree, code, place)
    if scope is None:
        return False
    spans = list(_spans(name, scope))
    around = [span for span in spans if span.holds(place)]
    if not around:
        return False
    innermost = max(around, key=lambda span: span.start)
    return not any(innermost.start < span.start <= place for span in spans if not span.holds(place))


def _scope(tree: ast.Module, code: CodeType, place: Place) -> ast.AST | None:
    """Return the function, comprehension or module that code was compiled from."""
    found: ast.AST | None = None
    for node in ast.walk(tree):
        if isinstance(node, _SCOPES) and _is_made_of(node, code) and _holds(node, place):
            found = node  # the innermost comes last
    return found


def _is_made_of(node: ast.AST, code: CodeType) -> bool:
    name = getattr(node, "name", None) or _NAMES.get(type(node), "")
    if name != code.co_name or isinstance(node, ast.Module):
        return bool(name == code.co_name)
    first = min((node, *getattr(node, "decorator_list", ())), key=lambda item: int(item.lineno))
    return bool(first.lineno == code.co_firstlineno)


def _holds(node: ast.AST, place: Place) -> bool:
    return isinstance(node, ast.Module) or _of(node).holds(place)


def _of(first: ast.AST, last: ast.AST | None = None) -> Span:
    end = last or first
    return Span(
        Place(first.lineno, first.col_offset),  # type: ignore[attr-defined]
        Place(end.end_lineno, end.end_col_offset),  # type: ignore[attr-defined]
    )


def _spans(name: str, scope: ast.AST) -> Iterator[Span]:
    """Yield where each binding of a variable holds in a scope."""
    if isinstance(scope, _COMPREHENSIONS):
        if any(_binds(name, generator.target) for generator in scope.generators):
            made = [scope.key, scope.value] if isinstance(scope, ast.DictComp) else [scope.elt]
            yield from map(_of, [*made, *(test for generator in scope.generators for test in generator.ifs)])
        return
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        body = scope.body if isinstance(scope.body, list) else [scope.body]
        if any(isinstance(node, ast.arg) and node.arg == name for node in ast.walk(scope.args)):
            yield _of(body[0], body[-1])
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        for block in _blocks(scope.body):
            yield from _spans_in_block(name, block)


def _blocks(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yield a block and those within it, but for those of other scopes."""
    yield body
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for holder in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            for part in ("body", "orelse", "finalbody"):
                if block := getattr(holder, part, None):
                    yield from _blocks(block)


def _spans_in_block(name: str, block: list[ast.stmt]) -> Iterator[Span]:
    for at, statement in enumerate(block):
        if isinstance(statement, ast.For | ast.AsyncFor):
            bound_for_body = _binds(name, statement.target)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            bound_for_body = any(_binds(name, item.optional_vars) for item in statement.items)
        else:
            bound_for_body = False
        if bound_for_body:
            yield _of(statement.body[0], statement.body[-1])  # type: ignore[attr-defined]
        elif bound := _assigned(name, statement):
            yield Span(_of(bound).end, _of(_last_reading(name, block[at:])).end)


def _last_reading(name: str, statements: list[ast.stmt]) -> ast.stmt:
    """Return the last statement that reads what the first one assigned: none from which on another value may be there."""
    last = statements[0]
    for statement in statements[1:]:
        changed = _has(name, statement, ast.Store)
        if _has(name, statement, ast.Load) and not (changed and hasattr(statement, "body")):
            last = statement
        if changed:
            break
    return last


def _assigned(name: str, statement: ast.stmt) -> ast.AST | None:
    """Return what assigns a value to a variable in a statement, not counting the blocks within it."""
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    if any(_binds(name, target) for target in targets):
        return statement
    expressions = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)]
    named = (node for child in expressions for node in ast.walk(child) if isinstance(node, ast.NamedExpr))
    return next((node for node in named if _binds(name, node.target)), None)


def _binds(name: str, target: ast.expr | None) -> bool:
    return target is not None and _has(name, target, ast.Store)


def _has(name: str, tree: ast.AST, context: type[ast.expr_context]) -> bool:
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, context) and node.id == name
        for node in ast.walk(tree)
    )
