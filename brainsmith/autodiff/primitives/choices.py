"""Primitives that choose: by a condition, between bounds, by index; and the conditions and indices themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxCall, OnnxForm
from brainsmith.autodiff.primitives.primitive import Primitive, sum_to
from brainsmith.errors import GradientError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Array, Shape


class Where(Primitive):
    """The second input where the first one is true, the third one elsewhere."""

    name, num_inputs = "where", 3
    not_differentiable = (0,)
    onnx = OnnxForm("Where", since=9)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Choose element by element."""
        condition, chosen, other = inputs
        return np.where(condition.astype(np.bool_, copy=False), chosen, other)

    def gradient(
        self, at: int, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any
    ) -> Array:
        """Let through what was chosen."""
        mine = (inputs[0] != 0) == (at == 1)
        return sum_to(np.where(mine, grad_output, np.zeros((), grad_output.dtype)), inputs[at].shape)

    def output_shape(self, shapes: Sequence[Shape], **attributes: Any) -> Any:
        """Follow numpy's broadcasting."""
        return np.broadcast_shapes(*shapes)

    def output_dtype(self, dtypes: Sequence[np.dtype[Any]], **attributes: Any) -> Any:
        """Follow numpy's promotion."""
        return np.result_type(*dtypes[1:])


def _bounds(call: OnnxCall) -> tuple[Array | None, ...]:
    low, high = (call.attributes[name] for name in ("low", "high"))
    return tuple(None if bound is None else np.array(bound, call.dtype) for bound in (low, high))


class Clip(Primitive):
    """x, but no less than `low` and no more than `high`, which are numbers; None is no bound."""

    name = "clip"
    attributes: ClassVar[Mapping[str, Any]] = {"low": None, "high": None}
    onnx = OnnxForm("Clip", since=11, constants=_bounds)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Clip it."""
        return np.clip(inputs[0], attributes["low"], attributes["high"])

    def gradient(
        self, at: int, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any
    ) -> Array:
        """Let through what is between the bounds, or on one."""
        return np.asarray(grad_output * (inputs[0] == output))

    def output_dtype(self, dtypes: Sequence[np.dtype[Any]], **attributes: Any) -> Any:
        """Follow numpy's promotion."""
        return self.forward(np.ones(1, dtypes[0]), **attributes).dtype


class ArgMax(Primitive):
    """The index of the greatest element along `axis`, of equals the first, int64."""

    name = "argmax"
    attributes: ClassVar[Mapping[str, Any]] = {"axis": -1, "keepdims": False}
    onnx = OnnxForm(
        "ArgMax",
        attributes=lambda call: {
            "axis": call.attributes["axis"] % call.rank,
            "keepdims": int(call.attributes["keepdims"]),
        },
    )

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Find it."""
        return np.argmax(inputs[0], axis=attributes["axis"], keepdims=attributes["keepdims"])

    def output_shape(self, shapes: Sequence[Shape], **attributes: Any) -> Any:
        """Drop the axis, or keep it with length 1."""
        shape = list(shapes[0])
        shape[attributes["axis"]] = 1
        if not attributes["keepdims"]:
            del shape[attributes["axis"]]
        return tuple(shape)

    def output_dtype(self, dtypes: Sequence[np.dtype[Any]], **attributes: Any) -> Any:
        """Give int64, as ONNX does."""
        return np.dtype(np.int64)

    def output_datatype(self, datatypes: Sequence[str], **attributes: Any) -> Any:
        """Give INT64."""
        return "INT64"


ONNX_DTYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13,
}  # fmt: skip
"""The numbers of dtypes in ONNX (`TensorProto.DataType`)."""


class Cast(Primitive):
    """The elements as another `dtype`; there is a gradient only to floating-point numbers."""

    name = "cast"
    attributes: ClassVar[Mapping[str, Any]] = {"dtype": "float32"}
    onnx = OnnxForm(
        "Cast", since=9, attributes=lambda call: {"to": ONNX_DTYPES[np.dtype(call.attributes["dtype"]).name]}
    )

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Convert them."""
        return inputs[0].astype(attributes["dtype"])

    def gradient(
        self, at: int, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any
    ) -> Array:
        """Give the gradient the input's dtype."""
        if output.dtype.kind != "f":
            raise GradientError(f"a cast to {output.dtype} has no gradient; to leave it out, use x.detach()")
        return grad_output.astype(inputs[0].dtype)

    def output_dtype(self, dtypes: Sequence[np.dtype[Any]], **attributes: Any) -> Any:
        """Give the dtype."""
        return np.dtype(attributes["dtype"])


class Gather(Primitive):
    """Elements along `axis` by an array of indices; negative ones count from the end."""

    name, num_inputs = "gather", 2
    not_differentiable = (1,)
    attributes: ClassVar[Mapping[str, Any]] = {"axis": 0}
    onnx = OnnxForm("Gather", since=11, attributes=lambda call: {"axis": call.attributes["axis"] % call.rank})

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Take them."""
        return np.take(inputs[0], inputs[1], axis=attributes["axis"])

    def gradient(
        self, at: int, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any
    ) -> Array:
        """Add the gradient where the elements were taken from."""
        found = np.zeros_like(inputs[0])
        np.add.at(found, (slice(None),) * (attributes["axis"] % found.ndim) + (inputs[1],), grad_output)
        return found

    def output_shape(self, shapes: Sequence[Shape], **attributes: Any) -> Any:
        """Put the shape of the indices in place of the axis."""
        (shape, indices), axis = shapes, attributes["axis"] % len(shapes[0])
        return (*shape[:axis], *indices, *shape[axis + 1 :])


class GatherND(Primitive):
    """Elements by several indices at once: the last axis of the indices numbers the leading axes of x."""

    name, num_inputs = "gather_nd", 2
    not_differentiable = (1,)
    onnx = OnnxForm("GatherND", since=11)

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Take them."""
        return inputs[0][_leading(inputs[1])]

    def gradient(
        self, at: int, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any
    ) -> Array:
        """Add the gradient where the elements were taken from."""
        found = np.zeros_like(inputs[0])
        np.add.at(found, _leading(inputs[1]), grad_output)
        return found

    def output_shape(self, shapes: Sequence[Shape], **attributes: Any) -> Any:
        """Put the shape of the indices in place of the axes that they number."""
        shape, indices = shapes
        return (*indices[:-1], *shape[indices[-1] :])


def _leading(indices: Array) -> tuple[Array, ...]:
    return tuple(indices[..., at] for at in range(indices.shape[-1]))


WHERE, CLIP, ARGMAX, CAST = Where(), Clip(), ArgMax(), Cast()
GATHER, GATHER_ND = Gather(), GatherND()
