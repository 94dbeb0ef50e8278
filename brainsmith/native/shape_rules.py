"""A native operation's own rules of shape, dtype and device, and what their answers must be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import OpError
from brainsmith.figures import plural
from brainsmith.native import abi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Dtypes, Shape, Shapes
    from brainsmith.native.plugin_op import PluginOp


CODES = {np.dtype(name): code for code, name in abi.DTYPES.items()}
"""The dtypes' numbers."""

NUMPY = {code: dtype for dtype, code in CODES.items()}


class ShapeRules:
    """Ask an operation what its outputs are; without a rule of its own, each is as the first input."""

    def __init__(self, op: PluginOp) -> None:
        self._op = op

    def outputs(self, shapes: Shapes, dtypes: Dtypes) -> tuple[tuple[Shape, ...], tuple[np.dtype[Any], ...]]:
        """Return the shapes and dtypes of all outputs, which must be on the cpu as the inputs are."""
        for device in self.devices(["cpu"] * len(shapes)):
            if device != "cpu":
                raise OpError(
                    f"Operation {self._op.name!r} promises its output on device {device!r}; "
                    "arrays of this host are on 'cpu'"
                )
        return self.shapes(shapes), self.dtypes(dtypes)

    def shapes(self, shapes: Shapes) -> tuple[Shape, ...]:
        """Return the shape of each output."""
        if not self._op.table["output_shape"]:
            return (tuple(shapes[0]),) * self._op.num_outputs
        answers = self._op.answers("output_shape", tuple((0, tuple(map(int, shape))) for shape in shapes))
        return tuple(self._shape(at, answer) for at, answer in enumerate(answers))

    def _shape(self, at: int, answer: Sequence[int] | int) -> Shape:
        if isinstance(answer, int):
            raise OpError(
                f"Operation {self._op.name!r} says that output {at} has {plural(answer, 'dimension')}; "
                f"0 to {abi.MAX_NDIM} can be"
            )
        if any(extent < 0 for extent in answer):
            raise OpError(
                f"Operation {self._op.name!r} says that output {at} has shape {tuple(answer)}, below 0"
            )
        return tuple(answer)

    def dtypes(self, dtypes: Dtypes) -> tuple[np.dtype[Any], ...]:
        """Return the dtype of each output."""
        if not self._op.table["output_dtype"]:
            return (np.dtype(dtypes[0]),) * self._op.num_outputs
        for dtype in dtypes:
            if np.dtype(dtype) not in CODES:
                raise OpError(
                    f"Operation {self._op.name!r} does not take these inputs: no native op takes {dtype}"
                )
        answers = self._op.answers("output_dtype", tuple((CODES[np.dtype(dtype)], None) for dtype in dtypes))
        for at, code in enumerate(answers):
            if code not in NUMPY:
                raise OpError(
                    f"Operation {self._op.name!r} says that output {at} has dtype {code}, "
                    "which brainsmith_plugin.h does not list"
                )
        return tuple(NUMPY[code] for code in answers)

    def devices(self, devices: Sequence[str]) -> tuple[str, ...]:
        """Return the device of each output."""
        if not self._op.table["output_device"]:
            return (devices[0],) * self._op.num_outputs
        answers = self._op.answers("output_device", tuple((device, None) for device in devices))
        for at, device in enumerate(answers):
            if device is None:
                raise OpError(f"Operation {self._op.name!r} names no device for output {at}")
        return tuple(map(str, answers))
