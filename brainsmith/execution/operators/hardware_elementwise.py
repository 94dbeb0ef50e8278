"""FINN's layers that compute value by value: sums and the like of two tensors, HWWhere, Requant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.one_instruction import LayerOfRuns, OneInstruction
from brainsmith.execution.operators.operator import ByValue
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import arithmetic, whole_elementwise
from brainsmith.execution.program.functions.rounding_modes import integer_limits
from brainsmith.execution.program.functions.whole_elementwise import WHOLE
from brainsmith.graph.integer_range import FLOAT32_END, FLOAT64_END, IntegerRange, within
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN
from brainsmith.graph.range_rules import range_of

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView

_LAYERS = (
    "AbsDiff", "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater",
    "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mul", "Or", "Sub", "Xor",
)  # fmt: skip


@dataclass(frozen=True)
class Combination(ByValue):
    """Two tensors combined: in 64 bits what is whole, and given as float32, or float64 where the graph states it.

    Attributes:
        name: A key of FUNCTIONS.
        whole: Whether both are stated to be whole numbers, one by one.
    """

    name: str
    whole: tuple[bool, ...]

    def to_program(self, node: ProgramNode) -> None:
        """Combine them; in float32 where that is proved to be the same."""
        types = tuple("int64" if is_whole else "" for is_whole in self.whole)
        found = self._result(node) if all(self.whole) else None
        if found is not None:
            node.prove_range(node.outputs[0], found)
            given = [each for each in map(node.range, node.inputs) if each is not None]
            if found.holding(*given).magnitude <= FLOAT32_END:
                types = (WHOLE, WHOLE)
        given_as = node.dtype(node.outputs[0]).name if node.is_double(node.outputs[0]) else "float32"
        node.emit(
            whole_elementwise.combine,
            node.stacks(),
            node.outputs,
            name=self.name,
            types=types,
            dtype=given_as,
        )

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a sum, difference or product.

        Raises:
            Unsupported: It is another operation, or whole results may be too large for float32.
        """
        if self.name not in ("Add", "Sub", "Mul"):
            super().to_onnx(node, emit)  # which refuses it
        found, inputs, output = self._result(node), list(node.inputs), node.outputs[0]
        doubles = any(map(node.is_double, (*inputs, output)))
        if found is not None:
            kind, end = ("float64", FLOAT64_END) if doubles else ("float32", FLOAT32_END)
            if found.magnitude >= end:
                raise Unsupported(f"its results may reach {found.magnitude}, where {kind} is not exact")
            node.prove_range(output, found)
        if doubles:
            inputs = [name if node.is_double(name) else emit.add("Cast", [name], to=11) for name in inputs]
        if doubles and not node.is_double(output):
            emit.add("Cast", [emit.add(self.name, inputs)], output, to=1)
        else:
            emit.add(self.name, inputs, output)

    def _result(self, node: NodeView) -> IntegerRange | None:
        """Return between which whole numbers results lie; None if that is not known."""
        ranges = [node.range(name) for name in node.inputs]
        if None in ranges:
            return None
        if self.name == "AbsDiff":
            return range_of("Abs", [range_of("Sub", ranges)])
        return range_of(self.name, ranges)


@reads(FINN, *(f"Elementwise{name}" for name in _LAYERS))
def elementwise(node: NodeView) -> Combination:
    """Read one."""
    from qonnx.core.datatype import DataType

    name = node.kind.removeprefix("Elementwise")
    if name == "BitShift":
        name = "Shift" + node.needed("direction").capitalize()
    elif name == "Div":
        name = "Ratio"
    whole = tuple(DataType[node.needed(f"{side}_dtype")].is_integer() for side in ("lhs", "rhs"))
    return Combination(name, whole)


@reads(FINN, "HWWhere")
def choice(node: NodeView) -> OneInstruction:
    """Read one: the second input where the first one is not 0, else the third."""
    plain = np.broadcast_shapes(*map(node.shape, node.inputs)) == node.shape(node.outputs[0])
    found = range_of("Where", [node.range(name) for name in node.inputs])
    return OneInstruction(arithmetic.apply if plain else None, node.inputs, {"name": "Where"}, [found])


@reads(FINN, "Requant")
def requantisation(node: NodeView) -> LayerOfRuns:
    """Read one: `clip(floor(x * scale + bias + 1/2))`."""
    from qonnx.core.datatype import DataType

    datatype = DataType[node.needed("outputDataType")]
    low, high = integer_limits(
        np.asarray(float(datatype.bitwidth())), datatype.signed(), bool(node.attribute("narrow", 0))
    )
    scale, bias = node.needed_constant(1, "scale"), node.needed_constant(2, "bias")
    if max(scale.ndim, bias.ndim) > len(node.shape(node.inputs[0])):
        raise Unsupported("its scale has more axes than its input")
    limits = {"low": float(low), "high": float(high)}
    found = None if node.span(node.inputs[0]) is None else within(int(low), int(high))
    return LayerOfRuns(whole_elementwise.requantise, [node.inputs[0], scale, bias], limits, [found])
