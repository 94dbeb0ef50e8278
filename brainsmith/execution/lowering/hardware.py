"""What lowerings of hardware layers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.program.functions import shapes

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode


def whole_datatype(name: str) -> bool:
    """Tell whether the values of a QONNX datatype are whole numbers."""
    from qonnx.core.datatype import DataType

    return bool(DataType[name].is_integer())


def emit_reshaped(node: ProgramNode, source: str) -> None:
    """Give the only output the shape that the graph states."""
    node.emit(shapes.reshape, [source], node.outputs, shape=node.shape(node.outputs[0]))
