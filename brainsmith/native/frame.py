"""The forward calls of a native operation in this process, for inputs of given shapes and dtypes."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from numpy import empty

from brainsmith.native.function_call import FunctionCall, StatusError

if TYPE_CHECKING:
    from brainsmith.autodiff.op import Array, Arrays
    from brainsmith.native.native_op import NativeOp
    from brainsmith.native.plugin_op import CallKind

_view = (ctypes.c_char * 0).from_buffer


def address_of(array: Array) -> int:
    """Return where a contiguous array's elements begin; in less than half the time of `array.ctypes.data`."""
    try:
        return ctypes.addressof(_view(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # it is read-only
        return array.ctypes.data


class Frame:
    """What forward is called with: made once, used by one thread at a time, with as little work as possible."""

    __slots__ = (
        "_address", "_call", "_error", "_function", "_inputs", "_op", "_outputs", "_promised", "_validates", "kind",
    )  # fmt: skip

    def __init__(self, op: NativeOp, kind: CallKind) -> None:
        self._op, self.kind, self._promised = op, kind, kind.promised
        self._call = call = FunctionCall(op.table, "forward", kind.inputs + kind.outputs)
        self._inputs, self._outputs = call.tensors[: op.num_inputs], call.tensors[op.num_inputs :]
        self._address, self._error, self._function = call.address, call.error, call.function
        self._validates = call.validate is not None

    def forward(self, inputs: Arrays, outputs: Arrays | None = None) -> list[Array]:
        """Run the operation, in new arrays or in given ones.

        Raises:
            OpError: It does not take the inputs, or fails.
        """
        for one, array in zip(self._inputs, inputs):  # noqa: B905 - the keyword costs as much as the loop
            one.data = address_of(array)
        try:
            if self._validates:
                self._call.check_inputs()
                self._validates = self._call.validate is not None
            made = [empty(*one) for one in self._promised] if outputs is None else list(outputs)
            for one, array in zip(self._outputs, made):  # noqa: B905
                one.data = address_of(array)
            self._error[0] = b"\0"  # a call that succeeded may have written there
            status = self._function(self._address)
            if status:
                self._call.refuse(status)
        except StatusError as error:
            raise self._op.refusal("forward", self.kind.inputs, error) from None
        except (MemoryError, ValueError) as error:
            raise self._op.too_large(self._promised) from error
        return made
