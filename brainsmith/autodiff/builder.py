"""Build an op from functions: `CustomOpBuilder("swish", 1).forward(fn).backward(fn).build()`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from brainsmith.autodiff.op import CPU, Array, Arrays, Dtypes, Needed, Op, Shapes, backward_error
from brainsmith.errors import OpError

_STATED = ("grad_output", "input_ids", "input_shapes", "input_dtypes", "input_devices")
_BY_NAME = ("inputs", "output", "needed")


class CustomOpBuilder:
    """Collects what an op is made of; only `forward` is required.

    Args:
        name: What users call the op; a Python identifier.
        num_inputs: How many arrays it takes.

    Raises:
        OpError: The name or a number cannot be used.
    """

    def __init__(self, name: str, num_inputs: int, num_outputs: int = 1) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise OpError(f"the name of an operation must be a Python identifier, not {name!r}")
        for what, number in (("num_inputs", num_inputs), ("num_outputs", num_outputs)):
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise OpError(f"{what} of operation {name!r} must be 1 or more, not {number!r}")
        self._name, self._num_inputs, self._num_outputs = name, num_inputs, num_outputs
        self._functions: dict[str, Callable[..., Any]] = {}
        self._version = "1.0.0"
        self._not_differentiable: tuple[int, ...] = ()

    def forward(self, function: Callable[[list[Array]], Any]) -> CustomOpBuilder:
        """State what the op computes: a function of the list of its inputs."""
        return self._set("forward", function)

    def backward(self, function: Callable[..., dict[Any, Array]]) -> CustomOpBuilder:
        """State the gradient: a function that returns {id: gradient}.

        It is called with `grad_output, input_ids, input_shapes, input_dtypes, input_devices`, and with `inputs`,
        `output` or `needed` by name if it has such parameters: the gradient of x * x needs x, and that of an input
        which is not needed can be left out.
        """
        return self._set("backward", function)

    def validate(self, function: Callable[[list[Array]], Any]) -> CustomOpBuilder:
        """State which inputs the op takes: for others the function raises ValueError, or returns what is not true.

        What numpy takes for false is false too: `(x > 0).all()`. Nothing (None) is no objection.
        """
        return self._set("validate", function)

    def output_shape(self, function: Callable[[list[tuple[int, ...]]], Any]) -> CustomOpBuilder:
        """State the rule of shapes; the first input's by default."""
        return self._set("output_shape", function)

    def output_dtype(self, function: Callable[[list[Any]], Any]) -> CustomOpBuilder:
        """State the rule of dtypes; the first input's by default."""
        return self._set("output_dtype", function)

    def output_device(self, function: Callable[[list[str]], Any]) -> CustomOpBuilder:
        """State the rule of devices; the first input's by default."""
        return self._set("output_device", function)

    def surrogate(self, function: Callable[[list[Array]], Any]) -> CustomOpBuilder:
        """State the function whose derivative `backward` is, where that is not `forward`'s."""
        return self._set("surrogate", function)

    def samples(self, function: Callable[[np.random.Generator], Sequence[Any]]) -> CustomOpBuilder:
        """State inputs where the op is well defined, for checks: a function of a random generator."""
        return self._set("samples", function)

    def not_differentiable(self, *inputs: int) -> CustomOpBuilder:
        """State for which inputs, by index, there is no gradient."""
        self._not_differentiable = inputs
        return self

    def version(self, version: str) -> CustomOpBuilder:
        """State the op's own version."""
        self._version = version
        return self

    def build(self) -> BuiltOp:
        """Make the op.

        Raises:
            OpError: It has no forward, or an input that is stated as not differentiable does not exist.
        """
        if "forward" not in self._functions:
            raise OpError(f"operation {self._name!r} needs a forward function: .forward(fn)")
        for at in self._not_differentiable:
            if at not in range(self._num_inputs):
                raise OpError(
                    f"not_differentiable of operation {self._name!r} must name inputs by index, 0 to "
                    f"{self._num_inputs - 1}, not {at!r}"
                )
        op = BuiltOp(self._functions)
        op.name, op.version = self._name, self._version
        op.num_inputs, op.num_outputs = self._num_inputs, self._num_outputs
        op.not_differentiable = self._not_differentiable
        return op

    def _set(self, role: str, function: Callable[..., Any]) -> CustomOpBuilder:
        if not callable(function):
            raise OpError(f"{role} of operation {self._name!r} must be a function, not {function!r}")
        self._functions[role] = function
        return self


