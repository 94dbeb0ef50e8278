"""Some nodes of a model as a program of their own, from some tensors to others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qonnx.core.modelwrapper import ModelWrapper

    Stack = np.ndarray[Any, Any]
    Stacks = dict[str, Stack]


class ModelPart:
    """Part of a model, run in Python.

    Args:
        model: Not changed.
        nodes: Those of the part, in the model's order.
        inputs: Tensors that come from elsewhere.
        outputs: Tensors that are wanted elsewhere; those that no node of the part makes are passed on.

    Raises:
        BuildError: Shapes cannot be inferred, or a node cannot be executed.

    Attributes:
        tensors: What the part makes, in the order of execution.
    """

    def __init__(
        self, model: ModelWrapper, nodes: Sequence[Any], inputs: Sequence[str], outputs: Sequence[str]
    ) -> None:
        from brainsmith.execution.program.lower import lower
        from brainsmith.execution.runnable import runnable_copy

        self.tensors = tuple(name for node in nodes for name in node.output if name)
        self._inputs = tuple(inputs)
        made = [name for name in outputs if name in self.tensors]
        self._program = lower(runnable_copy(_cut(model, nodes, inputs, made))) if nodes else None

    def run(self, values: Mapping[str, Stack], keep: frozenset[str] = frozenset()) -> Stacks:
        """Return a stack (samples, *shape) for each input, output, and tensor that is to be kept.

        Raises:
            BuildError: A node cannot be executed.
        """
        fed = {name: values[name] for name in self._inputs}
        return fed if self._program is None else {**fed, **self._program.run(fed, keep)}


def _cut(
    model: ModelWrapper, nodes: Sequence[Any], inputs: Sequence[str], outputs: Sequence[str]
) -> ModelWrapper:
    """Return a model of some nodes only."""
    from qonnx.core.modelwrapper import ModelWrapper

    part = ModelWrapper(model.model, make_deepcopy=True)
    graph = part.graph
    ends = [[model.get_tensor_valueinfo(name) for name in names] for names in (inputs, outputs)]
    inner = [value for value in model.graph.value_info if value.name not in {*inputs, *outputs}]
    fields = (
        (graph.node, nodes), (graph.input, ends[0]), (graph.output, ends[1]), (graph.value_info, inner),
    )  # fmt: skip
    for field, found in fields:
        copies = [type(one).FromString(one.SerializeToString()) for one in found]
        del field[:]
        field.extend(copies)
    return part
