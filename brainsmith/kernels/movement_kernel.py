"""What kernels share that only move values: one stream in, one out, `SIMD` values of the last axis in a beat."""

from __future__ import annotations

from abc import abstractmethod
from math import prod
from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp
from qonnx.core.datatype import DataType

from brainsmith.rtl.cores.parallelism import folded

if TYPE_CHECKING:
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.operators import movement as operators
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


class MovementKernel(HWCustomOp):
    """A kernel whose output has values of its input, unchanged; `SIMD` divides the last axis of both."""

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return FINN's attributes, the shapes of input and output, the datatype of both, and the lanes."""
        attributes: dict[str, Any] = super().get_nodeattr_types()
        attributes["in_shape"] = ("ints", True, [])
        attributes["out_shape"] = ("ints", True, [])
        attributes["inputDataType"] = ("s", True, "")
        attributes["SIMD"] = ("i", False, 1)
        return attributes

    def get_input_datatype(self, ind: int = 0) -> BaseDataType:
        """Return the datatype of the values."""
        return DataType[self.get_nodeattr("inputDataType")]

    def get_output_datatype(self, ind: int = 0) -> BaseDataType:
        """Return the same datatype: values are only moved."""
        return self.get_input_datatype()

    def infer_node_datatype(self, model: ModelWrapper) -> None:
        """Take the input's datatype from the model."""
        datatype = model.get_tensor_datatype(self.onnx_node.input[0])
        self.set_nodeattr("inputDataType", datatype.name)
        model.set_tensor_datatype(self.onnx_node.output[0], datatype)

    def get_normal_input_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of the input."""
        return tuple(self.get_nodeattr("in_shape"))

    def get_normal_output_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of the output."""
        return tuple(self.get_nodeattr("out_shape"))

    def get_folded_input_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the input's shape in beats."""
        return folded(self.get_normal_input_shape(), self.get_nodeattr("SIMD"))

    def get_folded_output_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the output's shape in beats."""
        return folded(self.get_normal_output_shape(), self.get_nodeattr("SIMD"))

    def get_instream_width(self, ind: int = 0) -> int:
        """Return the bits of a beat."""
        return int(self.get_nodeattr("SIMD") * self.get_input_datatype().bitwidth())

    def get_outstream_width(self, ind: int = 0) -> int:
        """Return the bits of a beat."""
        return self.get_instream_width()

    @abstractmethod
    def movement(self) -> operators.Movement:
        """Return where the values go."""

    def to_program(self, node: ProgramNode) -> None:
        """Move the values; what was proved of them holds of the output too."""
        self.movement().to_program(node)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Move the values; what was proved of them holds of the output too."""
        self.movement().to_onnx(node, emit)

    def get_exp_cycles(self) -> int:
        """Return the beats of an input: one is taken in every cycle."""
        return int(prod(self.get_normal_input_shape()) // self.get_nodeattr("SIMD"))
