"""An expression as a function of arrays that runs compiled."""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.bounded_cache import BoundedCache
from brainsmith.autodiff.compiling.call_layout import CallLayout, plan_layout
from brainsmith.autodiff.compiling.expression import DTYPES, Expression
from brainsmith.autodiff.compiling.functions import FUNCTIONS
from brainsmith.autodiff.compiling.kernel import Kernel
from brainsmith.autodiff.compiling.kernel_cache import load_kernel
from brainsmith.autodiff.compiling.numpy_form import compute
from brainsmith.autodiff.compiling.source import write_source
from brainsmith.autodiff.compiling.threads import threads_for
from brainsmith.errors import OpError
from brainsmith.figures import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.autodiff.op import Array, Arrays, Dtypes


class CompiledExpression:
    """Computes an expression in one loop for each kind of arrays that it is called with.

    A call whose arrays no loop is made for (float16, no elements, reduced axes that do not lie side by side, outputs of
    several shapes) is computed by numpy.

    Args:
        expression: What is computed, or its text.
        name: How messages name it.
    """

    def __init__(self, expression: Expression | str, name: str = "expression") -> None:
        self.expression = Expression.from_text(expression) if isinstance(expression, str) else expression
        self.name = name
        self._plans: dict[Any, _Plan | None] = BoundedCache(4096)
        self._sources: dict[Any, str] = {}

    def __call__(self, *inputs: Any) -> Any:
        """Compute it.

        Args:
            inputs: Arrays, or numbers with a numpy dtype; they broadcast. Neither changed nor copied.

        Returns:
            A new array, or a tuple of them.

        Raises:
            ToolError: There is no g++, or it fails.
        """
        arrays = [array if isinstance(array, np.ndarray) else np.asarray(array) for array in inputs]
        if len(arrays) != self.expression.num_inputs:
            raise OpError(
                f"{self.name} takes {plural(self.expression.num_inputs, 'array')}, got {len(arrays)}"
            )
        plan = self.plan(arrays)
        outputs = (
            tuple(map(np.asarray, compute(self.expression, arrays))) if plan is None else plan.run(arrays)
        )
        return outputs if len(outputs) > 1 else outputs[0]

    def plan(self, arrays: Arrays) -> _Plan | None:
        """Return how a call with such arrays is computed; None where numpy does it."""
        key = tuple([(array.dtype, array.shape, array.strides, array.flags.aligned) for array in arrays])
        if key in self._plans:
            return self._plans[key]
        found = self._plans[key] = self._planned(arrays)
        return found

    @property
    def ulps(self) -> int:
        """How many units in the last place each function may be away from numpy's, at most, in float32."""
        return max((FUNCTIONS[step.function].ulps[0] for step in self.expression.steps), default=0)

    def _planned(self, arrays: Arrays) -> _Plan | None:
        for array in arrays:
            if array.dtype.name not in DTYPES or not array.dtype.isnative or not array.flags.aligned:
                return None
        dtypes = tuple(array.dtype for array in arrays)
        shaped = [(array.shape, array.strides, array.itemsize) for array in arrays]
        try:
            made = Kernel(self.expression, dtypes, "", "").output_dtypes
            if any(dtype.name not in DTYPES for dtype in made):
                return None
            layout = plan_layout(self.expression, shaped, [dtype.itemsize for dtype in made])
            source = self._source(Kernel(self.expression, dtypes, layout.patterns, layout.stores))
        except (OpError, ValueError, TypeError):
            return None
        return _Plan(layout, made, load_kernel(source, self.name), source)

    def _source(self, kernel: Kernel) -> str:
        """Return the source of a kernel; calls of several shapes share one."""
        key = (kernel.dtypes, kernel.patterns, kernel.stores)
        if key not in self._sources:
            self._sources[key] = write_source(kernel)
        return self._sources[key]


class _Plan:
    """One kind of call."""

    def __init__(
        self, layout: CallLayout, dtypes: Dtypes, function: Callable[..., None], source: str
    ) -> None:
        self.layout = layout
        self.source = source
        self._dtypes = tuple(dtypes)
        self._function = function
        self._size = math.prod(layout.dims)
        self._dims = (ctypes.c_int64 * len(layout.dims))(*layout.dims)
        flat = [step for strides in layout.strides for step in strides]
        self._strides = (ctypes.c_int64 * len(flat))(*flat)
        self._pointers = ctypes.c_void_p * len(layout.strides)
        self._addresses = ctypes.addressof(self._dims), ctypes.addressof(self._strides)

    def run(self, arrays: Arrays) -> tuple[Array, ...]:
        """Compute; the interpreter is free meanwhile, and several threads may."""
        layout = self.layout
        made = [np.empty(shape, dtype) for shape, dtype in zip(layout.made, self._dtypes, strict=True)]
        data = self._pointers(*[array.ctypes.data for array in (*arrays, *made)])
        dims, strides = self._addresses
        self._function(len(layout.dims) - 1, dims, ctypes.addressof(data), strides, threads_for(self._size))
        return tuple([layout.finish(array, at) for at, array in enumerate(made)])
