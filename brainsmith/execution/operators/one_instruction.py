"""Operators that a single instruction computes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.operators.operator import Apart, ByValue, Operator, along
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.integer_range import IntegerRange
    from brainsmith.graph.node_view import NodeView


@dataclass(frozen=True)
class OneInstruction(Operator):
    """An instruction.

    Attributes:
        function: As `emit` takes it; None if there is none, and ONNX Runtime is to compute the node.
        inputs: Names, and constants. All that vary get the same rank, so that their runs stay apart.
        parameters: As `emit` takes them.
        ranges: Between which whole numbers the outputs lie, as far as that is known, from the first on.
        rounds: Whether its last bits may differ from the reference's.
        other_ends: Whether NaN, infinities and signs of zeros may.
        moved: Whether the outputs are among the values of the first input.
    """

    function: Callable[..., Any] | None
    inputs: Sequence[str | Array]
    parameters: dict[str, Any] = field(default_factory=dict)
    ranges: Sequence[IntegerRange | None] = ()
    rounds: bool = False
    other_ends: bool = False
    moved: bool = False

    def to_program(self, node: ProgramNode) -> None:
        """Emit it.

        Raises:
            Unsupported: There is none.
        """
        if self.function is None:
            raise Unsupported("it has no lowering")
        if self.rounds:
            node.rounds_differently()
        names = [node.hold(given) if isinstance(given, np.ndarray) else given for given in self.inputs]
        node.emit(self.function, node.stacks(names), node.outputs, **self.parameters)
        self.prove(node)
        if self.other_ends:
            node.treats_ends_differently()

    def prove(self, node: NodeView) -> None:
        """State the ranges."""
        if self.moved:
            node.prove_moved()
        for name, found in zip(node.outputs, self.ranges, strict=False):
            if name and found is not None:
                node.prove_range(name, found)


class ValueByValue(ByValue, OneInstruction):
    """One of ONNX's that computes value by value."""


@dataclass(frozen=True)
class AlongAxes(OneInstruction):
    """One of ONNX's that works along axes, with constant parameters.

    Attributes:
        axes: Which.
    """

    axes: Sequence[int] = ()

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis."""
        computed = any(node.is_computed(at) for at in range(1, len(node.inputs)))
        return along(0) if 0 in self.axes else "a parameter is computed" if computed else ""


class LayerOfRuns(Apart, OneInstruction):
    """One whose Python model takes several runs, too."""
