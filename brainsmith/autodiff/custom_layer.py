"""Layers with parameters: the base of what a network is built from.

numpy is imported by the first parameter, and not before: the class stands in the door, whose names a shell may all look at.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from brainsmith.close_names import did_you_mean
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from brainsmith.autodiff.op import Array
    from brainsmith.autodiff.tape.tensor import Tensor


class CustomLayer(ABC):
    """A function with parameters that are trained.

        class Dense(CustomLayer):
            def __init__(self, inputs, outputs):
                self.weight = self.add_parameter("weight", np.zeros((inputs, outputs)))

            def forward(self, x):
                return x @ self.weight

    Layers that are attributes of a layer, also in lists, tuples and dictionaries, are its parts. Their parameters are
    its own too, under names such as `first.weight` and `blocks.0.weight`.
    """

    _own: dict[str, Tensor]

    def __new__(cls, *args: Any, **options: Any) -> CustomLayer:
        """Make the layer, so that a subclass need not call `super().__init__()`."""
        layer = super().__new__(cls)
        layer._own = {}
        return layer

    @abstractmethod
    def forward(self, *inputs: Any, **options: Any) -> Any:
        """Compute the output of the layer from Tensors."""

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Compute the output of the layer."""
        return self.forward(*inputs, **options)

    def add_parameter(self, name: str, array: Any) -> Tensor:
        """Add a parameter: a Tensor that requires a gradient, of a copy of the array.

        Args:
            name: A Python identifier that no other parameter of this layer has.
            array: Floating-point numbers; lists become float32.

        Raises:
            OpError: The name cannot be used, or exists.
            GradientError: The array is of integers.
        """
        import numpy as np

        from brainsmith.autodiff.tape.tensor import Tensor

        if not isinstance(name, str) or not name.isidentifier():
            raise OpError(f"the name of a parameter must be a Python identifier, not {name!r}")
        if name in self._own:
            raise OpError(
                f"{type(self).__name__} has a parameter {name!r} already, of shape {self._own[name].shape}"
            )
        values = Tensor(array).data
        parameter = self._own[name] = Tensor(np.array(values), requires_grad=True)
        return parameter

    def get_parameter(self, name: str) -> Tensor:
        """Return the parameter of a name.

        Raises:
            OpError: No parameter has this name; close names are suggested.
        """
        known = dict(self.named_parameters())
        if name in known:
            return known[name]
        hint = did_you_mean(str(name), known) or f"; it has {', '.join(known) or 'none'}"
        raise OpError(f"{type(self).__name__} has no parameter {name!r}{hint}")

    def list_parameters(self) -> list[str]:
        """Return the names of all parameters, its own first, then those of its parts."""
        return [name for name, _ in self.named_parameters()]

    def parameters(self) -> list[Tensor]:
        """Return all parameters, each once."""
        return list({id(parameter): parameter for _, parameter in self.named_parameters()}.values())

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Yield all parameters with their names; one that several parts share has several."""
        return self._named("", set())

    def _named(self, prefix: str, above: set[int]) -> Iterator[tuple[str, Tensor]]:
        if id(self) in above:
            raise OpError(f"{type(self).__name__} is a part of itself, as {prefix.rstrip('.')!r}")
        yield from ((prefix + name, parameter) for name, parameter in self._own.items())
        for name, value in vars(self).items():
            for path, layer in _layers_in(name, value):
                yield from layer._named(f"{prefix}{path}.", above | {id(self)})

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.zero_grad()

    def get_values(self) -> dict[str, Array]:
        """Return copies of the arrays of all parameters, by name: what `np.savez(path, **values)` takes."""
        return {name: parameter.data.copy() for name, parameter in self.named_parameters()}

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Give all parameters the values that `get_values` returned.

        Raises:
            OpError: A name is missing or unknown, or a shape is another; nothing was changed then.
        """
        import numpy as np

        known = dict(self.named_parameters())
        wrong = [f"{name} is missing" for name in known if name not in values]
        wrong += [f"{name} is unknown" for name in values if name not in known]
        wrong += [
            f"{name} has shape {np.shape(values[name])} instead of {parameter.shape}"
            for name, parameter in known.items()
            if name in values and np.shape(values[name]) != parameter.shape
        ]
        if wrong:
            raise OpError(f"values do not fit {type(self).__name__}: {', '.join(wrong)}")
        for name, parameter in known.items():
            parameter.data = np.array(values[name])

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}{list(parameter.shape)}" for name, parameter in self.named_parameters())
        return f"<{type(self).__name__}: {shapes or 'no parameters'}>"


def _layers_in(path: str, value: Any) -> Iterator[tuple[str, CustomLayer]]:
    """Yield the layers that an attribute is or holds, with their paths."""
    if isinstance(value, CustomLayer):
        yield path, value
    elif isinstance(value, list | tuple):
        for at, part in enumerate(value):
            yield from _layers_in(f"{path}.{at}", part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _layers_in(f"{path}.{key}", part)
