"""Compute what was put off: elementwise calls whose results only each other read as one compiled loop."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.bounded_cache import BoundedCache
from brainsmith.autodiff.compiling.chain_op import validates_inputs
from brainsmith.autodiff.compiling.compiled import CompiledExpression
from brainsmith.autodiff.compiling.content_keys import content_key, op_key
from brainsmith.autodiff.compiling.numpy_form import compute
from brainsmith.autodiff.compiling.ruled_forward import ruled_forward
from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.autodiff.graphs.grouping import Candidate, group
from brainsmith.autodiff.graphs.traceable import TraceableFunction, elementwise
from brainsmith.autodiff.lazy.lazy_tensor import Deferred, LazyTensor, calls_behind, compute_one
from brainsmith.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.autodiff.op import Array

_parts: dict[Any, TraceableFunction | None] = BoundedCache(1024)
_loops: dict[Any, CompiledExpression] = BoundedCache(1024)


def values_of(deferred: Deferred) -> tuple[Array, ...]:
    """Return the values of a call; what it needs is computed before it.

    Raises:
        OpError: An op does not take its inputs, or one was changed in place since the call.
    """
    if deferred.values is None:
        for calls in _groups(_needed(deferred)):
            _compute(calls)
    assert deferred.values is not None
    return deferred.values


def _needed(deferred: Deferred) -> list[Deferred]:
    """Return the calls that have to be computed for one, in the order in which they were made."""
    calls = calls_behind(deferred, lambda call: call.values is None)
    for call in calls:
        call.check_unchanged()
    return calls


def _groups(calls: list[Deferred]) -> list[list[Deferred]]:
    """Return the calls in groups that are computed at once, in an order in which they can be."""
    found = {call.serial: call for call in calls}
    readers = Counter(before.serial for call in calls for before in call.before())
    candidates = {}
    for serial, call in found.items():
        part = _part(call)
        sources = [before.serial for before in call.before()]
        size = max(part.steps, 1) if part else 0
        candidates[serial] = Candidate(sources, readers[serial], call.shapes[0], size)
    return [[found[serial] for serial in serials] for serials in group(candidates)]


def _part(call: Deferred) -> TraceableFunction | None:
    """Return what a call is as a part of a loop; None if it cannot be part of one.

    One that does not give the shape that its rule says cannot: run by itself it fails as it does outside of `lazy()`.
    """
    op = call.op
    if op.num_outputs != 1 or validates_inputs(op):
        return None
    dtypes = tuple(tensor.dtype for tensor in call.inputs)
    key = (op_key(op), content_key(call.attributes), dtypes)
    if key not in _parts:
        _parts[key] = elementwise(ruled_forward(op, call.attributes), dtypes, op.name)
    found = _parts[key]
    shapes = [tensor.shape for tensor in call.inputs]
    return found if found is not None and found.gives(shapes, call.shapes[0]) else None


def _compute(calls: list[Deferred]) -> None:
    """Compute the values of the last call of a group."""
    last = calls[-1]
    if len(calls) == 1:
        last.values = compute_one(last, last.operands())
    else:
        arrays, wiring = _wiring(calls)
        value = _run(_loop(calls, wiring, [array.dtype for array in arrays]), arrays)
        last.values = (np.asarray(value, last.dtypes[0]),)
    for value in last.values:
        value.flags.writeable = False


def _wiring(calls: Sequence[Deferred]) -> tuple[list[Array], list[tuple[tuple[str, int], ...]]]:
    """Return what a group reads, and for each of its calls where the inputs come from: `x` or `t`, and which one."""
    steps = {call.serial: at for at, call in enumerate(calls)}
    arrays: list[Array] = []
    places: dict[int, int] = {}
    wiring = []
    for call in calls:
        sources = []
        for tensor, kept in zip(call.inputs, call.arrays, strict=True):
            if isinstance(tensor, LazyTensor) and tensor.deferred.serial in steps:
                sources.append(("t", steps[tensor.deferred.serial]))
                continue
            array = tensor.numpy() if kept is None else kept
            if id(array) not in places:
                places[id(array)] = len(arrays)
                arrays.append(array)
            sources.append(("x", places[id(array)]))
        wiring.append(tuple(sources))
    return arrays, wiring


def _loop(
    calls: Sequence[Deferred], wiring: Sequence[tuple[tuple[str, int], ...]], dtypes: Sequence[Any]
) -> CompiledExpression:
    """Return the compiled form of a group; the same one for the same ops, wired in the same way."""
    parts = [
        (op_key(call.op), content_key(call.attributes), given)
        for call, given in zip(calls, wiring, strict=True)
    ]
    key = (tuple(parts), tuple(dtypes))
    if key not in _loops:
        _loops[key] = CompiledExpression(trace(_as_function(calls, wiring), dtypes, "lazy"), "lazy")
    return _loops[key]


def _as_function(
    calls: Sequence[Deferred], wiring: Sequence[tuple[tuple[str, int], ...]]
) -> Callable[..., Any]:
    def function(*arrays: Any) -> Any:
        made: list[Any] = []
        for call, given in zip(calls, wiring, strict=True):
            operands = [arrays[at] if kind == "x" else made[at] for kind, at in given]
            made.append(ruled_forward(call.op, call.attributes)(*operands))
        return made[-1]

    return function


def _run(loop: CompiledExpression, arrays: list[Array]) -> Any:
    """Run a loop; where there is no compiler, numpy computes it step by step."""
    try:
        return loop(*arrays)
    except ToolError:
        return compute(loop.expression, arrays)[0]
