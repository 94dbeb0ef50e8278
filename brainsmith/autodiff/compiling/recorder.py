"""Note what stand-ins for arrays are used for, as the steps of an expression."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from brainsmith.autodiff.compiling.dtypes import result_dtype
from brainsmith.autodiff.compiling.expression import (
    DTYPES,
    Constant,
    ExpressionStep,
    Operand,
    Result,
    step_text,
)
from brainsmith.errors import OpError

_OWN_FOLDERS = (str(Path(__file__).parent), str(Path(np.__file__).parent))


class Traced:
    """A value that is not known, of one function that is traced.

    Attributes:
        recorder: Notes what becomes of it.
        operand: What it is in the expression.
        dtype: As the array would have it.
    """

    __slots__ = ("dtype", "operand", "recorder")

    def __init__(self, recorder: StepRecorder, operand: Operand, dtype: np.dtype[Any]) -> None:
        self.recorder = recorder
        self.operand = operand
        self.dtype = dtype


class StepRecorder:
    """The steps of one function so far; what was computed before is not computed again."""

    def __init__(self, name: str, stand_in: Callable[[StepRecorder, Operand, np.dtype[Any]], Any]) -> None:
        self.name = name
        self.stand_in = stand_in
        self.steps: list[ExpressionStep] = []
        self._known: dict[str, Result] = {}

    def note(self, function: str, given: Sequence[Any], **options: Any) -> Any:
        """Note one step, and return the stand-in of what it gives."""
        operands = tuple(self.operand(value) for value in given)
        step = ExpressionStep(function, operands, tuple(sorted(options.items())))
        values = [value.dtype if isinstance(value, Traced) else value for value in given]
        try:
            dtype = result_dtype(function, values, options)
        except (TypeError, ValueError) as error:
            raise self.refusal(f"applies {function} to what numpy does not: {error}") from error
        key = step_text(step)
        if key not in self._known:
            self.steps.append(step)
            self._known[key] = Result(len(self.steps) - 1)
        return self.stand_in(self, self._known[key], dtype)

    def operand(self, value: Any) -> Operand:
        """Return a value as an operand."""
        if isinstance(value, Traced):
            if value.recorder is not self:
                raise self.refusal("uses a value that was traced in another function")
            return value.operand
        if isinstance(value, bool | int | float) and not isinstance(value, np.generic):
            return Constant(value)
        if isinstance(value, np.generic | np.ndarray) and value.ndim == 0 and value.dtype.name in DTYPES:
            return Constant(value.item(), value.dtype.name)
        what = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"{value!r}"
        raise self.refusal(f"uses {what}, which is neither an input nor a number; make it an input")

    def refusal(self, what: str) -> OpError:
        """Return the error for code that cannot be compiled: what it is, and where."""
        return OpError(f"operation {self.name!r} cannot be compiled: {_place()} {what}")


class TracedShape:
    """The shape of a stand-in: it can be handed on, but is not known."""

    def __init__(self, recorder: StepRecorder) -> None:
        self._recorder = recorder

    def _unknown(self, *_: Any) -> NoReturn:
        raise self._recorder.refusal("uses the shape of an array, which is not known before the call")

    __getitem__ = __iter__ = __len__ = __eq__ = __ne__ = __add__ = __bool__ = _unknown
    __hash__ = None  # type: ignore[assignment]


def _place() -> str:
    """Return the place in the user's code, `file:line`, that is being run."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FOLDERS):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