class BuiltOp(Op):
    """An op whose parts are functions of the list of its inputs."""

    def __init__(self, functions: dict[str, Callable[..., Any]]) -> None:
        self.functions = dict(functions)
        if "surrogate" in functions:
            self.surrogate = _surrogate_of(functions["surrogate"])  # type: ignore[misc]
        self._extra = _taken_by_name(functions["backward"]) if "backward" in functions else ()

    @property
    def has_gradient(self) -> bool:
        """Whether a backward function was given."""
        return "backward" in self.functions

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Call the function that was given."""
        return self.functions["forward"](list(inputs))

    def backward(
        self,
        grad_output: Any,
        inputs: Arrays,
        output: Any,
        *,
        needed: Needed | None = None,
        **attributes: Any,
    ) -> Any:
        """Call the function that was given, and order what it returns by input."""
        if not self.has_gradient:
            return super().backward(grad_output, inputs, output)
        wanted = (True,) * len(inputs) if needed is None else needed
        named = {"inputs": list(inputs), "output": output, "needed": wanted}
        found = self.functions["backward"](
            grad_output,
            list(range(len(inputs))),
            [x.shape for x in inputs],
            [x.dtype for x in inputs],
            [CPU] * len(inputs),
            **{name: named[name] for name in self._extra},
        )
        if not isinstance(found, dict):
            raise backward_error(self, f"must return {{input id: gradient}}, not {type(found).__name__}")
        unknown = [key for key in found if key not in range(len(inputs))]
        if unknown:
            raise backward_error(self, f"returned the unknown id {unknown[0]!r}")
        return tuple(found.get(at) for at in range(len(inputs)))

    def samples(self, random: np.random.Generator) -> Sequence[Any] | None:
        """Call the function that was given, if one was."""
        return self.functions["samples"](random) if "samples" in self.functions else None

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Call the function that was given, if one was."""
        if "validate" in self.functions:
            _expect_accepted(self.name, self.functions["validate"](list(inputs)))

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Follow the rule that was given."""
        rule = self.functions.get("output_shape")
        return rule(list(shapes)) if rule else super().output_shape(shapes)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Follow the rule that was given."""
        rule = self.functions.get("output_dtype")
        return rule(list(dtypes)) if rule else super().output_dtype(dtypes)

    def output_device(self, devices: Sequence[str], **attributes: Any) -> Any:
        """Follow the rule that was given."""
        rule = self.functions.get("output_device")
        return rule(list(devices)) if rule else super().output_device(devices)


def _expect_accepted(name: str, verdict: Any) -> None:
    """Raise for a verdict that is not true, and for one that has no single truth."""
    if isinstance(verdict, np.ndarray) and verdict.size != 1:
        raise OpError(
            f"validate of operation {name!r} must return True, False or nothing, not an array of shape "
            f"{verdict.shape}: return condition.all()"
        )
    if verdict is not None and not verdict:
        raise OpError(f"Operation {name!r} does not take these inputs: its validate returned {verdict!r}")


def _surrogate_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the list of inputs as one of the inputs, with `at` if it takes that."""
    if "at" in inspect.signature(function).parameters:
        return lambda *inputs, at: function(list(inputs), at=list(at))
    return lambda *inputs: function(list(inputs))


def _taken_by_name(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return which of `inputs`, `output` and `needed` a backward function takes."""
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return _BY_NAME
    return tuple(name for name in _BY_NAME if name in parameters)
