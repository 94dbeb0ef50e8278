"""Whole numbers from short expressions over the attributes of a node, such as `CHANNELS // PE`."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS = {"max": max, "min": min}


def evaluate(expression: str | int, values: Mapping[str, int | str]) -> int:
    """Return what an expression of whole numbers, names, + - * // % ( ) max and min gives.

    Args:
        expression: A number is itself.
        values: What the names stand for.

    Raises:
        ValueError: It is no such expression, names what does not exist, or divides by zero.
    """
    if isinstance(expression, int):
        return int(expression)
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body, values)
    except SyntaxError:
        raise ValueError(f"{expression!r} is not an expression") from None
    except ZeroDivisionError:
        raise ValueError(f"{expression!r} divides by zero") from None
    except (KeyError, RecursionError) as error:
        raise ValueError(f"{expression!r}: {error.args[0]}") from None


def fill(text: str, values: Mapping[str, int | str]) -> str:
    """Return a text with the expressions in its braces evaluated: `INT{BITS}` is `INT8` where BITS is 8.

    Raises:
        ValueError: An expression in it cannot be evaluated, or a brace is not closed.
    """
    head, brace, rest = text.partition("{")
    if not brace:
        return head
    inside, closed, tail = rest.partition("}")
    if not closed:
        raise ValueError(f"{text!r} has a brace that is not closed")
    return f"{head}{evaluate(inside, values)}{fill(tail, values)}"


def _value(node: ast.expr, values: Mapping[str, int | str]) -> int:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            return _named(name, values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            result: int = _OPERATORS[type(op)](_value(left, values), _value(right, values))
            return result
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values)
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in _FUNCTIONS:
            return int(_FUNCTIONS[name](*(_value(one, values) for one in arguments)))
    raise KeyError(f"{ast.unparse(node)!r} is not allowed: only numbers, names, + - * // % ( ) max min are")


def _named(name: str, values: Mapping[str, int | str]) -> int:
    if name not in values:
        raise KeyError(f"unknown name {name!r}; known are {', '.join(values) or 'none'}")
    value = values[name]
    if not isinstance(value, int):
        raise KeyError(f"{name!r} is the text {value!r}, not a number")
    return value
