"""Conditions over the choices of a design space and the figures of its points: ``bits <= 4 or fps >= 1000``.

A small language with the syntax of Python's expressions. It is read as a tree, of which a function is made here, for many
points at once; nothing of Python can be reached from it.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from brainsmith.errors import ConditionError

MOST_CHARACTERS = 1000

Values = Mapping[str, Any]
"""By name: plain values, or arrays of one length with a value for each point."""
Made = Callable[[Values], Any]

_BINARY: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: Mapping[type[ast.AST], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: lambda value: np.logical_not(_truth(value)),
}
_COMPARISONS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_JOINED = {ast.And: np.logical_and, ast.Or: np.logical_or}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {"min": np.minimum, "max": np.maximum}
_FORMS = "numbers, strings, names, + - * / // %, comparisons, in, and, or, not, min and max"


class Condition:
    """One condition.

    Attributes:
        text: As it is written.
        names: The names in it, such as ``bits`` or ``target.fps``.
    """

    def __init__(self, text: str) -> None:
        """Read a condition.

        Raises:
            ConditionError: It has something else.
        """
        self.text = text
        self._names: dict[str, None] = {}
        if len(text) > MOST_CHARACTERS:
            raise ConditionError(
                f"a condition may have {MOST_CHARACTERS} characters, and this one has {len(text)}"
            )
        try:
            self._made = self._make(ast.parse(text.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if isinstance(error, ConditionError):
                raise
            reason = error.msg if isinstance(error, SyntaxError) else "it cannot be read"
            raise ConditionError(f"{text!r} is not a condition: {reason}") from None
        self.names = tuple(self._names)

    def __repr__(self) -> str:
        return f"Condition({self.text!r})"

    def __call__(self, values: Values) -> Any:
        """Return whether it holds: a boolean, or an array of them where values are arrays.

        Raises:
            ConditionError: Values of this kind cannot be compared or computed with.
        """
        try:
            with np.errstate(all="ignore"):
                return _truth(self._made(values))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ConditionError(f"{self.text!r} cannot be worked out: {error}") from None

    def _make(self, node: ast.AST) -> Made:
        """Return the function of an condition, which has nothing but what the language has."""
        maker = getattr(self, f"_{type(node).__name__.lower()}", None)
        made: Made | None = maker(node) if maker else None
        if made is None:
            raise ConditionError(f"{self.text!r} has {ast.unparse(node)!r}; a condition has {_FORMS}")
        return made

    def _constant(self, node: ast.Constant) -> Made | None:
        value = node.value
        return (lambda _: value) if isinstance(value, bool | int | float | str | None) else None

    def _name(self, node: ast.expr) -> Made | None:
        name = _dotted(node)
        if not name:
            return None
        self._names[name] = None
        return lambda values: values[name]

    _attribute = _subscript = _name

    def _binop(self, node: ast.BinOp) -> Made | None:
        apply = _BINARY.get(type(node.op))
        left, right = self._make(node.left), self._make(node.right)
        return None if apply is None else lambda values: apply(left(values), right(values))

    def _unaryop(self, node: ast.UnaryOp) -> Made | None:
        apply, operand = _UNARY.get(type(node.op)), self._make(node.operand)
        return None if apply is None else lambda values: apply(operand(values))

    def _boolop(self, node: ast.BoolOp) -> Made:
        join, parts = _JOINED[type(node.op)], [self._make(value) for value in node.values]
        return lambda values: reduce(join, (_truth(part(values)) for part in parts))

    def _compare(self, node: ast.Compare) -> Made | None:
        """Return the function of `a < b < c`: all of its comparisons."""
        made, left = [], node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            compared = (
                self._among(left, op, right)
                if isinstance(op, ast.In | ast.NotIn)
                else self._pair(left, op, right)
            )
            if compared is None:
                return None
            made.append(compared)
            left = right
        return lambda values: reduce(np.logical_and, (compared(values) for compared in made))

    def _pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Made | None:
        apply, first, second = _COMPARISONS.get(type(op)), self._make(left), self._make(right)
        return None if apply is None else lambda values: _truth(apply(first(values), second(values)))

    def _among(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Made | None:
        """Return the function of `a in [b, c]`."""
        if not isinstance(right, ast.List | ast.Tuple):
            return None
        here = [self._pair(left, ast.Eq(), item) or (lambda _: False) for item in right.elts]
        wanted = isinstance(op, ast.In)
        return lambda values: (
            reduce(np.logical_or, (each(values) for each in here), False)
            if wanted
            else np.logical_not(reduce(np.logical_or, (each(values) for each in here), False))
        )

    def _call(self, node: ast.Call) -> Made | None:
        apply = _FUNCTIONS.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if apply is None or not node.args or node.keywords:
            return None
        parts = [self._make(argument) for argument in node.args]
        return lambda values: reduce(apply, (part(values) for part in parts))


def _dotted(node: ast.AST) -> str:
    """Return `target.fps` or `steps[2]`; empty for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute) if _dotted(value):
            return f"{_dotted(value)}.{attribute}"
        case ast.Subscript(value=value, slice=ast.Constant(value=int(index))) if _dotted(value):
            return f"{_dotted(value)}[{index}]"
    return ""


def _truth(value: Any) -> Any:
    """Return a value, or each of an array, as a boolean."""
    return value.astype(bool) if isinstance(value, np.ndarray) else bool(value)
