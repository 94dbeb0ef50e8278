"""The structures of calls to one native operation: made once for inputs of given shapes and dtypes, used again."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import GradientError, OpError
from brainsmith.native import abi
from brainsmith.native.gradients import expect_written, mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Array, Shape
    from brainsmith.native.native_op import NativeOp
    from brainsmith.native.plugin_op import PluginOp

CODES = {np.dtype(name): code for code, name in abi.DTYPES.items()}
"""The dtypes' numbers."""

NUMPY = {code: dtype for dtype, code in CODES.items()}

CPU = b"cpu"
ERROR_BYTES = 1024
_view = (ctypes.c_char * 0).from_buffer


def address_of(array: Array) -> int:
    """Return where a contiguous array's elements begin; in less than half the time of `array.ctypes.data`."""
    try:
        return ctypes.addressof(_view(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # it is read-only
        return array.ctypes.data


class Arrays:
    """Descriptors of arrays, one after the other as a plugin gets them.

    Attributes:
        each: The descriptors.
        address: Of the first.
    """

    __slots__ = ("_kept", "address", "each")

    def __init__(
        self, shapes: Sequence[Shape], dtypes: Sequence[np.dtype[Any]], device: bytes | None = CPU
    ) -> None:
        block = (abi.Tensor * max(len(shapes), 1))()
        extents = [(abi.i64 * len(shape))(*shape) for shape in shapes]
        self.each: list[abi.Tensor] = []
        for at, (shape, dtype, extent) in enumerate(zip(shapes, dtypes, extents, strict=True)):
            one = block[at]
            one.shape, one.ndim = ctypes.addressof(extent), len(shape)
            one.size = int(np.prod(shape, dtype=object))
            one.dtype, one.device = CODES[dtype], device
            self.each.append(one)
        self.address = ctypes.addressof(block)
        self._kept = (block, extents)

    def point_to(self, arrays: Sequence[Array | None]) -> None:
        """Have the descriptors stand for these arrays, which are contiguous."""
        for one, array in zip(self.each, arrays, strict=True):
            one.data = None if array is None else address_of(array)


class Frame:
    """What a native operation is called with, for inputs of given shapes and dtypes, by one thread at a time."""

    __slots__ = (
        "_call", "_dtypes", "_error", "_forward", "_gradients", "_inputs", "_op", "_outputs", "_promised", "_shapes",
        "address", "dtypes", "shapes", "validated",
    )  # fmt: skip

    def __init__(self, op: NativeOp, shapes: tuple[Shape, ...], dtypes: tuple[np.dtype[Any], ...]) -> None:
        self._op, self._shapes, self._dtypes = op, shapes, dtypes
        for at, dtype in enumerate(dtypes):
            if dtype not in CODES:
                raise OpError(
                    f"Operation {op.name!r} does not take these inputs: no native op takes {dtype}; input {at}"
                )
        found_shapes, found_dtypes = op.rules.outputs(shapes, dtypes)
        self.shapes, self.dtypes = found_shapes, found_dtypes
        self._inputs, self._outputs = Arrays(shapes, dtypes), Arrays(found_shapes, found_dtypes)
        self._error = ctypes.create_string_buffer(ERROR_BYTES)
        self._call = new_call(op, self._error, self._inputs.address)
        self._call.outputs = self._outputs.address
        self.address = ctypes.addressof(self._call)
        self._forward = op.functions.forward
        self._promised = tuple(zip(found_shapes, found_dtypes, strict=True))
        self._gradients: tuple[Arrays, Arrays] | None = None
        self.validated = op.functions.validate is None

    def validate(self, inputs: Sequence[Array]) -> None:
        """Have the operation look at its inputs.

        Raises:
            OpError: It does not take them.
        """
        self._inputs.point_to(inputs)
        self._validate()

    def _validate(self) -> None:
        op = self._op
        if op.functions.validate is None:
            return
        self._call.outputs = None
        self._error[0] = b"\0"
        status = op.functions.validate(self.address)
        self._call.outputs = self._outputs.address
        if status:
            raise OpError(self._message(status, "refused"))
        self.validated = op.validates_by_shape

    def forward(self, inputs: Sequence[Array], outputs: Sequence[Array] | None = None) -> list[Array]:
        """Run the operation, in new arrays or in given ones.

        Raises:
            OpError: It does not take the inputs, or fails.
        """
        for one, array in zip(self._inputs.each, inputs):  # noqa: B905 - the keyword costs as much as the loop
            one.data = address_of(array)
        if not self.validated:
            self._validate()
        made = self._allocate() if outputs is None else list(outputs)
        for one, array in zip(self._outputs.each, made):  # noqa: B905
            one.data = address_of(array)
        self._error[0] = b"\0"  # a call that succeeded may have written there
        status = self._forward(self.address)
        if status:
            raise OpError(self._message(status, "failed"))
        return made

    def _allocate(self) -> list[Array]:
        try:
            return [np.empty(shape, dtype) for shape, dtype in self._promised]
        except (MemoryError, ValueError) as error:
            sizes = ", ".join(map(str, self.shapes))
            raise OpError(
                f"Operation {self._op.name!r} promises outputs of shape {sizes}, which this machine cannot hold"
            ) from error

    def backward(
        self, grad_outputs: Sequence[Array], inputs: Sequence[Array], outputs: Sequence[Array]
    ) -> tuple[Array | None, ...]:
        """Return the gradients of the inputs; None for those that are not differentiable.

        Raises:
            GradientError: The operation fails, or leaves a gradient unwritten.
        """
        if self._gradients is None:
            self._gradients = Arrays(self.shapes, self.dtypes), Arrays(self._shapes, self._dtypes)
        up, down = self._gradients
        skipped = self._op.not_differentiable
        made = [
            None if at in skipped else np.empty(shape, dtype)
            for at, (shape, dtype) in enumerate(zip(self._shapes, self._dtypes, strict=True))
        ]
        self._inputs.point_to(inputs)
        self._outputs.point_to(outputs)
        up.point_to(grad_outputs)
        down.point_to(made)
        call = self._call
        call.grad_outputs, call.grad_inputs = up.address, down.address
        assert self._op.functions.backward is not None
        self._error[0] = b"\0"
        mark(made)
        status = self._op.functions.backward(self.address)
        call.grad_outputs = call.grad_inputs = None
        if status:
            raise GradientError(f"backward: {self._message(status, 'failed')}")
        expect_written(self._op, made)
        return tuple(made)

    def _message(self, status: int, what: str) -> str:
        shapes = ", ".join(map(str, self._shapes))
        return failure(
            self._op, status, take_text(self._error), "" if what == "refused" else f" on shapes {shapes}"
        )


def new_call(op: NativeOp, error: ctypes.Array[ctypes.c_char], inputs: int) -> abi.Call:
    """Return the argument of an operation's functions."""
    return abi.Call(
        struct_size=ctypes.sizeof(abi.Call),
        num_inputs=op.num_inputs,
        num_outputs=op.num_outputs,
        inputs=inputs,
        user_data=op.functions.user_data,
        error=ctypes.addressof(error),
        error_size=ERROR_BYTES,
    )


def take_text(error: ctypes.Array[ctypes.c_char]) -> str:
    """Return what a plugin wrote as its message; nothing of it is left for a message that is not ended."""
    text = error.raw.partition(b"\0")[0].decode(errors="replace")
    ctypes.memset(error, 0, len(error))
    return text


def failure(op: PluginOp, status: int, text: str, where: str) -> str:
    """Return the message for a status that is not OK."""
    why = text or "it gave no message"
    if status == abi.INVALID_INPUT:
        return f"Operation {op.name!r} does not take these inputs: {why}"
    if status == abi.PANIC:
        return f"Operation {op.name!r} panicked{where}: {why}\n  this is a bug in native plugin {op.plugin}"
    if status != abi.ERROR:
        why = f"it returned the status {status}, which this host does not know; {why}"
    return f"Operation {op.name!r} failed{where}: {why}"
