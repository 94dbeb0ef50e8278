"""Run a model over many samples at once, with the results of QONNX's own execution, bit for bit.

`execute_onnx` of QONNX makes an ONNX Runtime session for every node of every sample. Here the model is lowered once to a
program over arrays, and gets all samples as one batch where that gives, bit for bit, what single samples give.
Hardware nodes run the Python model of their kernel.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.model_signature import signature_of
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.graph.ends import input_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import GraphProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.program.array_program import Program

Stack = np.ndarray[Any, Any]


class Executor:
    """A model prepared for running stacks of samples.

    A stack holds N samples of one tensor: shape (N, *tensor shape), the tensor's own batch dimension
    included.

    Args:
        model: Not changed.
        inner: The model to run in place of the file that a dataflow partition of `model` names.

    Raises:
        BuildError: Its shapes cannot be inferred.

    Attributes:
        constants: The names of its initialisers.
        inputs: The tensors to feed: the graph's inputs that are not constants.
        outputs: The graph's outputs.
        signature: What goes into the model and comes out of it.
        target: The name of the target that runs it.
    """

    target = "numpy"

    def __init__(self, model: ModelWrapper, inner: ModelWrapper | None = None) -> None:
        self._unread: tuple[ModelWrapper, ModelWrapper | None] | None = (runnable_copy(model), inner)
        self._program: Program | None = None
        graph = self._unread[0].graph
        self.constants = frozenset(tensor.name for tensor in graph.initializer)
        self.inputs = tuple(value.name for value in input_values(graph))
        self.outputs = tuple(value.name for value in graph.output)
        self.signature = signature_of(self._unread[0])
        self._shapes = _stated_shapes(graph)
        self._order = [name for node in graph.node for name in node.output if name]

    @property
    def program(self) -> Program:
        """The model as a program over arrays, made at the first use; from then on only the program holds the constants.

        Raises:
            BuildError: A node cannot be executed; the message names it.
        """
        if self._program is None:
            assert self._unread is not None
            model, inner = self._unread
            self._program, self._unread = lower(model, faithful=True, inner=inner), None
        return self._program

    def twin(self) -> Executor:
        """Return another executor of the model, with the same constants.

        It finds out for itself which nodes take batches, so that what one is fed decides nothing about the other.

        Raises:
            BuildError: A node cannot be executed; the message names it.
        """
        twin = copy(self)
        twin._program = replace(self.program)
        twin._unread = None
        return twin

    def shape(self, tensor: str) -> tuple[int, ...]:
        """Return a tensor's shape as the graph states it."""
        return self._shapes.get(tensor, ())

    def order(self) -> list[str]:
        """Return the tensors that nodes compute, in the order of execution."""
        return list(self._order)

    def run(self, feed: Mapping[str, Stack], keep: frozenset[str] | None = frozenset()) -> dict[str, Stack]:
        """Compute the outputs of all samples, a few hundred at a time, so that memory stays bounded.

        Args:
            feed: A stack for each of `inputs`.
            keep: Further tensors to return; None returns all that the samples change.

        Raises:
            BuildError: A node cannot be executed; the message names it. Or a tensor holds what its datatype does not.
        """
        return self.program.run({name: feed[name] for name in self.inputs}, keep)


def _stated_shapes(graph: GraphProto) -> dict[str, tuple[int, ...]]:
    """Return the shapes that a graph states, by tensor."""
    values = (*graph.output, *graph.value_info, *graph.input)
    stated = {
        value.name: tuple(size.dim_value for size in value.type.tensor_type.shape.dim) for value in values
    }
    return {tensor.name: tuple(tensor.dims) for tensor in graph.initializer} | stated
