"""An operation of a native library that runs in the library's own process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.bounded_cache import BoundedCache
from brainsmith.autodiff.calls import as_arrays
from brainsmith.autodiff.op import attributes_of
from brainsmith.errors import SharedMemoryError
from brainsmith.native.function_call import StatusError
from brainsmith.native.isolation.pool import PoolBlock, place_of
from brainsmith.native.isolation.shared import shared_like
from brainsmith.native.plugin_op import CODES, READY, PluginOp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Array, Arrays, Shape
    from brainsmith.native.function_call import Signature
    from brainsmith.native.isolation.region import Region
    from brainsmith.native.isolation.worker_process import Worker
    from brainsmith.native.plugin_library import PluginLibrary
    from brainsmith.native.plugin_op import CallKind

_MOST_KINDS = 1024
"""Kinds of inputs that one op remembers; with more than that it begins anew."""


class IsolatedOp(PluginOp):
    """An operation that a worker runs.

    Arrays that are shared (`ops.shared_empty`, results of isolated operations, views of them) are passed as they are;
    others are copied into shared memory first. What it returns is shared.

    Attributes:
        worker: What runs it.
        number: Its place in the table.
    """

    def __init__(self, library: PluginLibrary, worker: Worker, number: int, table: Mapping[str, Any]) -> None:
        super().__init__(library, table)
        self.worker, self.number = worker, number
        self._answers: dict[tuple[Any, ...], list[Any]] = BoundedCache(_MOST_KINDS)
        self._kinds: dict[tuple[Any, ...], CallKind] = BoundedCache(_MOST_KINDS)

    @property
    def unloaded(self) -> bool:
        """Whether the library was unloaded, or is about to be."""
        return self.worker.closed

    def empty(self, shape: Shape, dtype: np.dtype[Any]) -> Array:
        """Return a new array that the worker can write."""
        return self.worker.pool.empty(shape, dtype)

    def call(self, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        """Run a checked call: all that `call_op` does, in one exchange with the worker.

        Raises:
            OpError: Wrong inputs, or the plugin's own error.
            PluginCrashError: It ended its process, or did not answer in time.
        """
        if attributes:
            attributes_of(self, attributes)
        arrays = self.ready(inputs)
        kind = self.kind_of(arrays)
        try:
            outputs = [self.empty(shape, dtype) for shape, dtype in kind.promised]
        except SharedMemoryError as error:
            raise self.too_large(kind.promised) from error
        self.run("forward", kind.inputs + kind.outputs, [*arrays, *outputs])
        return outputs[0] if self.num_outputs == 1 else tuple(outputs)

    def ready(self, inputs: Sequence[Any]) -> list[Array]:
        """Return inputs as arrays that the worker can read."""
        for x in inputs:
            if type(x) is not np.ndarray:
                inputs = as_arrays(self, inputs)
                break
        else:
            if len(inputs) != self.num_inputs or any(x.dtype not in CODES for x in inputs):
                inputs = as_arrays(self, inputs)
        return [
            x if type(x.base) is PoolBlock and x.flags.num & READY == READY else self.placed(x)
            for x in inputs
        ]

    def kind_of(self, inputs: Arrays) -> CallKind:
        """Return what is known of calls with such inputs."""
        key = tuple([part for x in inputs for part in (x.shape, x.dtype)])
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = self.learn([x.shape for x in inputs], [x.dtype for x in inputs])
        return kind

    def answers(self, rule: str, signature: Signature) -> list[Any]:
        """Return what the plugin's code says; it is remembered, for it hangs on nothing else, as the interface says."""
        found = self._answers.get((rule, signature))
        if found is None:
            found = json.loads(self._ask(rule, signature, (), ()))
            self._answers[rule, signature] = found
        return found

    def run(self, function: str, signature: Signature, arrays: Sequence[Array | None]) -> None:
        """Have the worker call a function on shared arrays."""
        placed = [None if array is None else place_of(array) for array in arrays]
        places = tuple([(0, 0) if place is None else (place[0].number, place[1]) for place in placed])
        self._ask(function, signature, places, [place[0] for place in placed if place is not None])

    def _ask(
        self, function: str, signature: Signature, places: tuple[Any, ...], regions: Sequence[Region]
    ) -> str:
        try:
            return self.worker.ask(self, (function, self.number, signature, places), regions)
        except StatusError as error:
            raise self.refusal(function, signature, error) from None

    @staticmethod
    def placed(array: Array) -> Array:
        """Return an array that a worker can read: itself where it can be."""
        native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
        if native.flags.num & READY == READY and place_of(native) is not None:
            return native
        return shared_like(native)
