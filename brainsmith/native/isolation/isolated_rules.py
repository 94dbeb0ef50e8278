"""The rules of shape, dtype and device of an operation that a worker runs: asked once, and remembered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import OpError
from brainsmith.native import abi
from brainsmith.native.frame import CODES, NUMPY
from brainsmith.native.isolation import channel as ch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Shape
    from brainsmith.native.isolation.isolated_op import IsolatedOp

_MOST_ANSWERS = 1024


class IsolatedRules:
    """Ask an operation what its outputs are. Answers hang on nothing else, as the interface says."""

    def __init__(self, op: IsolatedOp) -> None:
        self._op = op
        self._answers: dict[tuple[Any, ...], list[Any]] = {}

    def outputs(
        self, shapes: Sequence[Shape], dtypes: Sequence[np.dtype[Any]]
    ) -> tuple[tuple[Shape, ...], tuple[np.dtype[Any], ...]]:
        """Return the shapes and dtypes of all outputs, which must be on the cpu as the inputs are."""
        for device in self.devices(["cpu"] * len(shapes)):
            if device != "cpu":
                raise OpError(
                    f"Operation {self._op.name!r} promises its output on device {device!r}; "
                    "arrays of this host are on 'cpu'"
                )
        return self.shapes(shapes), self.dtypes(dtypes)

    def shapes(self, shapes: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shape of each output."""
        if not self._op.table["output_shape"]:
            return (tuple(shapes[0]),) * self._op.num_outputs
        answers = self._answer(
            ch.SHAPES, tuple((0, tuple(map(int, shape))) for shape in shapes), "output_shape"
        )
        for at, shape in enumerate(answers):
            if not isinstance(shape, list):
                raise OpError(
                    f"Operation {self._op.name!r} says that output {at} has {shape} dimensions; "
                    f"0 to {abi.MAX_NDIM} can be"
                )
            if any(extent < 0 for extent in shape):
                raise OpError(
                    f"Operation {self._op.name!r} says that output {at} has shape {tuple(shape)}, below 0"
                )
        return tuple(tuple(shape) for shape in answers)

    def dtypes(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[np.dtype[Any], ...]:
        """Return the dtype of each output."""
        if not self._op.table["output_dtype"]:
            return (np.dtype(dtypes[0]),) * self._op.num_outputs
        for dtype in dtypes:
            if np.dtype(dtype) not in CODES:
                raise OpError(
                    f"Operation {self._op.name!r} does not take these inputs: no native op takes {dtype}"
                )
        signature = tuple((CODES[np.dtype(dtype)], None) for dtype in dtypes)
        answers = self._answer(ch.DTYPES, signature, "output_dtype")
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
        answers = self._answer(ch.DEVICES, tuple((device, None) for device in devices), "output_device")
        for at, device in enumerate(answers):
            if device is None:
                raise OpError(f"Operation {self._op.name!r} names no device for output {at}")
        return tuple(answers)

    def _answer(self, command: int, signature: tuple[Any, ...], what: str) -> list[Any]:
        key = (command, signature)
        found = self._answers.get(key)
        if found is None:
            found = json.loads(
                self._op.library.ask(self._op, (command, self._op.number, signature, ()), (), what)
            )
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            self._answers[key] = found
        return found
