"""StepOutcome: what a step made, and what of it is to be executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.steps.host_ends import PARTITION
from brainsmith.transforms.graph_view import is_standard
from brainsmith.transforms.integer.row_function import OPERATORS as ROW_FUNCTIONS

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


@dataclass(frozen=True)
class StepOutcome:
    """What a step made, as it is compared with what was before.

    Attributes:
        step: Its name.
        model: What it returned.
        holder: The model that holds this one as a dataflow partition, if there is one.
    """

    step: str
    model: ModelWrapper
    holder: ModelWrapper | None

    @property
    def run(self) -> tuple[ModelWrapper, ...]:
        """The model to execute, and perhaps the one in place of its partition."""
        return (self.model,) if not self.partitions or self.holder is None else (self.holder, self.model)

    @property
    def row_functions(self) -> int:
        """How many functions of rows are computed in floats."""
        return sum(is_standard(node, *ROW_FUNCTIONS) for model in self.run for node in model.graph.node)

    @property
    def partitions(self) -> int:
        """Among how many dataflow partitions the model is one; 0 if it is not."""
        if self.holder is None or self.model.get_nodes_by_op_type(PARTITION):
            return 0
        return len(self.holder.get_nodes_by_op_type(PARTITION))
