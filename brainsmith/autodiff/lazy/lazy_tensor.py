"""A result that is not computed yet: what it will be computed by, its shape and its dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from brainsmith.autodiff import calls
from brainsmith.autodiff.modes import is_recording
from brainsmith.autodiff.op import Array, Op, Shape, attributes_of
from brainsmith.autodiff.tape.tape import Record, clock
from brainsmith.autodiff.tape.tensor import Tensor, plain_result, recorded_results
from brainsmith.errors import OpError


class Deferred:
    """One call that was put off.

    Attributes:
        op: What is called.
        inputs: What with; lazy or not.
        arrays: The array that each input had at the call; None for a lazy one.
        attributes: Those of the call, the op's defaults among them.
        shapes: Of its outputs, as the op's rules say.
        dtypes: Likewise.
        serial: Greater than that of every call before it.
        recorded: Whether the tape was recording.
        values: The outputs, once they are computed.
        results: The same as Tensors with their record, once somebody goes back through the tape.
    """

    __slots__ = (
        "arrays", "attributes", "dtypes", "inputs", "op", "recorded", "results", "serial", "shapes", "values",
    )  # fmt: skip

    def __init__(self, op: Op, inputs: tuple[Tensor, ...], attributes: Mapping[str, Any]) -> None:
        self.op, self.inputs, self.attributes = op, inputs, attributes
        self.arrays = tuple(None if isinstance(one, LazyTensor) else one.numpy() for one in inputs)
        self.shapes, self.dtypes = calls.promised(
            op, [tensor.shape for tensor in inputs], [tensor.dtype for tensor in inputs], attributes
        )
        self.serial, self.recorded = next(clock), is_recording()
        self.values: tuple[Array, ...] | None = None
        self.results: tuple[Tensor, ...] | None = None

    def before(self) -> list[Deferred]:
        """Return the calls that its inputs come from."""
        return [tensor.deferred for tensor in self.inputs if isinstance(tensor, LazyTensor)]

    def operands(self) -> list[Array]:
        """Return the arrays of its inputs; those that are lazy are computed."""
        return [
            tensor.numpy() if array is None else array
            for tensor, array in zip(self.inputs, self.arrays, strict=True)
        ]

    def check_unchanged(self) -> None:
        """Raise if an input was changed in place since the call.

        Raises:
            OpError: The call would have had other values.
        """
        for at, tensor in enumerate(self.inputs):
            if tensor.changed > self.serial:
                raise OpError(
                    f"input {at} of operation {self.op.name!r} was changed in place before the lazy call was computed: "
                    "realize() its result first"
                )


class LazyTensor(Tensor):
    """A Tensor whose array is computed when it is asked for."""

    __slots__ = ("deferred",)

    _is_result = True
    deferred: Deferred

    @property
    def _data(self) -> Array:  # type: ignore[override]
        from brainsmith.autodiff.lazy.evaluation import values_of

        return values_of(self.deferred)[self.position]

    @property
    def is_computed(self) -> bool:
        """Whether its values are known."""
        return self.deferred.values is not None

    @property
    def record(self) -> Record | None:  # type: ignore[override]
        """The call on the tape; asking for it computes all calls before it, one by one."""
        return records_of(self.deferred)[self.position].record if self.deferred.recorded else None

    @property
    def shape(self) -> Shape:
        """The length of each axis; known before the values."""
        return self.deferred.shapes[self.position]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy dtype; known before the values."""
        return self.deferred.dtypes[self.position]

    def realize(self) -> Tensor:
        """Compute the values, if they are not yet, and return the Tensor itself."""
        self._data  # noqa: B018
        return self

    def __repr__(self) -> str:
        if self.is_computed:
            return super().__repr__()
        return f"Tensor(not computed yet, shape={self.shape}, dtype={self.dtype}, by {self.deferred.op.name})"


def defer(op: Op, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Note a call instead of running it.

    Returns:
        A LazyTensor, or a tuple of them.

    Raises:
        OpError: The op does not take inputs of such a count, shapes or dtypes. What it refuses of values is reported
            when they are computed.
    """
    arrays = calls.as_arrays(op, [_stand_in(value) for value in inputs])
    tensors = tuple(
        value if isinstance(value, Tensor) else plain_result(_own(array))
        for value, array in zip(inputs, arrays, strict=True)
    )
    kept = {name: _own(value) for name, value in attributes_of(op, attributes).items()}
    deferred = Deferred(op, tensors, kept)
    tracked = deferred.recorded and any(
        tensor.tracked for at, tensor in enumerate(tensors) if at not in op.not_differentiable
    )
    made = tuple(_lazy_result(deferred, place, tracked) for place in range(op.num_outputs))
    return made[0] if op.num_outputs == 1 else made


def _own(value: Any) -> Any:
    """Return a copy of an array: its owner may change it before it is read."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _lazy_result(deferred: Deferred, place: int, tracked: bool) -> LazyTensor:
    tensor = LazyTensor.__new__(LazyTensor)
    tensor.deferred, tensor.position = deferred, place
    tensor.grad, tensor.changed, tensor.tracked = None, 0, tracked
    return tensor


def _stand_in(value: Any) -> Any:
    """Return what stands for a value as far as shape and dtype go; nothing is computed, and no memory taken."""
    if isinstance(value, LazyTensor):
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)
    return value.numpy() if isinstance(value, Tensor) else value


def calls_behind(deferred: Deferred, wanted: Callable[[Deferred], bool]) -> list[Deferred]:
    """Return a call and those that it depends on, in the order in which they were made, as far as they are wanted."""
    found: dict[int, Deferred] = {}
    waiting = [deferred]
    while waiting:
        call = waiting.pop()
        if wanted(call) and call.serial not in found:
            found[call.serial] = call
            waiting.extend(call.before())
    return [found[serial] for serial in sorted(found)]


def records_of(deferred: Deferred) -> tuple[Tensor, ...]:
    """Return the results of a call as Tensors on the tape; all calls before it are computed one by one.

    Raises:
        OpError: An op does not take its inputs, or one was changed in place since.
    """
    for call in calls_behind(deferred, lambda call: call.recorded and call.results is None):
        _record(call)
    assert deferred.results is not None
    return deferred.results


def _record(call: Deferred) -> None:
    call.check_unchanged()
    inputs = [_on_tape(tensor) for tensor in call.inputs]
    arrays = call.operands()
    if call.values is None:
        call.values = compute_one(call, arrays)
    call.results = tuple(recorded_results(call.op, inputs, call.attributes, arrays, call.values))


def _on_tape(tensor: Tensor) -> Tensor:
    if not isinstance(tensor, LazyTensor) or not tensor.deferred.recorded:
        return tensor
    assert tensor.deferred.results is not None
    return tensor.deferred.results[tensor.position]


def compute_one(call: Deferred, arrays: list[Array]) -> tuple[Array, ...]:
    """Run the op of a call on arrays; what it gives is not one of them."""
    calls.check_inputs(call.op, arrays, call.attributes)
    given = calls.run_forward(call.op, arrays, call.attributes)
    outputs = (given,) if call.op.num_outputs == 1 else given
    return tuple(output.view() if any(output is array for array in arrays) else output for output in outputs)
