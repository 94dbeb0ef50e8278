"""An operation as the table of its native plugin describes it, wherever its code runs."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from brainsmith.autodiff.op import Op
from brainsmith.errors import GradientError, OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from brainsmith.autodiff.op import Array, Shape
    from brainsmith.native.plugin_library import PluginLibrary
    from brainsmith.native.rules import Rules

READY = 0x1 | 0x100
"""Of `ndarray.flags.num`: contiguous in C order, and aligned."""


class PluginOp(Op):
    """An operation of a native plugin.

    Attributes:
        description: What the plugin says of it.
        plugin: Its plugin's name and version, for messages.
    """

    def __init__(self, library: PluginLibrary, table: Mapping[str, Any]) -> None:
        self.name = table["name"]
        self.description = table["description"] or ""
        self.version = library.version
        self.bundle = library.name
        self.plugin = f"{library.name} {library.version} ({library.path})"
        self.num_inputs, self.num_outputs = table["num_inputs"], table["num_outputs"]
        bits = table["not_differentiable"]
        self.not_differentiable = tuple(at for at in range(self.num_inputs) if bits >> at & 1)

    @property
    @abstractmethod
    def rules(self) -> Rules:
        """Its rules of shape, dtype and device; made anew, so that an op in no cycle goes with its last user."""

    def expect_gradient(self, inputs: Sequence[Array]) -> None:
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

    def output_shape(self, shapes: Sequence[Shape], **attributes: Any) -> Any:
        """Return the output's shape, or a tuple of shapes, as the plugin says."""
        return self._asked(self.rules.shapes, shapes)

    def output_dtype(self, dtypes: Sequence[np.dtype[Any]], **attributes: Any) -> Any:
        """Return the output's dtype, or a tuple of them, as the plugin says."""
        return self._asked(self.rules.dtypes, dtypes)

    def output_device(self, devices: Sequence[str], **attributes: Any) -> Any:
        """Return the output's device, or a tuple of them, as the plugin says."""
        return self._asked(self.rules.devices, devices)

    def _asked(self, rule: Callable[[Any], tuple[Any, ...]], given: Sequence[Any]) -> Any:
        answers = rule(given)
        return answers[0] if self.num_outputs == 1 else answers
