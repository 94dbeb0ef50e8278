"""RemoveUnusedTensors: initializers, shapes and annotations of tensors that a graph does not use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qonnx.transformation.base import Transformation

from brainsmith.plugin.adapters.graph_edits import forget_unused
from brainsmith.plugin.core import transform

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


@transform(
    stage="graph_tidying",
    description="Remove initializers, shapes and annotations of tensors that nothing reads or makes",
    tags=("clean-up",),
)
class RemoveUnusedTensors(Transformation):
    """Remove the initializers, declared shapes and annotations of tensors that are unused.

    A tensor is used by a node that reads or makes it, by a nested graph that reads it from outside, and as an output
    of the graph. An initializer that is a graph input too is no input, and goes with it.

    QONNX's own counts only nodes, and so takes the constants of an If, and those that are outputs; and what was an
    unused constant is an input then.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Remove all of them; the flag is True exactly when there was one."""
        return model, forget_unused(model.graph)
