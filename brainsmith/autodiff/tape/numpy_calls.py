"""numpy's own functions on Tensors: `np.tanh(x)`, `np.sum(x, axis=1)`, `array * x` are steps of the tape.

A function that has no step is an error, not an array that the tape knows nothing of.
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff import functional as F  # noqa: N812
from brainsmith.autodiff.calls import run_op
from brainsmith.autodiff.primitives.elementwise import ELEMENTWISE
from brainsmith.autodiff.primitives.products import MATMUL
from brainsmith.autodiff.primitives.reductions import REDUCTIONS
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brainsmith.autodiff.op import Op

UFUNCS: dict[Callable[..., Any], Op] = {
    np.matmul: MATMUL,
    **{form: op for op in ELEMENTWISE.values() for form in op.forms if isinstance(form, np.ufunc)},
}
"""The ufuncs that are one step."""

MADE: dict[np.ufunc, Callable[..., Any]] = {
    np.square: lambda x: x * x,
    np.reciprocal: lambda x: 1 / x,
    np.positive: lambda x: x,
    np.not_equal: lambda left, right: F.logical_not(F.equal(left, right)),
    np.isnan: lambda x: F.logical_not(F.equal(x, x)),
    np.isinf: lambda x: F.equal(F.abs(x), np.inf),
    np.isfinite: lambda x: F.less(F.abs(x), np.inf),
}
"""The ufuncs that are made of steps."""


def _reduction(step: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, axis=None, *, keepdims=False: step(a, axis, keepdims)


UFUNC_REDUCTIONS = {op.ufunc: _reduction(getattr(F, name)) for name, op in REDUCTIONS.items() if op.ufunc}
"""What a ufunc's `reduce` is; its axis is 0 by default, unlike that of the function."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{op.function: _reduction(getattr(F, name)) for name, op in REDUCTIONS.items()},
    np.amax: _reduction(F.max),
    np.amin: _reduction(F.min),
    np.var: _reduction(F.var),
    np.std: _reduction(lambda *given: F.sqrt(F.var(*given))),
    np.argmax: _reduction(F.argmax),
    np.where: F.where,
    np.clip: lambda a, a_min=None, a_max=None, *, min=None, max=None: F.clip(
        a, min if a_min is None else a_min, max if a_max is None else a_max
    ),
    np.round: F.round,
    np.around: F.round,
    np.reshape: lambda a, /, shape: F.reshape(a, shape),
    np.ravel: lambda a: F.reshape(a, (-1,)),
    np.transpose: lambda a, axes=None: F.transpose(a, axes),
    np.swapaxes: lambda a, axis1, axis2: F.transpose(a, _swapped(a.ndim, axis1, axis2)),
    np.squeeze: lambda a, axis=None: F.squeeze(a, axis),
    np.expand_dims: F.expand_dims,
    np.broadcast_to: F.expand,
    np.concatenate: lambda arrays, /, axis=0: F.concat(arrays, axis),
    np.stack: lambda arrays, axis=0: F.stack(arrays, axis),
    np.take: lambda a, indices, axis=None: (
        F.gather(F.reshape(a, (-1,)), indices) if axis is None else F.gather(a, indices, axis)
    ),
    np.pad: lambda array, pad_width: F.pad(array, np.broadcast_to(pad_width, (array.ndim, 2)).tolist()),
}
"""The functions that are steps, with those of their arguments that the tape knows."""

PLAIN = frozenset(
    {
        np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.all, np.any,
        np.allclose, np.isclose, np.array_equal, np.array_repr, np.array_str, np.array2string, np.result_type,
    }
)  # fmt: skip
"""Functions that need no values, or give what has no gradient: arrays, and truth."""


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Do what `__array_ufunc__` is asked for.

    Raises:
        OpError: There is no step for it.
    """
    if method == "__call__" and not options:
        if ufunc in UFUNCS:
            return run_op(UFUNCS[ufunc], inputs)
        if ufunc in MADE:
            return MADE[ufunc](*inputs)
    if method == "reduce" and ufunc in UFUNC_REDUCTIONS and options.keys() <= {"axis", "keepdims"}:
        return UFUNC_REDUCTIONS[ufunc](inputs[0], **{"axis": 0, **options})
    how = "" if method == "__call__" else f".{method}"
    raise OpError(_message(f"numpy.{ufunc.__name__}{how}", options))


def call_function(function: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Do what `__array_function__` is asked for.

    Raises:
        OpError: There is no step for it, or not with these arguments.
    """
    name = f"numpy.{getattr(function, '__name__', function)}"
    if function in PLAIN:
        return function(*(_plain(value) for value in args), **options)
    if function not in FUNCTIONS:
        raise OpError(_message(name, {}))
    step = FUNCTIONS[function]
    try:
        signature(step).bind(*args, **options)
    except TypeError as error:
        raise OpError(f"{name} on a Tensor does not support these arguments: {error}") from None
    return step(*args, **options)


def _swapped(rank: int, first: int, second: int) -> list[int]:
    order = list(range(rank))
    order[first], order[second] = order[second], order[first]
    return order


def _plain(value: Any) -> Any:
    return value.numpy() if getattr(value, "is_tape_tensor", False) else value


def _message(name: str, options: Mapping[str, Any]) -> str:
    with_ = f" with {', '.join(options)}" if options else ""
    known = sorted({function.__name__ for function in (*UFUNCS, *MADE, *FUNCTIONS)})
    return (
        f"{name}{with_} is not supported by the tape, which supports {', '.join(known)} and those of "
        "brainsmith.ops.functional. An op of your own can be one (brainsmith.ops.Op); x.numpy() leaves the tape"
    )
