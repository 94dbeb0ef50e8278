"""The op interface: one definition that is run, differentiated, exported, compiled and simulated.

class Clamp(Op):
    name, num_inputs = "clamp", 3

    def forward(self, x, low, high):
        return np.clip(x, low, high)

    def backward(self, grad_output, inputs, output):
        x, low, high = inputs
        return grad_output * ((x >= low) & (x <= high)), None, None
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from brainsmith.errors import BrainsmithError, GradientError, OpError
from brainsmith.figures import plural
from brainsmith.shown import typed_text

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
Arrays = Sequence[Array]
Constants = Sequence[Array | None]
Shapes = Sequence[Shape]
Dtypes = Sequence[np.dtype[Any]]
Needed = Sequence[bool]
CPU = "cpu"
"""The device of every array in this process's memory."""


class Op(ABC):
    """An operation on arrays: what it computes, its gradient, and its rules of shape, dtype and device.

    Attributes reach `forward`, `backward` and the rules as keyword arguments; those of a call are merged over
    `attributes`. Rules see plain values, so that they serve a graph that is not run as well as a call. An op with
    several outputs gives and gets tuples where one with a single output gives and gets the value itself.

    Attributes:
        name: What users call it.
        num_inputs: How many arrays it takes.
        num_outputs: How many it gives.
        version: Its own version, noted in models that use it.
        attributes: The names of its attributes, with their defaults.
        not_differentiable: The inputs whose gradient is not defined, by index; `backward` gives None for them.
        bundle: The name of the bundle that brought it; empty for one that came otherwise.
    """

    name: str = ""
    num_inputs: int = 1
    num_outputs: int = 1
    version: str = "1.0.0"
    attributes: ClassVar[Mapping[str, Any]] = {}
    not_differentiable: tuple[int, ...] = ()
    bundle: str = ""
    trusted: ClassVar[bool] = False
    """Whether its rules are known to be those of its forward, so that no call is checked against them again."""

    @abstractmethod
    def forward(self, *inputs: Any, **attributes: Any) -> Any:
        """Compute the output, or a tuple of them. The inputs are not changed."""

    def backward(self, grad_output: Any, inputs: Arrays, output: Any, **attributes: Any) -> Any:
        """Return the gradient of each input, in a sequence; None only for those of `not_differentiable`.

        Args:
            grad_output: The gradient of the output: of its shape and dtype; a tuple for several outputs.
            inputs: What `forward` was given.
            output: What it gave.
            **attributes: What it was given.

        An override may have one more keyword, `needed`: for each input whether its gradient will be used. It may give
        None for those that will not, and save their computation. An attribute of that name comes first.

        Raises:
            GradientError: The op has no gradient; it does unless it overrides this method.
        """
        raise GradientError(f"operation {self.name!r} has no gradient: it defines no backward")

    surrogate: ClassVar[Any] = None
    """Of a straight-through estimator: the function of the same inputs and attributes whose derivative `backward` is.

    If it takes `at` by name, it is given the inputs where the derivative is taken, for what it holds constant there.
    """

    call: ClassVar[Any] = None
    """What runs a whole call, `call(inputs, attributes)`, and checks all that `call_op` would; None leaves it to that."""

    @property
    def unloaded(self) -> bool:
        """Whether what it runs on was unloaded: a call by its name takes the op that has the name by then."""
        return False

    @property
    def has_gradient(self) -> bool:
        """Whether `backward` is defined."""
        return type(self).backward is not Op.backward

    def samples(self, random: np.random.Generator) -> Sequence[Any] | None:
        """Draw inputs where the op is well defined, for checks; None where any numbers of one shape will do."""
        return None

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Raise OpError or ValueError if the op does not take these inputs; their count is checked before."""
        return

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Return the output's shape, or a tuple of shapes; by default the first input's."""
        return shapes[0] if self.num_outputs == 1 else (shapes[0],) * self.num_outputs

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Return the output's numpy dtype, or a tuple of them; by default the first input's."""
        return dtypes[0] if self.num_outputs == 1 else (dtypes[0],) * self.num_outputs

    def output_device(self, devices: Sequence[str], **attributes: Any) -> Any:
        """Return the output's device, or a tuple of them; by default the first input's."""
        return devices[0] if self.num_outputs == 1 else (devices[0],) * self.num_outputs

    def output_datatype(self, datatypes: Sequence[str], **attributes: Any) -> Any:
        """Return the name of the output's QONNX datatype (`INT4`), or a tuple of them; `FLOAT32` by default."""
        return "FLOAT32" if self.num_outputs == 1 else ("FLOAT32",) * self.num_outputs

    def output_datatype_for(self, datatypes: Sequence[str], constants: Constants, **attributes: Any) -> Any:
        """Return what `output_datatype` does, where the values of constant inputs matter too; None for the others."""
        return self.output_datatype(datatypes, **attributes)

    def create_gradient_function(self, inputs: Arrays, output: Any, **attributes: Any) -> Gradient:
        """Return the gradient at a point: `gradient.backward(grad_output, ...)`.

        Raises:
            GradientError: The op has no gradient.
        """
        if not self.has_gradient:
            raise GradientError(f"operation {self.name!r} has no gradient: it defines no backward")
        return Gradient(self, tuple(inputs), output, attributes)

    def __repr__(self) -> str:
        return f"<op {self.name} {self.version}, {plural(self.num_inputs, 'input')}>"


