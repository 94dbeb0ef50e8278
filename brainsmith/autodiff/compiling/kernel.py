"""What is compiled: an expression, with dtypes and how its arrays lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from brainsmith.autodiff.compiling.dtypes import loop_dtypes, result_dtype
from brainsmith.autodiff.compiling.expression import DTYPES, Expression, Input, Operand, Result
from brainsmith.autodiff.compiling.functions import FUNCTIONS
from brainsmith.errors import OpError
from brainsmith.forks import cached_property

_FLOATS_ONLY = ("power", "reciprocal", "divide", "copysign")


@dataclass(frozen=True)
class Kernel:
    """An expression for inputs of certain dtypes that lie in memory in a certain way.

    Attributes:
        expression: What is computed.
        dtypes: Of the inputs.
        patterns: How each input lies along the columns: `c` without gaps, `s` one value for all, `g` with any stride.
        stores: Of each output: `c` has a value for each column, `r` one for each row.
    """

    expression: Expression
    dtypes: tuple[np.dtype[Any], ...]
    patterns: str
    stores: str

    @cached_property
    def results(self) -> tuple[np.dtype[Any], ...]:
        """The dtype of each step.

        Raises:
            OpError: One cannot be compiled.
        """
        found: list[np.dtype[Any]] = []
        for step in self.expression.steps:
            given = [self.given(operand, found) for operand in step.operands]
            dtype = result_dtype(step.function, given, dict(step.options))
            if dtype.name not in DTYPES:
                raise OpError(
                    f"{step.function} gives {dtype}, which cannot be compiled; these dtypes can: {', '.join(DTYPES)}"
                )
            found.append(dtype)
        return tuple(found)

    @property
    def output_dtypes(self) -> tuple[np.dtype[Any], ...]:
        """The dtype of each output."""
        found = (self.given(operand, self.results) for operand in self.expression.outputs)
        return tuple(one if isinstance(one, np.dtype) else np.asarray(one).dtype for one in found)

    def given(self, operand: Operand, results: Any) -> Any:
        """Return the dtype of an operand, or the number that it is; `results` are the dtypes of earlier steps."""
        if isinstance(operand, Input):
            return self.dtypes[operand.index]
        if isinstance(operand, Result):
            return results[operand.index]
        return operand.number

    def converted(self, at: int) -> tuple[tuple[Operand, np.dtype[Any]], ...]:
        """Return the operands of a step, each with the dtype that it is converted to."""
        step = self.expression.steps[at]
        given = [self.given(operand, self.results) for operand in step.operands]
        wanted = loop_dtypes(step.function, given, self.results[at])
        floats = step.function in _FLOATS_ONLY or any(FUNCTIONS[step.function].ulps)
        for dtype in wanted:
            if dtype.name not in DTYPES or (floats and dtype.kind != "f"):
                raise OpError(f"{step.function} of {dtype} is not compiled")
        if step.function not in ("where", "cast") and len(set(wanted)) > 1:
            raise OpError(f"{step.function} of {' and '.join(map(str, wanted))} is not compiled")
        return tuple(zip(step.operands, wanted, strict=True))
