"""Run a model over many samples at once, with the results of QONNX's own execution, bit for bit.

`execute_onnx` of QONNX makes an ONNX Runtime session for every node of every sample. Here the model is lowered once to a
program over arrays, and gets all samples as one batch where that gives, bit for bit, what single samples give.
Hardware nodes run the Python model of their kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.initialisers import initialisers
from brainsmith.execution.model_signature import signature_of
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.forks import cached_property
from brainsmith.graph.ends import input_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.program.array_program import Program
    from brainsmith.execution.signature import ModelSignature

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
        constants: Tensors that no input changes, by name.
        inputs: The tensors to feed: the graph's inputs that are not constants.
        outputs: The graph's outputs.
        target: The name of the target that runs it.
    """

    target = "numpy"

    def __init__(self, model: ModelWrapper, inner: ModelWrapper | None = None) -> None:
        self._model = runnable_copy(model)
        self._inner = inner
        self._program: Program | None = None
        self.constants: dict[str, Stack] = initialisers(self._model)
        self.inputs = tuple(value.name for value in input_values(self._model.graph))
        self.outputs = tuple(value.name for value in self._model.graph.output)

    @cached_property
    def signature(self) -> ModelSignature:
        """What goes into the model and comes out of it."""
        return signature_of(self._model)

    @property
    def program(self) -> Program:
        """The model as a program over arrays, made at the first use.

        Raises:
            BuildError: A node cannot be executed; the message names it.
        """
        if self._program is None:
            self._program = lower(self._model, faithful=True, inner=self._inner)
        return self._program

    def shape(self, tensor: str) -> tuple[int, ...]:
        """Return a tensor's shape as the graph states it."""
        return tuple(self._model.get_tensor_shape(tensor) or ())

    def order(self) -> list[str]:
        """Return the tensors that nodes compute, in the order of execution."""
        return [name for node in self._model.graph.node for name in node.output if name]

    def run(self, feed: Mapping[str, Stack], keep: frozenset[str] | None = frozenset()) -> dict[str, Stack]:
        """Compute the outputs of all samples, a few hundred at a time, so that memory stays bounded.

        Args:
            feed: A stack for each of `inputs`.
            keep: Further tensors to return; None returns all that the samples change.

        Raises:
            BuildError: A node cannot be executed; the message names it. Or a tensor holds what its datatype does not.
        """
        return self.program.run({name: feed[name] for name in self.inputs}, keep)
