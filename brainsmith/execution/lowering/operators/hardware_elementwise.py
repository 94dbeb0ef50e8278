"""FINN's HWWhere and Requant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.lowering.hardware import emit_reshaped
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import arithmetic, shapes, whole_elementwise
from brainsmith.execution.program.functions.rounding import integer_limits
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode


@lowers(FINN, "HWWhere")
def where(node: ProgramNode) -> None:
    """Choose by a condition that is not 0."""
    rank = max(len(node.shape(tensor)) for tensor in node.inputs)
    condition, *choices = (node.stack(at, rank) for at in range(3))
    truth = node.emit(shapes.cast, [condition], dtype="bool")
    chosen = node.emit(arithmetic.where, [truth, *choices])
    emit_reshaped(node, chosen)
    spans = [node.span(name) for name in node.inputs[1:]]
    known = [span for span in spans if span is not None]
    if len(known) == len(spans):
        node.prove(node.outputs[0], min(span[0] for span in known), max(span[1] for span in known))


@lowers(FINN, "Requant")
def requant(node: ProgramNode) -> None:
    """Scale, shift, round halves up, and clip to the output's datatype."""
    from qonnx.core.datatype import DataType

    datatype = DataType[node.needed("outputDataType")]
    bits = np.asarray(float(datatype.bitwidth()))
    low, high = integer_limits(bits, datatype.signed(), bool(node.attribute("narrow", 0)))
    scale, bias = node.needed_constant(1, "scale"), node.needed_constant(2, "bias")
    operands = [node.inputs[0], node.hold(scale), node.hold(bias)]
    if max(scale.ndim, bias.ndim) > len(node.shape(node.inputs[0])):
        raise Unsupported("its scale has more axes than its input")
    node.emit(whole_elementwise.requantise, operands, node.outputs, low=float(low), high=float(high))
    if node.span(node.inputs[0]) is not None:
        node.prove(node.outputs[0], float(low), float(high))
