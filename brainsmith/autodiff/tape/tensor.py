"""A value on the tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from brainsmith.autodiff import calls
from brainsmith.autodiff.modes import is_lazy, is_recording
from brainsmith.autodiff.op import CPU, Array, Op, Shape, attributes_of
from brainsmith.autodiff.tape.methods import TensorMethods
from brainsmith.autodiff.tape.tape import Record, clock, run_backward
from brainsmith.errors import GradientError, OpError

_NONE: dict[str, Any] = {}


def apply_op(op: Op, inputs: Sequence[Any], attributes: Mapping[str, Any] = _NONE) -> Any:
    """Run an op on Tensors, arrays, numbers and nested lists, and note it on the tape.

    Python numbers and lists take the dtype of the first Tensor or array among the inputs.

    Returns:
        A Tensor, or a tuple of them for an op with several outputs.

    Raises:
        OpError: The inputs are not what the op takes; or the op gave what its rules do not say.
    """
    if is_lazy():
        from brainsmith.autodiff.lazy.lazy_tensor import defer

        return defer(op, inputs, attributes)
    arrays, plain = [], True
    for value in inputs:
        if isinstance(value, Tensor):
            arrays.append(value._data)
        else:
            arrays.append(value)
            plain = False
    if not plain or len(arrays) != op.num_inputs:
        arrays = calls.as_arrays(op, arrays)
    merged = attributes_of(op, attributes) if attributes or op.attributes else _NONE
    calls.check_inputs(op, arrays, merged)
    given = calls.run_forward(op, arrays, merged)
    outputs = (given,) if op.num_outputs == 1 else given
    if is_recording():
        made = recorded_results(op, inputs, merged, arrays, outputs)
    else:
        made = [plain_result(output) for output in outputs]
    return made[0] if op.num_outputs == 1 else tuple(made)


def recorded_results(
    op: Op,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    arrays: list[Array],
    outputs: tuple[Array, ...],
) -> list[Tensor]:
    """Note a call on the tape, and return its outputs as the Tensors of the record."""
    tracked = False
    tensors = []
    for at, value in enumerate(inputs):
        if isinstance(value, Tensor):
            if value.tracked and at not in op.not_differentiable:
                tracked = True
            tensors.append(value)
        else:
            tensors.append(plain_result(arrays[at]))
    outputs = tuple([_own(output, arrays) for output in outputs])
    record = Record(op, tuple(tensors), attributes, tuple(arrays), outputs)
    made = []
    for position, output in enumerate(outputs):
        output.flags.writeable = False
        tensor = plain_result(output)
        tensor.record, tensor.position, tensor.tracked = record, position, tracked
        made.append(tensor)
    return made


def _own(output: Array, inputs: list[Array]) -> Array:
    """Return an output as an array whose being read-only is no matter of anyone else's."""
    for array in inputs:
        if output is array:
            return output.view()
    return output


def plain_result(array: Array) -> Tensor:
    """Return an array as a Tensor that is not on the tape."""
    tensor = Tensor.__new__(Tensor)
    tensor._data = array
    tensor.grad = tensor.record = None
    tensor.position = tensor.changed = 0
    tensor.tracked = False
    return tensor


