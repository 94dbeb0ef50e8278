"""FINN's elementwise layers, HWWhere, Requant and LabelSelect."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.lowering.hardware import emit_reshaped, whole_datatype
from brainsmith.execution.lowering.products import FLOAT32_END
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import arithmetic, reductions, shapes, whole_elementwise
from brainsmith.execution.program.functions.rounding import integer_limits
from brainsmith.execution.program.functions.whole_elementwise import OPERATIONS, WHOLE
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode

    Span = tuple[int, int]

_LAYERS = [f"Elementwise{name}" for name in OPERATIONS if not name.startswith("Shift")]

_ENDS = ("Add", "Sub", "Mul", "Max")
"""Operations whose results over a span lie between those of its ends."""

_TRUTHS = ("And", "Or", "Xor", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")

_IN_FLOAT32 = (*_ENDS, *_TRUTHS, "AbsDiff")
"""Operations that float32 computes exactly where operands and result are whole numbers that it holds."""


@lowers(FINN, *_LAYERS, "ElementwiseBitShift")
def elementwise(node: ProgramNode) -> None:
    """Combine two tensors: in 64 bits what is whole, in float32 where that is proved to be the same."""
    name = node.kind.removeprefix("Elementwise")
    if name == "BitShift":
        name = "Shift" + node.needed("direction").capitalize()
    whole = [whole_datatype(node.needed(f"{side}_dtype")) for side in ("lhs", "rhs")]
    types = tuple("int64" if is_whole else "" for is_whole in whole)
    spans = [node.span(tensor) for tensor in node.inputs]
    if all(whole) and spans[0] is not None and spans[1] is not None:
        found = _result_span(name, spans[0], spans[1])
        if found is not None:
            node.prove(node.outputs[0], *found)
            if name in _IN_FLOAT32 and max(map(abs, (*found, *spans[0], *spans[1]))) <= FLOAT32_END:
                types = (WHOLE, WHOLE)
    rank = max(len(node.shape(tensor)) for tensor in node.inputs)
    operands = [node.stack(0, rank), node.stack(1, rank)]
    node.emit(whole_elementwise.combine, operands, node.outputs, name=name, types=types)


def _result_span(name: str, left: Span, right: Span) -> Span | None:
    """Return between which whole numbers results lie; None if that is not known."""
    if name in _TRUTHS:
        return 0, 1
    if name == "AbsDiff":
        return 0, max(abs(left[1] - right[0]), abs(right[1] - left[0]))
    if name not in _ENDS:
        return None
    ends = [int(OPERATIONS[name](np.int64(a), np.int64(b))) for a, b in product(left, right)]  # type: ignore[arg-type]
    return min(ends), max(ends)


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


@lowers(FINN, "LabelSelect")
def label_select(node: ProgramNode) -> None:
    """Give the places of the greatest values, the first of equals first."""
    rank = len(node.shape(node.inputs[0]))
    count = node.needed("K")
    if node.span(node.inputs[0]) is None:
        raise Unsupported("its input may be NaN")
    places = f"{node.outputs[0]}##places"
    node.emit(reductions.top, node.inputs, ["", places], count=count, axis=rank - 1, largest=True)
    labels = node.emit(shapes.cast, [places], dtype="float32")
    emit_reshaped(node, labels)
    node.prove(node.outputs[0], 0, node.shape(node.inputs[0])[-1] - 1)
