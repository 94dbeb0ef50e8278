"""A node on its way into a program: what a lowering sees of it, and how it emits instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions import shapes
from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.program.instruction_table import name_of
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import NodeView, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.graph.model_facts import ModelFacts


class LeftToReference(Unsupported):
    """The node has a lowering, whose bits are not the reference's; what that proved holds of both."""


class ProgramNode(NodeView):
    """One node, and the instructions for it.

    Attributes:
        instructions: What was emitted, in order.
    """

    def __init__(self, node: Any, facts: ModelFacts, faithful: bool = False) -> None:
        super().__init__(node, facts)
        self.instructions: list[Instruction] = []
        self._held = 0
        self._own_name = next(filter(None, self.outputs), f"{self.name}#")  # a tensor has one maker
        self._faithful = faithful

    def rounds_differently(self) -> None:
        """Say that what is emitted may differ from the reference in its last bits, whatever the inputs hold.

        Raises:
            LeftToReference: The program is to give the reference's own bits, so the node is left to that.
        """
        if self._faithful:
            raise LeftToReference("it rounds differently from the reference")

    def treats_ends_differently(self) -> None:
        """Say that a NaN, an infinity or the sign of a zero may come out other than from the reference.

        What was proved of the outputs before stays.

        Raises:
            LeftToReference: The program is to give the reference's own bits, so the node is left to that.
        """
        if self._faithful:
            raise LeftToReference("the reference treats NaN, infinities or signs of zeros in another way")

    def stack(self, index: int, rank: int) -> str:
        """Return the name of an input whose shape has a rank at least, led by ones; constants as they are."""
        return self._stack(self.inputs[index], rank)

    def stacks(self, names: Sequence[str] = ()) -> list[str]:
        """Return names, those that vary with shapes of one rank, so that their runs stay apart; by default the inputs."""
        names = names or self.inputs
        rank = max(len(self.shape(name)) for name in names if name)
        return [self._stack(name, rank) for name in names]

    def _stack(self, name: str, rank: int) -> str:
        if not self.varies(name) or len(self.shape(name)) >= rank:
            return name
        shape = self.shape(name)
        return self.emit(shapes.reshape, [name], shape=(1,) * (rank - len(shape)) + shape)

    def hold(self, array: Array) -> str:
        """Make a constant of the model and return its name."""
        name = f"{self._own_name}#{self._held}"
        self._held += 1
        self.facts.constants[name] = np.ascontiguousarray(array).reshape(array.shape)
        return name

    def emit(
        self,
        function: Callable[..., Any],
        inputs: Sequence[str],
        outputs: Sequence[str] | None = None,
        /,
        **parameters: Any,
    ) -> str:
        """Append an instruction.

        Args:
            function: Entered in the table of program/instruction_table.py.
            inputs: Names of tensors and constants, in the order of its arguments; "" passes None.
            outputs: Names of what it returns; None makes one temporary.
            **parameters: Numbers, strings, None, and tuples of them.

        Returns:
            Name of the first output.
        """
        names = (f"{self._own_name}##{len(self.instructions)}",) if outputs is None else tuple(outputs)
        source = f"node '{self.name}' ({self.op_type})"
        made = Instruction(name_of(function), tuple(inputs), names, parameters, source)
        self.instructions.append(made)
        return names[0]

    def emit_reshaped(self, source: str) -> None:
        """Give the only output the shape that the graph states."""
        self.emit(shapes.reshape, [source], self.outputs, shape=self.shape(self.outputs[0]))
