"""An operation as the table of its native plugin describes it: one class, whether its code runs here or in a worker."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.autodiff.calls import promised
from brainsmith.autodiff.op import Op, operation_error
from brainsmith.errors import GradientError, OpError
from brainsmith.figures import plural
from brainsmith.native import abi
from brainsmith.native.gradients import expect_written, fitting_gradients, fitting_outputs, mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from brainsmith.autodiff.op import Array, Arrays, Dtypes, Shape, Shapes
    from brainsmith.native.function_call import Signature, StatusError
    from brainsmith.native.plugin_library import PluginLibrary

CODES = {np.dtype(name): code for code, name in abi.DTYPES.items()}
"""The dtypes' numbers."""
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
    def has_gradient(self) -> bool:
        """Whether the plugin has a backward for it."""
        return bool(self.table["backward"])

    def learn(self, shapes: Shapes, dtypes: Dtypes) -> CallKind:
        """Ask what calls with inputs of these shapes and dtypes give."""
        for at, dtype in enumerate(dtypes):
            if dtype not in CODES:
                raise operation_error(self, f"does not take input {at}: no native op takes {dtype}")
        outputs = tuple(zip(*promised(self, shapes, dtypes, {}), strict=True))
        given = tuple((CODES[dtype], shape) for shape, dtype in zip(shapes, dtypes, strict=True))
        return CallKind(outputs, given, tuple((CODES[dtype], shape) for shape, dtype in outputs))

    def too_large(self, promised: Sequence[tuple[Shape, np.dtype[Any]]]) -> OpError:
        """Return the error for outputs for which there is no memory."""
        sizes = ", ".join(str(shape) for shape, _ in promised)
        return operation_error(self, f"promises outputs of shape {sizes}, which this machine cannot hold")

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
        return operation_error(self, f"was removed: native plugin {self.plugin} was unloaded")

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Return the output's shape, or a tuple of shapes, as the plugin says."""
        given = ((0, tuple(map(int, shape))) for shape in shapes)
        return self._by_rule("output_shape", given, tuple(shapes[0]))

    def _checked_output_shape(self, at: int, answer: Sequence[int] | int) -> Shape:
        if isinstance(answer, int):
            raise operation_error(
                self,
                f"says that output {at} has {plural(answer, 'dimension')}; it must have 0 to {abi.MAX_NDIM}",
            )
        if any(extent < 0 for extent in answer):
            raise operation_error(self, f"says that output {at} has the negative shape {tuple(answer)}")
        return tuple(answer)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Return the output's dtype, or a tuple of them, as the plugin says."""
        for dtype in dtypes if self.table["output_dtype"] else ():
            if np.dtype(dtype) not in CODES:
                raise operation_error(self, f"does not take these inputs: no native op takes {dtype}")
        codes = ((CODES.get(np.dtype(dtype)), None) for dtype in dtypes)
        return self._by_rule("output_dtype", codes, np.dtype(dtypes[0]))

    def _checked_output_dtype(self, at: int, code: int) -> np.dtype[Any]:
        if code not in abi.DTYPES:
            raise operation_error(
                self, f"says that output {at} has dtype {code}, which brainsmith_plugin.h does not list"
            )
        return np.dtype(abi.DTYPES[code])

    def output_device(self, devices: Sequence[str], **attributes: Any) -> Any:
        """Return the output's device, or a tuple of them, as the plugin says."""
        return self._by_rule("output_device", ((device, None) for device in devices), devices[0])

    def _checked_output_device(self, at: int, device: str | None) -> str:
        if device is None:
            raise operation_error(self, f"names no device for output {at}")
        return device

    def _by_rule(self, rule: str, signature: Iterable[tuple[Any, Any]], default: Any) -> Any:
        """Return what the plugin says of each output; without a rule of its own, each is as the first input."""
        found = (default,) * self.num_outputs
        if self.table[rule]:
            checked = getattr(self, f"_checked_{rule}")
            found = tuple(checked(at, one) for at, one in enumerate(self.answers(rule, tuple(signature))))
        return found[0] if self.num_outputs == 1 else found

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
