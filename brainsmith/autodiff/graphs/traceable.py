"""Which functions of arrays can be part of one loop: elementwise numpy code that looks at no value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.compiling.expression import Expression, Input, Result
from brainsmith.autodiff.compiling.functions import FUNCTIONS
from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.autodiff.op import Shape


@dataclass(frozen=True)
class TraceableFunction:
    """An elementwise function of arrays.

    Attributes:
        function: The function itself.
        reads: The inputs that its result depends on, by index.
        steps: How many functions of numpy it applies.
    """

    function: Callable[..., Any]
    reads: tuple[int, ...]
    steps: int

    def gives(self, shapes: Sequence[Shape | None], promised: Shape | None) -> bool:
        """Tell whether inputs of these shapes give an output of the shape that is promised; not if one is unknown."""
        read: list[Any] = [shapes[at] for at in self.reads]
        try:
            return None not in read and np.broadcast_shapes(*read) == promised
        except ValueError:
            return False


def elementwise(function: Callable[..., Any], dtypes: Sequence[Any], name: str) -> TraceableFunction | None:
    """Return a function as an elementwise one: it can be traced, reduces no axis, and gives one array; else None.

    Args:
        function: Of arrays.
        dtypes: Of these.
        name: How it is called.
    """
    try:
        expression = trace(function, dtypes, name)
    except (OpError, TypeError, ValueError, AttributeError, LookupError):
        return None
    if len(expression.outputs) != 1 or any(FUNCTIONS[step.function].reduces for step in expression.steps):
        return None
    return TraceableFunction(function, _reads(expression), len(expression.steps))


def _reads(expression: Expression) -> tuple[int, ...]:
    waiting, seen = list(expression.outputs), set()
    while waiting:
        operand = waiting.pop()
        if operand not in seen:
            seen.add(operand)
            if isinstance(operand, Result):
                waiting.extend(expression.steps[operand.index].operands)
    return tuple(sorted(operand.index for operand in seen if isinstance(operand, Input)))
