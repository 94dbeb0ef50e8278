"""An op whose code is in a native library: no copy in or out for contiguous arrays, and little work around a call."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.autodiff.calls import as_arrays
from brainsmith.autodiff.op import attributes_of
from brainsmith.errors import OpError
from brainsmith.native import abi
from brainsmith.native.frame import Frame
from brainsmith.native.gradients import fitting_gradients, fitting_outputs
from brainsmith.native.native_rules import NativeRules
from brainsmith.native.plugin_op import READY, PluginOp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from brainsmith.autodiff.op import Array, Shape
    from brainsmith.native.library import NativeLibrary

    Function = Callable[..., int]

_MOST_FRAMES = 256
"""Frames that one thread keeps for one op; with more shapes than that it begins anew."""


class Functions(NamedTuple):
    """The functions of one operation; those that it has not are None."""

    user_data: int | None
    validate: Function | None
    output_shape: Function | None
    output_dtype: Function | None
    output_device: Function | None
    forward: Function
    backward: Function | None


def functions_of(table: Mapping[str, Any]) -> Functions:
    """Return the functions that one op's part of a table (`table.describe`) points to."""
    types = {
        "validate": abi.CALL_FUNCTION,
        "output_shape": abi.SHAPE_FUNCTION,
        "output_dtype": abi.DTYPE_FUNCTION,
        "output_device": abi.DEVICE_FUNCTION,
        "forward": abi.CALL_FUNCTION,
        "backward": abi.CALL_FUNCTION,
    }
    made = {name: kind(table[name]) if table[name] else None for name, kind in types.items()}
    return Functions(user_data=table["user_data"] or None, **made)  # type: ignore[arg-type]


class Usage:
    """How one thread uses one op: only that thread writes here, so that no call needs a lock.

    Attributes:
        calls: How many calls it is in the midst of; the library stays as long as one is.
        frames: Those of past calls, by the shapes and dtypes of their inputs.
        thread: Its number.
    """

    __slots__ = ("__weakref__", "calls", "frames", "thread")

    def __init__(self) -> None:
        self.calls, self.thread = 0, threading.get_ident()
        self.frames: dict[tuple[Any, ...], Frame] = {}


class Standing:
    """Whether a library is there: an object of its own, which the library, its ops and its finaliser share.

    Attributes:
        closed: It is unloaded, or about to be.
    """

    __slots__ = ("closed",)

    def __init__(self) -> None:
        self.closed = False


class _PerThread(threading.local):
    def __init__(self, library: NativeLibrary) -> None:
        self.usage = library.new_usage()


