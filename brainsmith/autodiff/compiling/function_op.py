"""A function of arrays as an op."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.autodiff.op import Array, Arrays, Dtypes, Op, Shapes
from brainsmith.errors import OpError


class FunctionOp(Op):
    """A function of arrays as an op without a gradient; its rules are numpy's."""

    trusted = True

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise OpError(f"only an op, the name of one or a function can be compiled, not {function!r}")
        self._function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        parameters = inspect.signature(function).parameters.values()
        self.num_inputs = sum(
            one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty
            for one in parameters
        )
        self.attributes = {  # type: ignore[misc]
            one.name: one.default
            for one in parameters
            if one.kind is one.KEYWORD_ONLY and one.default is not one.empty
        }
        if not self.num_inputs:
            raise OpError(f"function {self.name!r} must take one array or more to be compiled")
        forward = partial(function, **self.attributes)
        self.num_outputs = len(trace(forward, [np.float32] * self.num_inputs, self.name).outputs)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Call the function."""
        return self._function(*inputs, **attributes)

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Return what the function gives for such shapes."""
        return self._of([np.ones(shape, np.float32) for shape in shapes], attributes, np.shape)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Return what the function gives for such dtypes."""
        return self._of([np.ones(1, dtype) for dtype in dtypes], attributes, lambda x: np.asarray(x).dtype)

    def _of(self, inputs: Arrays, attributes: dict[str, Any], what: Callable[[Any], Any]) -> Any:
        with np.errstate(all="ignore"):
            found = self._function(*inputs, **attributes)
        return what(found) if self.num_outputs == 1 else tuple(map(what, found))
