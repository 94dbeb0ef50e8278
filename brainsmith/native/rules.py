"""A native operation's own rules of shape, dtype and device."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import OpError
from brainsmith.native import abi
from brainsmith.native.frame import CODES, ERROR_BYTES, NUMPY, Arrays, failure, new_call, take_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.autodiff.op import Shape
    from brainsmith.native.native_op import NativeOp

_DTYPE = np.dtype(np.float32)


class Rules:
    """Ask an operation what its outputs are. The library must be open."""

    def __init__(self, op: NativeOp) -> None:
        self._op = op

    def outputs(
        self, shapes: Sequence[Shape], dtypes: Sequence[np.dtype[Any]]
    ) -> tuple[tuple[Shape, ...], tuple[np.dtype[Any], ...]]:
        """Return the shapes and dtypes of all outputs, which must be on the cpu as the inputs are."""
        for device in self.devices(["cpu"] * len(shapes)):
            if device != "cpu":
                raise OpError(
                    f"Operation {self._op.name!r} promises its output on device {device!r}; "
                    "arrays of this host are on 'cpu'"
                )
        return self.shapes(shapes), self.dtypes(dtypes)

    def shapes(self, shapes: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shape of each output."""
        function = self._op.functions.output_shape
        if function is None:
            return (tuple(shapes[0]),) * self._op.num_outputs
        inputs = Arrays(shapes, [_DTYPE] * len(shapes), None)
        for one in inputs.each:
            one.dtype = 0
        return self._each(inputs, lambda call, at: self._shape(function, call, at))

    def _shape(self, function: Any, call: int, at: int) -> tuple[int, Shape]:
        found, count = (abi.i64 * abi.MAX_NDIM)(), abi.i32(0)
        status = function(call, at, ctypes.addressof(found), ctypes.byref(count))
        if status:
            return status, ()
        if not 0 <= count.value <= abi.MAX_NDIM:
            raise OpError(
                f"Operation {self._op.name!r} says that output {at} has {count.value} dimensions; "
                f"0 to {abi.MAX_NDIM} can be"
            )
        shape = tuple(found[: count.value])
        if any(extent < 0 for extent in shape):
            raise OpError(f"Operation {self._op.name!r} says that output {at} has shape {shape}, below 0")
        return 0, shape

    def dtypes(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[np.dtype[Any], ...]:
        """Return the dtype of each output."""
        function = self._op.functions.output_dtype
        if function is None:
            return (np.dtype(dtypes[0]),) * self._op.num_outputs
        inputs = Arrays([()] * len(dtypes), [_DTYPE] * len(dtypes), None)
        for one, dtype in zip(inputs.each, dtypes, strict=True):
            one.shape, one.size, one.dtype = None, 0, self._code(np.dtype(dtype))
        return self._each(inputs, lambda call, at: self._dtype(function, call, at))

    def _code(self, dtype: np.dtype[Any]) -> int:
        if dtype not in CODES:
            raise OpError(
                f"Operation {self._op.name!r} does not take these inputs: no native op takes {dtype}"
            )
        return CODES[dtype]

    def _dtype(self, function: Any, call: int, at: int) -> tuple[int, np.dtype[Any]]:
        found = abi.i32(0)
        status = function(call, at, ctypes.byref(found))
        if status:
            return status, _DTYPE
        if found.value not in NUMPY:
            raise OpError(
                f"Operation {self._op.name!r} says that output {at} has dtype {found.value}, "
                "which brainsmith_plugin.h does not list"
            )
        return 0, NUMPY[found.value]

    def devices(self, devices: Sequence[str]) -> tuple[str, ...]:
        """Return the device of each output."""
        function = self._op.functions.output_device
        if function is None:
            return (devices[0],) * self._op.num_outputs
        inputs = Arrays([()] * len(devices), [_DTYPE] * len(devices))
        for one, device in zip(inputs.each, devices, strict=True):
            one.shape, one.size, one.dtype, one.device = None, 0, 0, device.encode()
        return self._each(inputs, lambda call, at: self._device(function, call, at))

    def _device(self, function: Any, call: int, at: int) -> tuple[int, str]:
        found = abi.text(None)
        status = function(call, at, ctypes.byref(found))
        if status:
            return status, ""
        if found.value is None:
            raise OpError(f"Operation {self._op.name!r} names no device for output {at}")
        return 0, found.value.decode(errors="replace")

    def _each(self, inputs: Arrays, ask: Callable[[int, int], tuple[int, Any]]) -> tuple[Any, ...]:
        """Ask for each output, with the inputs in a call of its own."""
        error = ctypes.create_string_buffer(ERROR_BYTES)
        call = new_call(self._op, error, inputs.address)
        answers = []
        for at in range(self._op.num_outputs):
            error[0] = b"\0"
            status, answer = ask(ctypes.addressof(call), at)
            if status:
                raise OpError(failure(self._op, status, take_text(error), ""))
            answers.append(answer)
        return tuple(answers)
