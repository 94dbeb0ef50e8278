"""One function of a native operation and the structures of its calls: for the process that calls it, and for a worker.

It imports ctypes alone, as the worker does.
"""

from __future__ import annotations

import ctypes

from brainsmith import TYPE_CHECKING
from brainsmith.native import abi
from brainsmith.native.plugin_table import ERROR_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    Signature = tuple[tuple[Any, tuple[int, ...] | None], ...]

RULES = {
    "output_shape": abi.SHAPE_FUNCTION,
    "output_dtype": abi.DTYPE_FUNCTION,
    "output_device": abi.DEVICE_FUNCTION,
}
"""The functions that are asked about one output after the other."""


class StatusError(Exception):
    """A function returned a status that is not OK: the status, the plugin's message, and the function if it is another."""


class FunctionCall:
    """A call of one function for arrays of certain shapes and dtypes: made once, used again, by one thread at a time.

    Args:
        op: The operation's part of the table.
        name: The function. `forward` has the plugin look at the inputs before.
        signature: `(dtype's number, shape)` of each array: inputs, outputs, gradients of outputs and of inputs, as far
            as the function gets them. A rule gets 0 or a device in place of the number, and None where shapes do not
            matter.

    Attributes:
        tensors: The descriptors of all arrays, in the order of the structure's fields.
        address: Of the structure that the function gets.
        error: Where the plugin writes its message.
        function: The function itself.
        validate: What looks at the inputs before; None where nothing does, or need not any more.
    """

    def __init__(self, op: Mapping[str, Any], name: str, signature: Signature) -> None:
        self._op, self._name = op, name
        count, results = op["num_inputs"], op["num_outputs"]
        tensors = (abi.CTensor * max(len(signature), 1))()
        self.tensors = list(tensors)
        self._kept = [_fill(tensor, *one) for tensor, one in zip(self.tensors, signature, strict=False)]
        self.error = ctypes.create_string_buffer(ERROR_BYTES)
        begin, size, known = ctypes.addressof(tensors), ctypes.sizeof(abi.CTensor), len(signature)
        first = [0, count, count + results, count + 2 * results]
        self._fields = [begin + at * size if at < known else None for at in first]
        self._call = abi.Call(
            ctypes.sizeof(abi.Call), count, results, 0, *self._fields, op["user_data"] or None,
            ctypes.addressof(self.error), ERROR_BYTES,
        )  # fmt: skip
        self.address = ctypes.addressof(self._call)
        self.function: Any = RULES.get(name, abi.CALL_FUNCTION)(op[name])
        validates = name == "forward" and op["validate"]
        self.validate: Any = abi.CALL_FUNCTION(op["validate"]) if validates else None

    def run(self) -> None:
        """Call the function.

        Raises:
            StatusError: It refused or failed.
        """
        if self.validate is not None:
            self.check_inputs()
        self.error[0] = b"\0"  # a call that succeeded may have written there
        status = self.function(self.address)
        if status != abi.OK:
            self.refuse(status)

    def check_inputs(self) -> None:
        """Have the plugin look at the inputs; not again, if it looks at no values.

        Raises:
            StatusError: It does not take them.
        """
        self._call.outputs = None
        self.error[0] = b"\0"
        status = self.validate(self.address)
        self._call.outputs = self._fields[1]
        if status != abi.OK:
            self.refuse(status, "validate")
        if self._op["flags"] & abi.VALIDATE_BY_SHAPE:
            self.validate = None

    def refuse(self, status: int, function: str = "") -> NoReturn:
        """Raise for a status; nothing is left of a message that is not ended."""
        message = self.error.value.decode(errors="replace")
        ctypes.memset(self.error, 0, ERROR_BYTES)
        raise StatusError(status, message, function)

    def answers(self) -> list[Any]:
        """Return what a rule says of each output: its shape, or how many axes if that is invalid; its dtype; its device.

        Raises:
            StatusError: It refused or failed.
        """
        ask = getattr(self, f"_{self._name}")
        found = []
        for output in range(self._op["num_outputs"]):
            self.error[0] = b"\0"
            status, value = ask(output)
            if status != abi.OK:
                self.refuse(status)
            found.append(value)
        return found

    def _output_shape(self, output: int) -> tuple[int, list[int] | int]:
        extents, ndim = (abi.i64 * abi.MAX_NDIM)(), abi.i32()
        status = self.function(self.address, output, ctypes.addressof(extents), ctypes.byref(ndim))
        return status, list(extents)[: ndim.value] if 0 <= ndim.value <= abi.MAX_NDIM else ndim.value

    def _output_dtype(self, output: int) -> tuple[int, int]:
        dtype = abi.i32()
        return self.function(self.address, output, ctypes.byref(dtype)), dtype.value

    def _output_device(self, output: int) -> tuple[int, str | None]:
        device = abi.text()
        status = self.function(self.address, output, ctypes.byref(device))
        return status, None if device.value is None else device.value.decode(errors="replace")


def _fill(tensor: abi.CTensor, what: Any, shape: Sequence[int] | None) -> Any:
    """Describe an array: its dtype's number, or its device where that is asked; no shape where that does not matter."""
    tensor.device = what.encode() if isinstance(what, str) else b"cpu" if what and shape is not None else None
    tensor.dtype = what if isinstance(what, int) else 0
    if shape is None:
        return None
    extents = (abi.i64 * max(len(shape), 1))(*shape)
    tensor.shape, tensor.ndim, tensor.size = ctypes.addressof(extents), len(shape), 1
    for extent in shape:
        tensor.size *= extent
    return extents
