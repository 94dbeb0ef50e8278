"""Some nodes of a model as a program of their own, from some tensors to others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.plugin.adapters.graph_edits import names_read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx import ModelProto
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
        from qonnx.core.modelwrapper import ModelWrapper

        from brainsmith.execution.program.lower import lower
        from brainsmith.execution.runnable import runnable_copy

        self.tensors = tuple(name for node in nodes for name in node.output if name)
        self._inputs = tuple(inputs)
        made = [name for name in outputs if name in self.tensors]
        self._program = (
            lower(runnable_copy(ModelWrapper(part_of(model, nodes, inputs, made)))) if nodes else None
        )

    def run(self, values: Mapping[str, Stack], keep: frozenset[str] = frozenset()) -> Stacks:
        """Return a stack (samples, *shape) for each input, output, and tensor that is to be kept.

        Raises:
            BuildError: A node cannot be executed.
        """
        fed = {name: values[name] for name in self._inputs}
        return fed if self._program is None else {**fed, **self._program.run(fed, keep)}


def part_of(
    model: ModelWrapper, nodes: Sequence[Any], inputs: Sequence[str], outputs: Sequence[str]
) -> ModelProto:
    """Return a model of some nodes, which states of their tensors what the whole model states.

    Args:
        model: The whole one; not changed.
        nodes: Of the part, in order.
        inputs: Of the part; what nodes read else, in their graphs too, are its constants or made by it.
        outputs: Of the part.
    """
    from onnx import ModelProto

    whole, graph = model.model, model.graph
    read = dict.fromkeys(name for node in nodes for name in names_read(node))
    ends = {*inputs, *outputs}
    inner = dict.fromkeys(
        name for names in (read, *(node.output for node in nodes)) for name in names if name not in ends
    )
    known = {value.name: value for value in (*graph.output, *graph.value_info, *graph.input)}
    part = ModelProto(ir_version=whole.ir_version)
    part.graph.name = "part"
    for field, found in (
        (part.opset_import, whole.opset_import),
        (part.metadata_props, whole.metadata_props),
        (part.functions, whole.functions),
        (part.graph.node, nodes),
        (part.graph.input, [known[name] for name in inputs if name in known]),
        (part.graph.output, [known[name] for name in outputs if name in known]),
        (part.graph.value_info, [known[name] for name in inner if name in known]),
        (part.graph.initializer, [tensor for tensor in graph.initializer if tensor.name in inner]),
        (part.graph.quantization_annotation, [
            note for note in graph.quantization_annotation if note.tensor_name in ends or note.tensor_name in inner
        ]),
    ):  # fmt: skip
        field.extend(found)
    return part
