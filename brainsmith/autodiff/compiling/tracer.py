"""Watch a numpy function compute on stand-ins for arrays, and note what it does as an expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partialmethod
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from brainsmith.autodiff.compiling.array_functions import TAKEN, clip, reduce, round_, variance
from brainsmith.autodiff.compiling.expression import DTYPES, Expression, Input
from brainsmith.autodiff.compiling.functions import FUNCTIONS, UFUNC_REDUCTIONS
from brainsmith.autodiff.compiling.recorder import StepRecorder, Traced, TracedShape

_ALIASES = {"amax": "max", "amin": "min", "true_divide": "divide", "abs": "absolute", "bitwise_not": "invert"}


def trace(function: Callable[..., Any], dtypes: Sequence[Any], name: str = "") -> Expression:
    """Call a function with stand-ins for its inputs, and return what it computes.

    Args:
        function: Of arrays; gives one, or a tuple of them.
        dtypes: The numpy dtype of each input: what the function computes may depend on them.
        name: How messages name it; the function's name by default.

    Raises:
        OpError: It does what an expression cannot say: control flow on values, a function that is not known, a shape.
    """
    recorder = StepRecorder(name or getattr(function, "__name__", "function"), Tracer)
    inputs = [Tracer(recorder, Input(at), np.dtype(dtype)) for at, dtype in enumerate(dtypes)]
    given = function(*inputs)
    outputs = given if isinstance(given, tuple | list) else (given,)
    return Expression(len(dtypes), tuple(recorder.steps), tuple(recorder.operand(value) for value in outputs))


def _refused(what: str) -> Any:
    """Return a method that refuses what a function does with an array whose values are not known."""

    def refuse(self: Traced, *_: Any, **__: Any) -> NoReturn:
        raise self.recorder.refusal(what)

    return refuse


class Tracer(Traced, NDArrayOperatorsMixin):
    """Stands for an array whose values are not known."""

    __slots__ = ()
    is_tape_tensor = False

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Note a ufunc."""
        name = _ALIASES.get(ufunc.__name__, ufunc.__name__)
        if method == "reduce" and ufunc in UFUNC_REDUCTIONS:
            return reduce(inputs[0], UFUNC_REDUCTIONS[ufunc], **{"axis": 0, **options})
        if method != "__call__" or options or name not in FUNCTIONS:
            how = "" if method == "__call__" else f".{method}"
            with_ = f" with {', '.join(options)}=" if options else ""
            raise self.recorder.refusal(f"calls numpy.{ufunc.__name__}{how}{with_}")
        return self.recorder.note(name, inputs)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        """Note a function of numpy's."""
        name = _ALIASES.get(function.__name__, function.__name__)
        taken = TAKEN.get(name)
        if taken is None:
            raise self.recorder.refusal(f"calls numpy.{function.__name__}")
        try:
            return taken(*given, **options)
        except TypeError as error:
            raise self.recorder.refusal(
                f"calls numpy.{function.__name__} with arguments that cannot be compiled: {error}"
            ) from error

    def trace_function(self, name: str, given: Sequence[Any]) -> Any:
        """Note one of this project's own functions."""
        return self.recorder.note(name, given)

    def __pow__(self, other: Any) -> Any:
        """Note a power as numpy computes it: small ones of a number have functions of their own."""
        number = other if isinstance(other, int | float) else 0
        short = {2: "square", 0.5: "sqrt", -1: "reciprocal", 1: "positive"}.get(number)
        if short and (self.dtype.kind == "f" or other == 2):
            return self.recorder.note(short, [self])
        return self.recorder.note("power", [self, other])

    @property
    def shape(self) -> TracedShape:
        """What can be handed on only."""
        return TracedShape(self.recorder)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Note a conversion."""
        wanted = np.dtype(dtype)
        if wanted.name not in DTYPES:
            raise self.recorder.refusal(f"converts to {wanted.name}")
        return self if wanted == self.dtype else self.recorder.note("cast", [self], dtype=wanted.name)

    def copy(self) -> Any:
        """Return itself: nothing changes it."""
        return self

    sum, mean, prod, max, min = (
        partialmethod(reduce, name) for name in ("sum", "mean", "prod", "max", "min")
    )

    var, clip, round = variance, clip, round_

    __bool__ = _refused("decides by the value of an array; write np.where(condition, a, b)")
    __array__ = _refused(
        "asks for the values of an array (np.asarray, or a function that numpy does not pass on)"
    )
    __float__ = _refused("asks for the value of an array (float, or a function of math; numpy has the same)")
    __int__ = _refused("asks for the value of an array as an integer")
    __iter__ = _refused("iterates over an array")
    __len__ = _refused("asks for the length of an array")
    __getitem__ = _refused("indexes an array; a reduction with keepdims=True needs no index")
    __setitem__ = _refused("changes an array in place; write np.where(condition, a, b)")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.recorder.refusal(f"uses .{name} of an array")