class Tensor(TensorMethods):
    """An array, with the record of how it was computed.

    Operators (comparisons too), methods, numpy's functions and ops give new Tensors, and note on the tape what they did.

    Args:
        data: An array (it keeps its dtype and is not copied), or numbers and lists of them (they become float32).
        requires_grad: Whether `backward()` is to leave the gradient of this Tensor in `grad`.
        dtype: What the data is converted to.
        device: Where it is: `cpu`, the only device of Tensors.

    Attributes:
        grad: The sum of all gradients since it was None; None where there is none.
        record: The call that made this Tensor; None for one that was not computed, or not recorded.
        position: Which output of that call it is.

    Raises:
        OpError: The data is no array of numbers, or another device is asked for.
        GradientError: A gradient is required of integers.
    """

    __slots__ = ("__weakref__", "_data", "changed", "grad", "position", "record", "tracked")

    is_tape_tensor = True
    device = CPU
    apply = staticmethod(apply_op)

    def __init__(self, data: Any, requires_grad: bool = False, dtype: Any = None, device: str = CPU) -> None:
        if device != CPU:
            raise OpError(
                f"a Tensor is on device 'cpu', not {device!r}; other devices run whole models: brainsmith.targets"
            )
        self._data = _array_of(data, dtype)
        self.grad: Array | None = None
        self.record: Record | None = None
        self.position = self.changed = 0
        self.tracked = False
        if requires_grad:
            self.requires_grad = True

    @property
    def _is_result(self) -> bool:
        return self.record is not None

    @property
    def data(self) -> Array:
        """The array itself, shared. That of a recorded result is read-only.

        A leaf's may be replaced, or changed by `x.data -= ...`, which a later backward() through older records
        refuses; it cannot see `x.data[0] = ...`.
        """
        return self._data

    @data.setter
    def data(self, values: Array) -> None:
        if self._is_result:
            raise OpError(
                "the data of an operation's result cannot be replaced; detach() gives a Tensor whose data can"
            )
        if np.shape(values) != self.shape:
            raise OpError(f"new data of a Tensor must have its shape {self.shape}, not {np.shape(values)}")
        if values is self._data:
            self.changed = next(clock)
        else:
            self._data = _array_of(values, self.dtype)

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to it."""
        return self.tracked and self.dtype.kind == "f"

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if self._is_result:
            raise GradientError("requires_grad is set on leaves, not on results; detach() gives a leaf")
        if wanted and self._data.dtype.kind != "f":
            raise GradientError(
                f"only a Tensor of floating-point numbers can require a gradient, not one of {self._data.dtype}; "
                "Tensor(data, requires_grad=True, dtype=np.float32) converts it"
            )
        self.tracked = bool(wanted)

    @property
    def shape(self) -> Shape:
        """The length of each axis."""
        shape: Shape = self._data.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy dtype."""
        dtype: np.dtype[Any] = self._data.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    def numpy(self) -> Array:
        """Return the array; it is shared, and read-only if it is a recorded result."""
        return self._data

    def item(self) -> float | int | bool:
        """Return the one element, as a Python number."""
        if self.size != 1:
            raise OpError(f"item() is for a Tensor of one element, not for one of shape {self.shape}")
        return self._data.item()  # type: ignore[no-any-return]

    def detach(self) -> Tensor:
        """Return a Tensor of the same array that no gradient flows through."""
        return Tensor(self._data)

    def realize(self) -> Tensor:
        """Return the Tensor itself, its values computed; those of a lazy one are not before."""
        return self

    def zero_grad(self) -> None:
        """Forget the gradient."""
        self.grad = None

    def backward(self, grad: Any = None, keep_graph: bool = False) -> None:
        """Add the gradients of this Tensor to `grad` of all leaves that it was computed from.

        Args:
            grad: Its own gradient, of its shape; 1 by default, if it has one element.
            keep_graph: Whether the graph may be gone through again; else it is released.

        Raises:
            GradientError: There is nothing to derive; `grad` is missing or of another shape; an op on the way has no
                gradient. No gradient was added anywhere then.
        """
        run_backward(self, self._seed(grad), keep_graph)

    def _seed(self, grad: Any) -> Array:
        if not self.tracked:
            raise GradientError(
                "backward() needs a Tensor that was computed from one with requires_grad=True, outside of no_grad()"
            )
        if not self.requires_grad:
            raise GradientError(f"a Tensor of {self.dtype} has no gradient; backward() needs floats")
        if grad is None:
            if self.size != 1:
                raise GradientError(
                    f"backward() of a Tensor of shape {self.shape} needs its gradient, of the same shape: "
                    "y.backward(grad), or take a sum first: y.sum().backward()"
                )
            return np.ones_like(self._data)
        given = np.array(grad._data if isinstance(grad, Tensor) else grad, self.dtype)
        if given.shape != self.shape:
            raise GradientError(
                f"the gradient of a Tensor of shape {self.shape} must have that shape, not {given.shape}"
            )
        return given

    def __repr__(self) -> str:
        by = f", by {self.record.op.name}" if self.record is not None else ""
        wants = ", requires_grad=True" if self.requires_grad else ""
        values = np.array2string(self._data, separator=", ", prefix="Tensor(")
        return f"Tensor({values}, dtype={self.dtype}{wants}{by})"


def _array_of(data: Any, dtype: Any) -> Array:
    if isinstance(data, Tensor):
        data = data._data
    if calls.holds_tensor(data):
        raise OpError("a Tensor of Tensors would lose their gradients; functional.stack makes one of them")
    kept = isinstance(data, np.ndarray | np.generic) or dtype is not None
    try:
        array = np.asarray(data, dtype) if kept else np.asarray(data, np.float32)
    except (TypeError, ValueError) as error:
        raise OpError(f"the data of a Tensor must be numbers, not {type(data).__name__}: {error}") from error
    if array.dtype.kind not in "fiub":
        raise OpError(f"the data of a Tensor must be numbers, not {array.dtype}")
    return array
