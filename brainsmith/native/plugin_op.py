"""An operation as the table of its native plugin describes it: one class, whether its code runs here or in a worker."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.autodiff.op import Op
from brainsmith.errors import GradientError, OpError
from brainsmith.native import abi
from brainsmith.native.gradients import expect_written, fitting_gradients, fitting_outputs, mark
from brainsmith.native.shape_rules import CODES, ShapeRules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from brainsmith.autodiff.op import Array, Arrays, Dtypes, Shape, Shapes
    from brainsmith.native.function_call import Signature, StatusError
    from brainsmith.native.plugin_library import PluginLibrary

READY = 0x1 | 0x100
"""Of `ndarray.flags.num`: contiguous in C order, and aligned."""


class CallKind(NamedTuple):
    """What is known of calls with inputs of certain shapes and dtypes.

    Attributes:
        promised: The shape and dtype of each output.
        inputs: `(dtype's number, shape)` of each input, as the plugin's code gets it.
        outputs: Likewise of each output.
    """

    promised: tuple[tuple[Shape, np.dtype[Any]], ...]
    inputs: Signature
    outputs: Signature


class PluginOp(Op):
    """An operation of a native plugin. How its code is reached is a subclass's: `call`, `run`, `answers`.

    Attributes:
        table: What the table says of it; the functions' addresses are those of the process where its code is.
        description: What the plugin says of it.
        plugin: Its plugin's name and version, for messages.
    """

    empty: Callable[[Shape, np.dtype[Any]], Array]
    """Returns a new array that the plugin's code can write."""

    def __init__(self, library: PluginLibrary, table: Mapping[str, Any]) -> None:
        self.table = table
        self.name = table["name"]
        self.description = table["description"] or ""
        self.version = library.version
        self.bundle = library.name
        self.plugin = f"{library.name} {library.version} ({library.path})"
        self.num_inputs, self.num_outputs = table["num_inputs"], table["num_outputs"]
        bits = table["not_differentiable"]
        self.not_differentiable = tuple(at for at in range(self.num_inputs) if bits >> at & 1)

    @abstractmethod
    def answers(self, rule: str, signature: Signature) -> list[Any]:
        """Return what the plugin's code says of each output.

        Raises:
            OpError: It refused or failed.
        """

    @abstractmethod
    def run(self, function: str, signature: Signature, arrays: Sequence[Array | None]) -> None:
        """Call `validate` or `backward` on arrays that are ready; None stands for one that is not to be written.

        Raises:
            OpError: It refused or failed.
        """

    @abstractmethod
    def ready(self, inputs: Sequence[Any]) -> list[Array]:
        """Return inputs as arrays that the plugin's code can read."""

    @staticmethod
    @abstractmethod
    def placed(array: Array) -> Array:
        """Return an array that the plugin's code can read: itself where it can be."""

    @abstractmethod
    def kind_of(self, inputs: Arrays) -> CallKind:
        """Return what is known of calls with such inputs; it is learned once."""

    @property
    def rules(self) -> ShapeRules:
        """Its rules of shape, dtype and device; made anew, so that an op in no cycle goes with its last user."""
        return ShapeRules(self)

    @property
    def has_gradient(self) -> bool:
        """Whether the plugin has a backward for it."""
        return bool(self.table["backward"])

    def learn(self, shapes: Shapes, dtypes: Dtypes) -> CallKind:
        """Ask what calls with inputs of these shapes and dtypes give."""
        for at, dtype in enumerate(dtypes):
            if dtype not in CODES:
                raise OpError(
                    f"Operation {self.name!r} does not take these inputs: no native op takes {dtype}; input {at}"
                )
        promised = tuple(zip(*self.rules.outputs(shapes, dtypes), strict=True))
        given = tuple((CODES[dtype], shape) for shape, dtype in zip(shapes, dtypes, strict=True))
        return CallKind(promised, given, tuple((CODES[dtype], shape) for shape, dtype in promised))

    def too_large(self, promised: Sequence[tuple[Shape, np.dtype[Any]]]) -> OpError:
        """Return the error for outputs for which there is no memory."""
        sizes = ", ".join(str(shape) for shape, _ in promised)
        return OpError(
            f"Operation {self.name!r} promises outputs of shape {sizes}, which this machine cannot hold"
        )

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Run the plugin's code on arrays; those that are ready for it are not copied."""
        return self.call(inputs, attributes)

    def backward(
        self, grad_output: Any, inputs: Arrays, output: Any, **attributes: Any
    ) -> tuple[Array | None, ...]:
        """Return the gradient of each input, from the plugin's code.

        Raises:
            GradientError: The plugin has none, or fails; or an input, gradient or output has the wrong dtype or shape.
            PluginCrashError: It ended the process in which it is isolated, or did not answer in time.
        """
        self.expect_gradient(())
        arrays = self.ready(inputs)
        self.expect_gradient(arrays)
        kind = self.kind_of(arrays)
        upstream = fitting_gradients(self, grad_output, kind.promised)
        results = fitting_outputs(self, output, kind.promised)
        made = [
            None if at in self.not_differentiable else self.empty(x.shape, x.dtype)
            for at, x in enumerate(arrays)
        ]
        mark(made)
        signature = kind.inputs + kind.outputs + kind.outputs + kind.inputs
        self.run(
            "backward", signature, [*arrays, *map(self.placed, results), *map(self.placed, upstream), *made]
        )
        expect_written(self, made)
        return tuple(made)

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Have the plugin's code look at the inputs, with OpError if it does not take them."""
        arrays = self.ready(inputs)
        kind = self.kind_of(arrays)
        if self.table["validate"]:
            self.run("validate", kind.inputs, arrays)

    def expect_gradient(self, inputs: Arrays) -> None:
        """Raise GradientError unless there is a gradient for such inputs."""
        if not self.has_gradient:
            raise GradientError(f"operation {self.name!r} has no gradient: it defines no backward")
        for at, array in enumerate(inputs):
            if array.dtype.kind != "f" and at not in self.not_differentiable:
                raise GradientError(
                    f"operation {self.name!r} has no gradient for input {at}, which is of {array.dtype}"
                )

    def unloaded_error(self) -> OpError:
        """Return the error for a call after the library was unloaded."""
        return OpError(f"Operation {self.name!r} was removed: native plugin {self.plugin} was unloaded")

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Return the output's shape, or a tuple of shapes, as the plugin says."""
        return self._asked(self.rules.shapes, shapes)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Return the output's dtype, or a tuple of them, as the plugin says."""
        return self._asked(self.rules.dtypes, dtypes)

    def output_device(self, devices: Sequence[str], **attributes: Any) -> Any:
        """Return the output's device, or a tuple of them, as the plugin says."""
        return self._asked(self.rules.devices, devices)

    def _asked(self, rule: Callable[[Any], tuple[Any, ...]], given: Sequence[Any]) -> Any:
        answers = rule(given)
        return answers[0] if self.num_outputs == 1 else answers

    def refusal(self, function: str, inputs: Signature, error: StatusError) -> OpError:
        """Return the error for a status that is not OK, of a function that was called on such inputs."""
        status, text, other = error.args
        shapes = ", ".join(str(shape) for _, shape in inputs[: self.num_inputs])
        where = f" on shapes {shapes}" if function in ("forward", "backward") and not other else ""
        said = self._failure(status, text or "it gave no message", where)
        return GradientError(f"backward: {said}") if function == "backward" else OpError(said)

    def _failure(self, status: int, why: str, where: str) -> str:
        if status == abi.INVALID_INPUT:
            return f"Operation {self.name!r} does not take these inputs: {why}"
        if status == abi.PANIC:
            return f"Operation {self.name!r} panicked{where}: {why}\n  this is a bug in native plugin {self.plugin}"
        if status != abi.ERROR:
            why = f"it returned the status {status}, which this host does not know; {why}"
        return f"Operation {self.name!r} failed{where}: {why}"
