"""What an op computes, as a value: steps in order, each a known function of inputs, constants and earlier steps.

The text form is Python's own syntax, one statement a step, and the same for the same expression:

    inputs = 1; t0 = multiply(x0, 0.5); t1 = tanh(t0); return t1

A Python number such as `0.5` takes the dtype of what it is combined with, `float64(0.5)` keeps its own, as in numpy.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from brainsmith.errors import OpError


@dataclass(frozen=True)
class Input:
    """An input, by index."""

    index: int


@dataclass(frozen=True)
class Result:
    """What an earlier step gave, by its index."""

    index: int


@dataclass(frozen=True)
class Constant:
    """A number.

    Attributes:
        value: A bool, an int or a float of Python's.
        dtype: The name of its numpy dtype; empty for a Python number, whose dtype follows from its neighbours.
    """

    value: Any
    dtype: str = ""

    @property
    def number(self) -> Any:
        """The number in its dtype."""
        return np.dtype(self.dtype).type(self.value) if self.dtype else self.value


Operand = Input | Result | Constant


@dataclass(frozen=True)
class ExpressionStep:
    """One function applied.

    Attributes:
        function: A name of `functions.FUNCTIONS`.
        operands: What it is applied to.
        options: Its keyword arguments, such as `("axis", -1)`, sorted.
    """

    function: str
    operands: tuple[Operand, ...]
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Expression:
    """A computation without control flow.

    Attributes:
        num_inputs: How many arrays it takes.
        steps: In an order in which they can be computed.
        outputs: What it gives.
    """

    num_inputs: int
    steps: tuple[ExpressionStep, ...]
    outputs: tuple[Operand, ...]

    @property
    def text(self) -> str:
        """The text form."""
        steps = "".join(f"t{at} = {step_text(step)}; " for at, step in enumerate(self.steps))
        return f"inputs = {self.num_inputs}; {steps}return {', '.join(map(operand_text, self.outputs))}"

    @staticmethod
    def from_text(text: str) -> Expression:
        """Read the text form.

        Raises:
            OpError: It is not the text of an expression.
        """
        return _Reader(text).read()


def operand_text(operand: Operand) -> str:
    """Return the text of an operand."""
    if isinstance(operand, Input):
        return f"x{operand.index}"
    if isinstance(operand, Result):
        return f"t{operand.index}"
    return f"{operand.dtype}({operand.value!r})" if operand.dtype else repr(operand.value)


def step_text(step: ExpressionStep) -> str:
    """Return the text of a step."""
    options = (f"{name}={value!r}" for name, value in step.options)
    return f"{step.function}({', '.join([*map(operand_text, step.operands), *options])})"


class _Reader:
    """Reads one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._num_inputs = 0
        self._steps: list[ExpressionStep] = []

    def read(self) -> Expression:
        from brainsmith.autodiff.compiling.functions import FUNCTIONS

        try:
            first, *body, last = ast.parse(self._text).body
        except (SyntaxError, ValueError) as error:
            raise self._wrong("inputs = <number>; <steps>; return <values>") from error
        if not isinstance(first, ast.Assign) or ast.unparse(first.targets[0]) != "inputs":
            raise self._wrong("'inputs = <number>' at first")
        self._num_inputs = self._number(first.value)
        for at, statement in enumerate(body):
            if not isinstance(statement, ast.Assign) or ast.unparse(statement.targets[0]) != f"t{at}":
                raise self._wrong(f"'t{at} = ...' as step {at}")
            call = statement.value
            if not isinstance(call, ast.Call) or ast.unparse(call.func) not in FUNCTIONS:
                raise self._wrong(f"a call of a known function as step {at}")
            self._steps.append(self._step(call))
        if not isinstance(last, ast.Return) or last.value is None:
            raise self._wrong("'return <values>' at the end")
        given = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
        return Expression(self._num_inputs, tuple(self._steps), tuple(map(self._operand, given)))

    def _step(self, call: ast.Call) -> ExpressionStep:
        try:
            options = tuple(sorted((str(word.arg), ast.literal_eval(word.value)) for word in call.keywords))
        except ValueError as error:
            raise self._wrong(f"plain values as options of step {len(self._steps)}") from error
        return ExpressionStep(ast.unparse(call.func), tuple(map(self._operand, call.args)), options)

    def _operand(self, node: ast.expr) -> Operand:
        if isinstance(node, ast.Name) and node.id[:1] in "xt" and node.id[1:].isdigit():
            index = int(node.id[1:])
            if index < (self._num_inputs if node.id[0] == "x" else len(self._steps)):
                return Input(index) if node.id[0] == "x" else Result(index)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            if node.func.id in DTYPES:
                return Constant(self._number(node.args[0]), node.func.id)
        else:
            return Constant(self._number(node))
        raise self._wrong(f"an input, an earlier step or a number, not {ast.unparse(node)!r}")

    def _number(self, node: ast.expr) -> Any:
        text = ast.unparse(node)
        if text in ("inf", "-inf", "nan", "-nan"):
            return float(text)
        try:
            value = ast.literal_eval(node)
        except ValueError as error:
            raise self._wrong(f"a number, not {text!r}") from error
        if not isinstance(value, bool | int | float):
            raise self._wrong(f"a number, not {text!r}")
        return value

    def _wrong(self, wanted: str) -> OpError:
        return OpError(f"the text of an expression must have {wanted}: {self._text!r}")


DTYPES = tuple(
    np.dtype(code).name for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
)
"""The dtypes that can be compiled."""
