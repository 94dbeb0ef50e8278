"""An op whose code is in a native library: no copy in or out for contiguous arrays, and little work around a call."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.bounded_cache import BoundedCache
from brainsmith.autodiff.calls import as_arrays
from brainsmith.autodiff.op import attributes_of, operation_error
from brainsmith.native.frame import Frame, address_of
from brainsmith.native.function_call import FunctionCall, StatusError
from brainsmith.native.plugin_op import READY, PluginOp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from brainsmith.autodiff.op import Array, Arrays, Shape
    from brainsmith.native.function_call import Signature
    from brainsmith.native.native_library import NativeLibrary
    from brainsmith.native.plugin_op import CallKind

_MOST_FRAMES = 256
"""Frames that one thread keeps for one op; with more shapes than that it begins anew."""


class Usage:
    """How one thread uses one op: only that thread writes here, so that no call needs a lock.

    Attributes:
        calls: How many calls it is in the midst of; the library stays as long as one is.
        frames: Those of past calls, by the shapes and dtypes of their inputs; other functions by name and signature.
        thread: Its number.
    """

    __slots__ = ("__weakref__", "calls", "frames", "thread")

    def __init__(self) -> None:
        self.calls, self.thread = 0, threading.get_ident()
        self.frames: dict[tuple[Any, ...], Any] = BoundedCache(_MOST_FRAMES)


class LoadState:
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

    Its code is to be called within `in_library` only.
    """

    empty = staticmethod(np.empty)  # type: ignore[assignment]

    def __init__(self, library: NativeLibrary, load_state: LoadState, table: Mapping[str, Any]) -> None:
        super().__init__(library, table)
        self.library = library
        self._load_state = load_state
        self._thread = _PerThread(library)

    @property
    def unloaded(self) -> bool:
        """Whether the library was unloaded, or is about to be."""
        return self._load_state.closed

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
                inputs = self.ready(inputs)
                key = [part for array in inputs for part in (array.shape, array.dtype)]
                break
            key += (x.shape, x.dtype)
        usage = self._thread.usage
        usage.calls += 1
        try:
            if self._load_state.closed:
                raise self.unloaded_error()
            frame = usage.frames.get(tuple(key)) if usage.calls == 1 else None
            if frame is None:
                inputs = self.ready(inputs)
                frame = self._frame(usage, inputs)
            outputs = frame.forward(inputs)
        finally:
            usage.calls -= 1
        return outputs[0] if self.num_outputs == 1 else tuple(outputs)

    def ready(self, inputs: Sequence[Any]) -> list[Array]:
        """Return inputs as arrays that a plugin can read: contiguous, aligned, in this machine's byte order."""
        return [self.placed(array) for array in as_arrays(self, inputs)]

    def kind_of(self, inputs: Arrays) -> CallKind:
        """Return what is known of calls with such inputs."""
        kind: CallKind = self.in_library(lambda usage: self._frame(usage, inputs)).kind
        return kind

    def _frame(self, usage: Usage, inputs: Arrays) -> Frame:
        shapes, dtypes = [x.shape for x in inputs], [x.dtype for x in inputs]
        key = tuple(part for pair in zip(shapes, dtypes, strict=True) for part in pair)
        frame: Frame = _kept(usage, key, lambda: Frame(self, self.learn(shapes, dtypes)))
        return frame

    def in_library(self, work: Callable[[Usage], Any]) -> Any:
        """Call something that uses the library's code, which stays loaded until it returns.

        Raises:
            OpError: It is loaded no longer.
        """
        usage = self._thread.usage
        usage.calls += 1
        try:
            # A call within a call keeps the library, as that one does.
            if self._load_state.closed and usage.calls == 1:
                raise self.unloaded_error()
            return work(usage)
        finally:
            usage.calls -= 1

    def forward_into(self, inputs: Arrays, outputs: Arrays) -> None:
        """Run the plugin's code, and have the results written to given arrays.

        Raises:
            OpError: The outputs are not contiguous, overlap with inputs, or have another shape or dtype than the op's
                rules say.
        """
        arrays = self.ready(inputs)

        def run(usage: Usage) -> None:
            frame = self._frame(usage, arrays)
            if any(np.may_share_memory(x, y) for x in arrays for y in outputs):
                raise operation_error(self, "cannot write its output over its input")
            given = tuple((y.shape, y.dtype) for y in outputs)
            promised = frame.kind.promised
            if given != promised or any(
                y.flags.num & READY != READY or not y.flags.writeable for y in outputs
            ):
                raise operation_error(
                    self, f"writes contiguous arrays {_listed(promised)}, not {_listed(given)}"
                )
            frame.forward(arrays, outputs)

        self.in_library(run)

    def run(self, function: str, signature: Signature, arrays: Sequence[Array | None]) -> None:
        """Call `validate` or `backward` on arrays that are ready."""

        def run(usage: Usage) -> None:
            call = _kept(usage, (function, signature), lambda: FunctionCall(self.table, function, signature))
            for one, array in zip(call.tensors, arrays, strict=True):
                one.data = None if array is None else address_of(array)
            call.run()

        self._refused(function, signature, run)

    def answers(self, rule: str, signature: Signature) -> list[Any]:
        """Return what the plugin's code says of each output."""
        found: list[Any] = self._refused(
            rule, signature, lambda _: FunctionCall(self.table, rule, signature).answers()
        )
        return found

    def _by_rule(self, rule: str, signature: Iterable[tuple[Any, Any]], default: Any) -> Any:
        by_rule = super()._by_rule
        return self.in_library(lambda _: by_rule(rule, signature, default))

    def _refused(self, function: str, signature: Signature, work: Callable[[Usage], Any]) -> Any:
        try:
            return self.in_library(work)
        except StatusError as error:
            raise self.refusal(function, signature, error) from None

    @staticmethod
    def placed(array: Array) -> Array:
        """Return an array that a plugin can read: itself where it can be."""
        array = np.asarray(array)
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        return array if array.flags.num & READY == READY else array.copy(order="C")


def _kept(usage: Usage, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """Return what a thread keeps for later calls; a new one for a call within a call, as a finaliser or signal may make."""
    if usage.calls > 1:
        return make()
    found = usage.frames.get(key)
    if found is None:
        found = make()
        usage.frames[key] = found
    return found


def _listed(arrays: Sequence[tuple[Shape, Any]]) -> str:
    return ", ".join(f"{shape} of {dtype}" for shape, dtype in arrays)
