"""An operation of a native library that runs in the library's own process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.autodiff.calls import as_arrays
from brainsmith.autodiff.op import attributes_of
from brainsmith.errors import OpError, SharedMemoryError
from brainsmith.native.frame import CODES
from brainsmith.native.gradients import expect_written, fitting_gradients, fitting_outputs, mark
from brainsmith.native.isolation import channel as ch
from brainsmith.native.isolation.isolated_rules import IsolatedRules
from brainsmith.native.isolation.pool import Block, place_of
from brainsmith.native.isolation.shared import shared_like
from brainsmith.native.plugin_op import READY, PluginOp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Array, Shape
    from brainsmith.native.isolation.worker_process import Worker
    from brainsmith.native.plugin_library import PluginLibrary

_MOST_KINDS = 1024
"""Kinds of inputs that one op remembers; with more than that it begins anew."""


class Kind(NamedTuple):
    """What is known of calls with inputs of certain shapes and dtypes.

    Attributes:
        shapes: Of the outputs.
        dtypes: Of the outputs.
        inputs: `(dtype, shape)` of each input, as the worker reads it.
        outputs: Of each output.
    """

    shapes: tuple[Shape, ...]
    dtypes: tuple[np.dtype[Any], ...]
    inputs: tuple[tuple[int, Shape], ...]
    outputs: tuple[tuple[int, Shape], ...]


class IsolatedOp(PluginOp):
    """An operation that a worker runs.

    Arrays that are shared (`ops.shared_empty`, results of isolated operations, views of them) are passed as they are;
    others are copied into shared memory first. What it returns is shared.

    Attributes:
        worker: What runs it.
        number: Its place in the table.
        table: What the table says of it; the functions' addresses are the worker's.
        answers: What its rules answered, by what they were asked.
    """

    def __init__(self, library: PluginLibrary, worker: Worker, number: int, table: Mapping[str, Any]) -> None:
        super().__init__(library, table)
        self.worker, self.number, self.table = worker, number, table
        self.answers: dict[tuple[Any, ...], list[Any]] = {}
        self._kinds: dict[tuple[Any, ...], Kind] = {}

    @property
    def unloaded(self) -> bool:
        """Whether the library was unloaded, or is about to be."""
        return self.worker.closed

    @property
    def rules(self) -> IsolatedRules:
        """Its rules of shape, dtype and device."""
        return IsolatedRules(self)

    @property
    def has_gradient(self) -> bool:
        """Whether the plugin has a backward for it."""
        return bool(self.table["backward"])

    def call(self, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        """Run a checked call: all that `call_op` does, in one exchange with the worker.

        Raises:
            OpError: Wrong inputs, or the plugin's own error.
            PluginCrashError: It ended its process, or did not answer in time.
        """
        if attributes:
            attributes_of(self, attributes)
        arrays = self._ready(inputs)
        kind = self._kind(arrays)
        outputs = self._allocate(kind)
        self._run(ch.FORWARD, kind.inputs + kind.outputs, [*arrays, *outputs], "forward")
        return outputs[0] if self.num_outputs == 1 else tuple(outputs)

    def _allocate(self, kind: Kind) -> list[Array]:
        empty = self.worker.pool.empty
        try:
            return [empty(shape, dtype) for shape, dtype in zip(kind.shapes, kind.dtypes, strict=True)]
        except SharedMemoryError as error:
            sizes = ", ".join(map(str, kind.shapes))
            raise OpError(
                f"Operation {self.name!r} promises outputs of shape {sizes}, which this machine cannot hold"
            ) from error

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Have the worker run the plugin's code."""
        return self.call(inputs, attributes)

    def backward(
        self, grad_output: Any, inputs: Sequence[Array], output: Any, **attributes: Any
    ) -> tuple[Array | None, ...]:
        """Return the gradient of each input, from the plugin's code.

        Raises:
            GradientError: The plugin has none, or fails; or an input, gradient or output has the wrong dtype or shape.
            PluginCrashError: It ended its process, or did not answer in time.
        """
        self.expect_gradient(())
        arrays = self._ready(inputs)
        self.expect_gradient(arrays)
        kind = self._kind(arrays)
        upstream = fitting_gradients(self, grad_output, kind.shapes, kind.dtypes)
        results = fitting_outputs(self, output, kind.shapes, kind.dtypes)
        made = [
            None if at in self.not_differentiable else self.worker.pool.empty(x.shape, x.dtype)
            for at, x in enumerate(arrays)
        ]
        mark(made)
        passed = [*arrays, *map(_shared, results), *map(_shared, upstream), *made]
        self._run(ch.BACKWARD, kind.inputs + kind.outputs + kind.outputs + kind.inputs, passed, "backward")
        expect_written(self, made)
        return tuple(made)

    def validate_inputs(self, inputs: Sequence[Array], **attributes: Any) -> None:
        """Have the plugin's code look at the inputs, with OpError if it does not take them."""
        arrays = self._ready(inputs)
        if self.table["validate"]:
            self._run(ch.VALIDATE, self._kind(arrays).inputs, arrays, "validate")

    def _ready(self, inputs: Sequence[Any]) -> list[Array]:
        """Return inputs as arrays that the worker can read."""
        for x in inputs:
            if type(x) is not np.ndarray:
                inputs = as_arrays(self, inputs)
                break
        else:
            if len(inputs) != self.num_inputs or any(x.dtype not in CODES for x in inputs):
                inputs = as_arrays(self, inputs)
        return [x if type(x.base) is Block and x.flags.num & READY == READY else _shared(x) for x in inputs]

    def _kind(self, arrays: Sequence[Array]) -> Kind:
        key = tuple([part for x in arrays for part in (x.shape, x.dtype)])
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= _MOST_KINDS:
                self._kinds.clear()
            kind = self._kinds[key] = self._learn([x.shape for x in arrays], [x.dtype for x in arrays])
        return kind

    def _learn(self, shapes: list[Shape], dtypes: list[np.dtype[Any]]) -> Kind:
        for at, dtype in enumerate(dtypes):
            if dtype not in CODES:
                raise OpError(
                    f"Operation {self.name!r} does not take these inputs: no native op takes {dtype}; input {at}"
                )
        found_shapes, found_dtypes = self.rules.outputs(shapes, dtypes)
        given = tuple((CODES[dtype], shape) for shape, dtype in zip(shapes, dtypes, strict=True))
        made = tuple((CODES[dtype], shape) for shape, dtype in zip(found_shapes, found_dtypes, strict=True))
        return Kind(found_shapes, found_dtypes, given, made)

    def _run(
        self, command: int, signature: tuple[Any, ...], arrays: Sequence[Array | None], what: str
    ) -> None:
        """Have the worker call a function on shared arrays; None stands for one that is not to be written."""
        placed = [None if array is None else place_of(array) for array in arrays]
        places = tuple([(0, 0) if place is None else (place[0].number, place[1]) for place in placed])
        regions = [place[0] for place in placed if place is not None]
        self.worker.ask(self, (command, self.number, signature, places), regions, what)


def _shared(array: Array) -> Array:
    """Return an array that a worker can read: itself where it can be."""
    native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if native.flags.num & READY == READY and place_of(native) is not None:
        return native
    return shared_like(native)
