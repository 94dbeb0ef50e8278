"""Pad: a tensor with one value around it, and between its entries."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from qonnx.core.datatype import DataType

from brainsmith.execution.operators.borders import Border
from brainsmith.kernels.windowed_kernel import Shape, WindowedKernel
from brainsmith.plugin.core import kernel
from brainsmith.rtl.cores.integers import padded_datatype

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper


@kernel(
    name="Pad",
    description="Surround a tensor along any axes, with any integer",
    tags=("layout",),
)
class PadKernel(WindowedKernel):
    """`pad(x.reshape(within_shape), before, after, value).reshape(out_shape)`, axis by axis, integers.

    Without a `within_shape` it is the input's own. With one, values go between entries: (4, 1) padded by (0, 1) behind is
    each of 4 rows with one of padding behind, as a transposed convolution needs.

    `SIMD` values go together, so on the last axis it divides the length and the padding, and the last axis of input and
    output. Where the input's datatype does not hold the value, the output's is larger.
    """

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return the attributes of a windowed kernel, and the padding: before and after each axis, and its value."""
        attributes = super().get_nodeattr_types()
        attributes["outputDataType"] = ("s", True, "")
        attributes["before"] = ("ints", True, [])
        attributes["after"] = ("ints", True, [])
        attributes["value"] = ("i", False, 0)
        return attributes

    def get_output_datatype(self, ind: int = 0) -> BaseDataType:
        """Return the datatype of the values and of the padding."""
        return DataType[self.get_nodeattr("outputDataType")]

    def get_outstream_width(self, ind: int = 0) -> int:
        """Return the bits of a beat."""
        return int(self.get_nodeattr("SIMD") * self.get_output_datatype().bitwidth())

    def infer_node_datatype(self, model: ModelWrapper) -> None:
        """Take the input's datatype from the model, and give one that holds the padding, too."""
        super().infer_node_datatype(model)
        given = padded_datatype(self.get_input_datatype(), self.get_nodeattr("value"))
        self.set_nodeattr("outputDataType", given.name)
        model.set_tensor_datatype(self.onnx_node.output[0], given)

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Surround the values with numpy."""
        node, border = self.onnx_node, self.movement()
        widths = tuple(zip(border.before, border.after, strict=True))
        padded = np.pad(context[node.input[0]].reshape(border.shape), widths, constant_values=border.fill)
        context[node.output[0]] = padded.reshape(self.get_nodeattr("out_shape"))

    def movement(self) -> Border:
        """Return what surrounds the values."""
        before, after = (tuple(self.get_nodeattr(name)) for name in ("before", "after"))
        return Border(before, after, float(self.get_nodeattr("value")), shape=self.within_shape())

    def window(self) -> tuple[Shape, Shape, Shape]:
        """Return the shape of the padded values, and where in it the input begins, and its sizes."""
        border = self.movement()
        sides = zip(border.before, border.shape, border.after, strict=True)
        return tuple(map(sum, sides)), border.before, border.shape

    def get_exp_cycles(self) -> int:
        """Return the beats of an output: one is given in every cycle."""
        return int(prod(self.get_normal_output_shape()) // self.get_nodeattr("SIMD"))