class NativeOp(PluginOp):
    """An operation of a native library; it keeps the library loaded, until that is closed.

    Attributes:
        functions: Its code; to be called within `in_library` only.
        validates_by_shape: Whether `validate` looks at no values.
    """

    def __init__(self, library: NativeLibrary, standing: Standing, table: Mapping[str, Any]) -> None:
        super().__init__(library, table)
        self.functions = functions_of(table)
        self.validates_by_shape = bool(table["flags"] & abi.VALIDATE_BY_SHAPE)
        self.library = library
        self._standing = standing
        self._thread = _PerThread(library)

    @property
    def unloaded(self) -> bool:
        """Whether the library was unloaded, or is about to be."""
        return self._standing.closed

    @property
    def rules(self) -> NativeRules:
        """Its rules of shape, dtype and device; to be asked within `in_library` only."""
        return NativeRules(self)

    @property
    def has_gradient(self) -> bool:
        """Whether the plugin has a backward for it."""
        return self.functions.backward is not None

    def call(self, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        """Run a checked call: all that `call_op` does, in less time.

        Raises:
            OpError: Wrong inputs, or the plugin's own error.
        """
        if attributes:
            attributes_of(self, attributes)
        key: list[Any] = []
        for x in inputs:
            if type(x) is not np.ndarray or x.flags.num & READY != READY:
                inputs = self._ready(inputs)
                key = [part for array in inputs for part in (array.shape, array.dtype)]
                break
            key += (x.shape, x.dtype)
        usage = self._thread.usage
        usage.calls += 1
        try:
            if self._standing.closed:
                raise self.unloaded_error()
            frame = usage.frames.get(tuple(key)) if usage.calls == 1 else None
            if frame is None:
                inputs = self._ready(inputs)
                frame = self._frame(usage, inputs)
            outputs = frame.forward(inputs)
        finally:
            usage.calls -= 1
        return outputs[0] if self.num_outputs == 1 else tuple(outputs)

    def _ready(self, inputs: Sequence[Any]) -> list[Array]:
        """Return inputs as arrays that a plugin can read: contiguous, aligned, in this machine's byte order."""
        return [_ready(array) for array in as_arrays(self, inputs)]

    def _frame(self, usage: Usage, inputs: Sequence[Array]) -> Frame:
        """Return the frame for inputs; a new one for a call within a call, which a finaliser or signal may make."""
        shapes, dtypes = tuple(x.shape for x in inputs), tuple(x.dtype for x in inputs)
        key = tuple(part for pair in zip(shapes, dtypes, strict=True) for part in pair)
        if usage.calls > 1:
            return Frame(self, shapes, dtypes)
        frame = usage.frames.get(key)
        if frame is None:
            frame = Frame(self, shapes, dtypes)
            if len(usage.frames) >= _MOST_FRAMES:
                usage.frames.clear()
            usage.frames[key] = frame
        return frame

    def in_library(self, work: Callable[[Usage], Any]) -> Any:
        """Do something with the library's code, which stays loaded until that is done.

        Raises:
            OpError: It is loaded no longer.
        """
        usage = self._thread.usage
        usage.calls += 1
        try:
            if self._standing.closed:
                raise self.unloaded_error()
            return work(usage)
        finally:
            usage.calls -= 1

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Run the plugin's code on arrays; those that are contiguous are not copied."""
        return self.call(inputs, attributes)

    def forward_into(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Run the plugin's code, and have the results written to given arrays.

        Raises:
            OpError: The outputs are not contiguous, overlap with inputs, or have another shape or dtype than the op's
                rules say.
        """
        arrays = self._ready(inputs)

        def run(usage: Usage) -> None:
            frame = self._frame(usage, arrays)
            if any(np.may_share_memory(x, y) for x in arrays for y in outputs):
                raise OpError(f"Operation {self.name!r} cannot write its output over its input")
            given = [(y.shape, y.dtype) for y in outputs]
            promised = list(zip(frame.shapes, frame.dtypes, strict=True))
            if given != promised or any(
                y.flags.num & READY != READY or not y.flags.writeable for y in outputs
            ):
                raise OpError(
                    f"Operation {self.name!r} writes contiguous arrays {_listed(promised)}, not {_listed(given)}"
                )
            frame.forward(arrays, outputs)

        self.in_library(run)

    def backward(
        self, grad_output: Any, inputs: Sequence[Array], output: Any, **attributes: Any
    ) -> tuple[Array | None, ...]:
        """Return the gradient of each input, from the plugin's code.

        Raises:
            GradientError: The plugin has none, or fails; or an input, gradient or output has the wrong dtype or shape.
        """
        self.expect_gradient(())
        arrays = self._ready(inputs)
        self.expect_gradient(arrays)

        def run(usage: Usage) -> Any:
            frame = self._frame(usage, arrays)
            upstream = fitting_gradients(self, grad_output, frame.shapes, frame.dtypes)
            results = fitting_outputs(self, output, frame.shapes, frame.dtypes)
            return frame.backward([_ready(y) for y in upstream], arrays, [_ready(y) for y in results])

        found: tuple[Array | None, ...] = self.in_library(run)
        return found

    def validate_inputs(self, inputs: Sequence[Array], **attributes: Any) -> None:
        """Have the plugin's code look at the inputs, with OpError if it does not take them."""
        arrays = self._ready(inputs)
        self.in_library(lambda usage: self._frame(usage, arrays).validate(arrays))

    def _asked(self, rule: Callable[[Any], tuple[Any, ...]], given: Sequence[Any]) -> Any:
        asked = super()._asked
        return self.in_library(lambda _: asked(rule, given))


def _ready(array: Array) -> Array:
    """Return an array that a plugin can read: itself where it can be."""
    array = np.asarray(array)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array if array.flags.num & READY == READY else array.copy(order="C")


def _listed(arrays: Sequence[tuple[Shape, Any]]) -> str:
    return ", ".join(f"{shape} of {dtype}" for shape, dtype in arrays)
