"""FINN's layers that combine two tensors value by value."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.lowering.hardware import whole_datatype
from brainsmith.execution.lowering.products import FLOAT32_END
from brainsmith.execution.operators.registry import reads
from brainsmith.execution.operators.scaled import Scaled
from brainsmith.execution.program.functions import whole_elementwise
from brainsmith.execution.program.functions.whole_elementwise import OPERATIONS, WHOLE
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView, Span

_LAYERS = [f"Elementwise{name}" for name in OPERATIONS if not name.startswith("Shift")]

_ENDS = ("Add", "Sub", "Mul", "Max")
"""Operations whose results over a span lie between those of its ends."""

_TRUTHS = ("And", "Or", "Xor", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")

_IN_FLOAT32 = (*_ENDS, *_TRUTHS, "AbsDiff")
"""Operations that float32 computes exactly where operands and result are whole numbers that it holds."""


@dataclass(frozen=True)
class Combination(Scaled):
    """Two tensors combined: in 64 bits what is whole, and given as float32.

    Attributes:
        name: A key of OPERATIONS.
        whole: Whether both are stated to be whole numbers, one by one.
    """

    name: str
    whole: tuple[bool, ...]

    def to_program(self, node: ProgramNode) -> None:
        """Combine them; in float32 where that is proved to be the same."""
        types = tuple("int64" if is_whole else "" for is_whole in self.whole)
        found = self._result(node) if all(self.whole) else None
        if found is not None:
            node.prove(node.outputs[0], *found)
            ends = [end for name in node.inputs for end in node.span(name) or ()]
            if self.name in _IN_FLOAT32 and max(map(abs, (*found, *ends))) <= FLOAT32_END:
                types = (WHOLE, WHOLE)
        rank = max(len(node.shape(tensor)) for tensor in node.inputs)
        operands = [node.stack(0, rank), node.stack(1, rank)]
        node.emit(whole_elementwise.combine, operands, node.outputs, name=self.name, types=types)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a sum, difference or product.

        Raises:
            Unsupported: It is another operation, or whole results may be too large for float32.
        """
        if self.name not in ("Add", "Sub", "Mul"):
            raise Unsupported(f"no plan is known for {node.op_type} of domain {node.domain}")
        if (ends := self._result(node)) is not None:
            if max(map(abs, ends)) >= FLOAT32_END:
                raise Unsupported(f"its results may reach {max(map(abs, ends))}, where float32 is not exact")
            node.prove(node.outputs[0], *ends)
        emit.add(self.name, node.inputs, node.outputs[0])

    def _result(self, node: NodeView) -> Span | None:
        """Return between which whole numbers results lie; None if that is not known."""
        left, right = (node.span(name) for name in node.inputs)
        if left is None or right is None:
            return None
        if self.name in _TRUTHS:
            return 0, 1
        if self.name == "AbsDiff":
            return 0, max(abs(left[1] - right[0]), abs(right[1] - left[0]))
        if self.name not in _ENDS:
            return None
        apply = OPERATIONS[self.name]
        ends = [int(apply(np.int64(a), np.int64(b))) for a, b in product(left, right)]  # type: ignore[arg-type]
        return min(ends), max(ends)


@reads(FINN, *_LAYERS, "ElementwiseBitShift")
def elementwise(node: NodeView) -> Combination:
    """Read one."""
    name = node.kind.removeprefix("Elementwise")
    if name == "BitShift":
        name = "Shift" + node.needed("direction").capitalize()
    whole = tuple(whole_datatype(node.needed(f"{side}_dtype")) for side in ("lhs", "rhs"))
    return Combination(name, whole)
