"""Compute what was put off: elementwise calls whose results only each other read as one compiled loop."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from brainsmith.autodiff.compiling.compiled import CompiledExpression
from brainsmith.autodiff.compiling.numpy_form import compute
from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.autodiff.graphs.traceable import is_elementwise, looks_at_values
from brainsmith.autodiff.lazy.tensor import Deferred, LazyTensor, compute_one
from brainsmith.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Array, Op
    from brainsmith.autodiff.tape.tensor import Tensor

_KEPT = 1024
_elementwise: WeakKeyDictionary[Op, dict[Any, bool]] = WeakKeyDictionary()
_loops: dict[Any, CompiledExpression] = {}


def values_of(deferred: Deferred) -> tuple[Array, ...]:
    """Return the values of a call; what it needs is computed before it.

    Raises:
        OpError: An op does not take its inputs, or one was changed in place since the call.
    """
    if deferred.values is None:
        for group in _groups(_needed(deferred)):
            _compute(group)
    assert deferred.values is not None
    return deferred.values


def _needed(deferred: Deferred) -> list[Deferred]:
    """Return the calls that have to be computed for one, in the order in which they were made."""
    found: dict[int, Deferred] = {}
    waiting = [deferred]
    while waiting:
        call = waiting.pop()
        if call.values is None and call.serial not in found:
            call.check_unchanged()
            found[call.serial] = call
            waiting.extend(call.before())
    return [found[serial] for serial in sorted(found)]


def _groups(calls: list[Deferred]) -> list[list[Deferred]]:
    """Return the calls in groups that are computed at once, in an order in which they can be."""
    readers: dict[int, list[int]] = {}
    for call in calls:
        for before in call.before():
            readers.setdefault(before.serial, []).append(call.serial)
    open_calls = {call.serial: call for call in calls}
    found = []
    for call in reversed(calls):
        if call.serial in open_calls:
            group = _grown(call, open_calls, readers)
            for taken in group:
                del open_calls[taken.serial]
            found.append(group)
    return sorted(found, key=lambda group: group[-1].serial)


def _grown(last: Deferred, open_calls: dict[int, Deferred], readers: dict[int, list[int]]) -> list[Deferred]:
    """Return a call, and the elementwise ones of its shape before it that only they and it read."""
    group = {last.serial: last}
    if _is_elementwise(last):
        waiting = last.before()
        while waiting:
            call = waiting.pop()
            if call.serial in group or call.serial not in open_calls or call.shapes != last.shapes:
                continue
            if all(reader in group for reader in readers[call.serial]) and _is_elementwise(call):
                group[call.serial] = call
                waiting = [before for taken in group.values() for before in taken.before()]
    return [group[serial] for serial in sorted(group)]


def _is_elementwise(call: Deferred) -> bool:
    """Tell whether a call can be part of a loop."""
    op = call.op
    if op.num_outputs != 1 or looks_at_values(op):
        return False
    known = _elementwise.setdefault(op, {})
    dtypes = tuple(tensor.dtype for tensor in call.inputs)
    key = (dtypes, repr(call.attributes))
    if key not in known:
        known[key] = is_elementwise(partial(op.forward, **call.attributes), dtypes, op.name)
    return known[key]


def _compute(group: list[Deferred]) -> None:
    """Compute the values of the last call of a group."""
    last = group[-1]
    if len(group) == 1:
        last.values = compute_one(last, [tensor.numpy() for tensor in last.inputs])
    else:
        inputs, wiring = _wiring(group)
        arrays = [tensor.numpy() for tensor in inputs]
        value = _run(_loop(group, wiring, [array.dtype for array in arrays]), arrays)
        last.values = (np.asarray(value, last.dtypes[0]),)
    for value in last.values:
        value.flags.writeable = False


def _wiring(group: Sequence[Deferred]) -> tuple[list[Tensor], list[tuple[tuple[str, int], ...]]]:
    """Return what a group reads, and for each of its calls where the inputs come from: `x` or `t`, and which one."""
    steps = {call.serial: at for at, call in enumerate(group)}
    inputs: dict[int, Tensor] = {}
    places: dict[int, int] = {}
    wiring = []
    for call in group:
        sources = []
        for tensor in call.inputs:
            if isinstance(tensor, LazyTensor) and tensor.deferred.serial in steps:
                sources.append(("t", steps[tensor.deferred.serial]))
                continue
            inputs.setdefault(id(tensor), tensor)
            sources.append(("x", places.setdefault(id(tensor), len(places))))
        wiring.append(tuple(sources))
    return list(inputs.values()), wiring


def _loop(
    group: Sequence[Deferred], wiring: Sequence[tuple[tuple[str, int], ...]], dtypes: Sequence[Any]
) -> CompiledExpression:
    """Return the compiled form of a group; the same one for the same ops, wired in the same way."""
    key = (
        tuple((call.op, repr(call.attributes), given) for call, given in zip(group, wiring, strict=True)),
        tuple(dtypes),
    )
    if key not in _loops:
        if len(_loops) >= _KEPT:
            _loops.clear()

        def function(*arrays: Any) -> Any:
            made: list[Any] = []
            for call, given in zip(group, wiring, strict=True):
                operands = [arrays[at] if kind == "x" else made[at] for kind, at in given]
                made.append(call.op.forward(*operands, **call.attributes))
            return made[-1]

        _loops[key] = CompiledExpression(trace(function, dtypes, "lazy"), "lazy")
    return _loops[key]


def _run(loop: CompiledExpression, arrays: list[Array]) -> Any:
    """Run a loop; where there is no compiler, numpy computes it step by step."""
    try:
        return loop(*arrays)
    except ToolError:
        return compute(loop.expression, arrays)[0]