class Gradient:
    """The gradient of one call of an op: `create_gradient_function` makes it."""

    __slots__ = ("_attributes", "_inputs", "_op", "_output")

    def __init__(self, op: Op, inputs: tuple[Array, ...], output: Any, attributes: Mapping[str, Any]) -> None:
        self._op = op
        self._inputs = inputs
        self._output = output
        self._attributes = attributes

    def gradients(self, grad_output: Any, needed: Needed | None = None) -> tuple[Array | None, ...]:
        """Return the gradient of each input; None for those that are not differentiable.

        Args:
            grad_output: The gradient of the output.
            needed: Which inputs' gradients will be used; others need not be computed, and may be None. All, where it
                is None.

        Raises:
            GradientError: The op's `backward` fails, or gives too few, None, another shape, or no numbers.
        """
        op = self._op
        found = self._found(grad_output, needed)
        if isinstance(found, np.ndarray | np.generic) and op.num_inputs == 1:
            found = (found,)
        if not isinstance(found, tuple | list) or len(found) != op.num_inputs:
            count = len(found) if isinstance(found, tuple | list) else type(found).__name__
            raise backward_error(
                op, f"must return {plural(op.num_inputs, 'gradient')}, one for each input, not {count}"
            )
        return tuple(
            None
            if gradient is None and needed is not None and not needed[at]
            else self._checked(at, gradient)
            for at, gradient in enumerate(found)
        )

    def _found(self, grad_output: Any, needed: Needed | None) -> Any:
        """Call the op's backward; what is no error of this package becomes a GradientError that names the op."""
        op, attributes = self._op, self._attributes
        if "needed" not in attributes and _takes_needed(getattr(op.backward, "__func__", op.backward)):
            wanted = (True,) * op.num_inputs if needed is None else needed
            excluded = op.not_differentiable
            attributes = {
                **attributes,
                "needed": tuple(bool(want) and at not in excluded for at, want in enumerate(wanted)),
            }
        try:
            return op.backward(grad_output, self._inputs, self._output, **attributes)
        except BrainsmithError:
            raise
        except Exception as error:  # backward is the user's code: whatever it raises names the op
            raise backward_error(op, failure([x.shape for x in self._inputs], error)) from error

    def _checked(self, at: int, gradient: Any) -> Array | None:
        op, given = self._op, self._inputs[at]
        if at in op.not_differentiable:
            return None
        if gradient is None:
            raise backward_error(
                op,
                f"returned no gradient for input {at}; an input without one is listed in not_differentiable",
            )
        array = np.asarray(gradient)
        if array.dtype.kind not in "fiub":
            raise backward_error(op, f"returned {array.dtype} for input {at}, not numbers")
        if array.shape != given.shape:
            raise backward_error(op, f"returned shape {array.shape} for input {at} of shape {given.shape}")
        return array.astype(given.dtype, copy=False) if given.dtype.kind == "f" else array

    def backward(
        self,
        grad_output: Any,
        input_ids: Sequence[Any],
        input_shapes: Shapes = (),
        input_dtypes: Sequence[Any] = (),
        input_devices: Sequence[str] = (),
    ) -> dict[Any, Array]:
        """Return {id: gradient}; gradients of inputs with one id are added up.

        Args:
            grad_output: The gradient of the output.
            input_ids: What tells the inputs apart; `x * x` has one twice.
            input_shapes: As of the inputs; they are known here already.
            input_dtypes: Likewise.
            input_devices: Likewise.
        """
        total: dict[Any, Array] = {}
        for key, gradient in zip(input_ids, self.gradients(grad_output), strict=True):
            if gradient is not None:
                total[key] = total[key] + gradient if key in total else gradient
        return total


def operation_error(op: Op, text: str) -> OpError:
    """Return the error of an operation whose message begins with its name: `Operation 'swish' failed`."""
    return OpError(f"Operation {op.name!r} {text}")


def backward_error(op: Op, text: str) -> GradientError:
    """Return the error of an operation's gradient: `backward of operation 'swish' returned None`."""
    return GradientError(f"backward of operation {op.name!r} {text}")


def failure(shapes: Iterable[Shape], error: Exception) -> str:
    """Return how the message ends of an error in an op's own code: `failed on shapes (2, 3): ValueError: ...`."""
    return f"failed on shapes {', '.join(map(str, shapes))}: {typed_text(error)}"


@lru_cache(maxsize=1024)
def _takes_needed(backward: Callable[..., Any]) -> bool:
    """Tell whether a backward names the parameter `needed`."""
    return "needed" in inspect.signature(backward).parameters


_CHANGEABLE = (list, dict, set, np.ndarray)


def _is_changeable(value: Any) -> bool:
    return isinstance(value, _CHANGEABLE) or (isinstance(value, tuple) and any(map(_is_changeable, value)))


def attributes_of(op: Op, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an op's attributes for a call: its defaults, with what the call gives over them.

    Lists and arrays that the call gives are copied, so that a record stays what it is when the caller changes his own.

    Raises:
        OpError: The op has no attribute of a name.
    """
    for name in given:
        if name not in op.attributes:
            known = ", ".join(op.attributes) or "none"
            raise OpError(f"operation {op.name!r} has no attribute {name!r}; it has {known}")
    return {
        **op.attributes,
        **{name: deepcopy(value) if _is_changeable(value) else value for name, value in given.items()},
    }
