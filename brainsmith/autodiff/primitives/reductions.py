"""Primitives that reduce axes: sum, mean, max, min."""

from __future__ import annotations

from functools import update_wrapper
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from brainsmith.autodiff.calls import run_op
from brainsmith.autodiff.primitives.onnx_form import OnnxCall, OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brainsmith.autodiff.op import Array, Arrays, Dtypes, Shapes

_Function = TypeVar("_Function", bound="Callable[..., Any]")

REDUCTIONS: dict[str, Reduction] = {}
"""Each of them, by name."""

Axes = int | tuple[int, ...] | None
"""One axis, several, or all; negative ones count from the end."""


def axes_of(axis: Axes, rank: int) -> tuple[int, ...]:
    """Return the axes that are meant, as numbers from 0, sorted.

    Raises:
        ValueError: There is no such axis, or one is given twice.
    """
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(np.lib.array_utils.normalize_axis_tuple(axis, rank)))


class Reduction(Primitive):
    """A reduction over `axis` (one, several, or None for all); with `keepdims` the axes stay, of length 1.

    Args:
        name: What it is called.
        function: What it computes: a numpy function of an array, `axis` and `keepdims`, compiled under its own name.
        ufunc: The ufunc whose `reduce` it is, if there is one.
        reducer: What `compiling/reductions.hpp` adds elements up with.
        onnx: The ONNX node.
        share: The part of the output's gradient that each element gets: a function of input, output (with all axes
            kept) and axes.
    """

    attributes: ClassVar[Mapping[str, Any]] = {"axis": None, "keepdims": False}

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        ufunc: np.ufunc | None,
        reducer: str,
        onnx: OnnxForm,
        share: Callable[[Array, Array, tuple[int, ...]], Any],
    ) -> None:
        self.name, self.function, self.onnx, self.share = name, function, onnx, share
        self.ufunc, self.reducer = ufunc, reducer
        REDUCTIONS[name] = self

    @property
    def has_gradient(self) -> bool:
        """All have one."""
        return True

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Reduce the axes."""
        return self.function(inputs[0], **attributes)

    def gradient(self, at: int, grad: Array, inputs: Arrays, output: Array, **attributes: Any) -> Array:
        """Give each element its share of the output's gradient."""
        (x,) = inputs
        axes = axes_of(attributes["axis"], x.ndim)
        kept = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
        share = self.share(x, output.reshape(kept), axes)
        return np.asarray(grad.reshape(kept) * share)

    def output_shape(self, shapes: Shapes, **attributes: Any) -> Any:
        """Drop the axes, or keep them with length 1."""
        (shape,) = shapes
        axes = axes_of(attributes["axis"], len(shape))
        if attributes["keepdims"]:
            return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
        return tuple(size for axis, size in enumerate(shape) if axis not in axes)

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> Any:
        """Follow numpy, which adds up small integers as large ones."""
        return self.function(np.ones(1, dtypes[0])).dtype


def reduction_step(function: Callable[..., Any], *more: Any) -> Callable[[_Function], _Function]:
    """Make a function of the tape's of a definition that has its name and documentation, and no body.

    Args:
        function: As of `Reduction`.
        more: All others of `Reduction`.
    """

    def made(definition: _Function) -> _Function:
        op = Reduction(definition.__name__, function, *more)

        def reduced(x: Any, axis: Axes = None, keepdims: bool = False) -> Any:
            return run_op(op, (x,), {"axis": axis, "keepdims": keepdims})

        return cast("_Function", update_wrapper(reduced, definition))

    return made


def reduction_form(op_type: str, inputs_since: int) -> OnnxForm:
    """Return the form of an ONNX reduction, whose axes are an input since some opset and an attribute before."""

    def attributes(call: OnnxCall) -> Mapping[str, Any]:
        kept: dict[str, Any] = {"keepdims": int(call.attributes["keepdims"])}
        if call.opset < inputs_since:
            kept["axes"] = list(axes_of(call.attributes["axis"], call.rank))
        return kept

    def constants(call: OnnxCall) -> tuple[Array | None, ...]:
        if call.opset < inputs_since:
            return ()
        return (np.array(axes_of(call.attributes["axis"], call.rank), np.int64),)

    return OnnxForm(op_type, attributes=attributes, constants=constants)


def share_of_ones(x: Array, output: Array, axes: tuple[int, ...]) -> Any:
    """Return 1 for each element."""
    return np.ones(x.shape, x.dtype)


def share_of_mean(x: Array, output: Array, axes: tuple[int, ...]) -> Any:
    """Return 1 divided by how many elements there are for each of the output."""
    return np.full(x.shape, output.size / max(x.size, 1), x.dtype)


def share_of_reached(x: Array, output: Array, axes: tuple[int, ...]) -> Any:
    """Return 1 where the extreme is reached, divided among all places where it is."""
    reached = x == output
    return reached / reached.sum(axis=axes, keepdims=True)
