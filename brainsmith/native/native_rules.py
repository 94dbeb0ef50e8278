"""The rules of an operation whose code is in this process."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import OpError
from brainsmith.native import abi
from brainsmith.native.frame import ERROR_BYTES, Arrays, failure, new_call, take_text
from brainsmith.native.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.autodiff.op import Shape
    from brainsmith.native.native_op import NativeOp

_DTYPE = np.dtype(np.float32)


class NativeRules(Rules):
    """Call an operation's rules. The library must be open."""

    _op: NativeOp

    def _has(self, rule: str) -> bool:
        return getattr(self._op.functions, rule) is not None

    def _ask_shapes(self, shapes: Sequence[Shape]) -> Sequence[Sequence[int] | int]:
        inputs = Arrays(shapes, [_DTYPE] * len(shapes), None)
        for one in inputs.each:
            one.dtype = 0
        function: Any = self._op.functions.output_shape

        def ask(call: int, at: int) -> tuple[int, Sequence[int] | int]:
            found, count = (abi.i64 * abi.MAX_NDIM)(), abi.i32(0)
            status = function(call, at, ctypes.addressof(found), ctypes.byref(count))
            possible = 0 <= count.value <= abi.MAX_NDIM
            return status, found[: count.value] if possible else count.value

        return self._each(inputs, ask)

    def _ask_dtypes(self, codes: Sequence[int]) -> Sequence[int]:
        inputs = Arrays([()] * len(codes), [_DTYPE] * len(codes), None)
        for one, code in zip(inputs.each, codes, strict=True):
            one.shape, one.size, one.dtype = None, 0, code
        function: Any = self._op.functions.output_dtype

        def ask(call: int, at: int) -> tuple[int, int]:
            found = abi.i32(0)
            return function(call, at, ctypes.byref(found)), found.value

        return self._each(inputs, ask)

    def _ask_devices(self, devices: Sequence[str]) -> Sequence[str | None]:
        inputs = Arrays([()] * len(devices), [_DTYPE] * len(devices))
        for one, device in zip(inputs.each, devices, strict=True):
            one.shape, one.size, one.dtype, one.device = None, 0, 0, device.encode()
        function: Any = self._op.functions.output_device

        def ask(call: int, at: int) -> tuple[int, str | None]:
            found = abi.text(None)
            status = function(call, at, ctypes.byref(found))
            return status, None if status or found.value is None else found.value.decode(errors="replace")

        return self._each(inputs, ask)

    def _each(self, inputs: Arrays, ask: Callable[[int, int], tuple[int, Any]]) -> list[Any]:
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
        return answers
