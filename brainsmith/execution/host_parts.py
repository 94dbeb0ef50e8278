"""What the host computes before and after an accelerator, which is one node of a larger model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.execution.model_part import ModelPart
from brainsmith.execution.model_signature import signature_of
from brainsmith.graph.ends import input_values, tensors_behind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    Stack = np.ndarray[Any, Any]
    Stacks = dict[str, Stack]

PARTITION = "StreamingDataflowPartition"


class HostParts:
    """The two parts of a model that lie around its accelerator, ready to be run.

    Args:
        parent: It has one node that stands for the accelerator; not changed.

    Raises:
        BuildError: It has none, or several; or shapes cannot be inferred.

    Attributes:
        signature: Of the model.
        wanted: The tensors that the accelerator takes, in the order of its inputs.
        given: The tensors that it gives, in the order of its outputs.
    """

    def __init__(self, parent: ModelWrapper) -> None:
        parts = host_nodes(parent)
        self.wanted, self.given = parts.wanted, parts.given
        self.signature = signature_of(parent)
        ends = self.signature.inputs, self.signature.outputs
        fed, given = ([_known(parent, spec.name) for spec in each] for each in ends)
        handed = parts.handed
        self._before = ModelPart(parent, parts.before, fed, [*dict.fromkeys([*self.wanted, *handed])])
        self._after = ModelPart(parent, parts.behind, [*dict.fromkeys([*handed, *self.given])], given)

    def run(
        self,
        feed: Mapping[str, Stack],
        accelerator: Callable[[Sequence[Stack]], Sequence[Stack]],
        keep: frozenset[str] = frozenset(),
    ) -> Stacks:
        """Compute the model's outputs.

        Args:
            feed: A stack (samples, *shape) for each input.
            accelerator: Gives a stack for each tensor of `given`, from those of `wanted`.
            keep: Further tensors to return, of those that the host computes.

        Raises:
            BuildError: A node cannot be executed.
        """
        values = self._before.run(feed, keep)
        results = accelerator([values[name] for name in self.wanted])
        values |= dict(zip(self.given, results, strict=True))
        values |= self._after.run(values, keep)
        outputs = (spec.name for spec in self.signature.outputs)
        return {name: values[name] for name in dict.fromkeys((*outputs, *keep)) if name in values}

    def tensors(self) -> tuple[str, ...]:
        """Return the tensors that the host computes, in the order of execution."""
        return (*self._before.tensors, *self._after.tensors)


class HostNodes(NamedTuple):
    """The nodes around an accelerator.

    Attributes:
        before: What the host computes of the model's inputs alone, in order.
        behind: What it computes with the accelerator's results, in order.
        wanted: The tensors that the accelerator takes, in the order of its inputs.
        given: The tensors that it gives, in the order of its outputs.
        handed: Further tensors that nodes after it read, or that are outputs: inputs of the model, or made before it.
    """

    before: list[NodeProto]
    behind: list[NodeProto]
    wanted: tuple[str, ...]
    given: tuple[str, ...]
    handed: list[str]


def host_nodes(parent: ModelWrapper) -> HostNodes:
    """Sort the nodes of a model that has one node which stands for its accelerator.

    Raises:
        BuildError: It has none, or several.
    """
    nodes = parent.get_nodes_by_op_type(PARTITION)
    if len(nodes) != 1:
        raise BuildError(
            f"the model around an accelerator must have one node that stands for it, not {len(nodes)}"
        )
    (node,) = nodes
    constants = {tensor.name for tensor in parent.graph.initializer}
    wanted = tuple(name for name in node.input if name not in constants)
    reached = tensors_behind(parent.graph, node.output).keys()
    behind = [one for one in parent.graph.node if not reached.isdisjoint(one.input)]
    before = [one for one in parent.graph.node if one is not node and one not in behind]
    made = {name for one in before for name in one.output}
    made.update(value.name for value in input_values(parent.graph))
    needed = {name for one in behind for name in one.input} | {value.name for value in parent.graph.output}
    return HostNodes(before, behind, wanted, tuple(node.output), sorted(made & needed))


def _known(parent: ModelWrapper, name: str) -> str:
    """Return the name of an input or output whose shape is known; refuse any other."""
    if parent.get_tensor_shape(name) is None:
        raise BuildError(f"the shape of tensor '{name}' of the model around the accelerator is not known")
    return name
