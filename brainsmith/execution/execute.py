"""Run a model over many samples at once, with the results of QONNX's own execution, bit for bit.

`execute_onnx` of QONNX makes an ONNX Runtime session for every node of every sample. Here the model is lowered once to a
program over arrays, and gets all samples as one batch where that gives, bit for bit, what single samples give.
Hardware nodes run the Python model of their kernel.
"""

from __future__ import annotations

import time
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.execution.kept_results import KeptResults, Ran, key_of
from brainsmith.execution.model_signature import signature_of
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.execution.signature import ModelSignature
from brainsmith.graph.ends import input_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
        results: Of the same model; runs that are known are not made again, and those that are made are noted.

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

    def __init__(
        self, model: ModelWrapper, inner: ModelWrapper | None = None, results: KeptResults | None = None
    ) -> None:
        self._program: Program | None = None
        self._results = results
        facts = None if results is None else ExecutorFacts.of_plain(results.facts)
        if facts is None:
            runnable = runnable_copy(model)
            facts = ExecutorFacts.of(runnable)
            self._lowered = _Lowered(lambda: (runnable, inner))
        else:
            assert results is not None
            self._lowered = _Lowered(partial(_runnable, results.models))
        if results is not None:
            results.facts, results.models = facts.plain(), ()
        self.constants, self.inputs, self.outputs = facts.constants, facts.inputs, facts.outputs
        self.signature = facts.signature
        self._shapes, self._order = facts.shapes, facts.order

    @property
    def program(self) -> Program:
        """The model as a program over arrays, made at the first use; from then on only the program holds the constants.

        Raises:
            BuildError: A node cannot be executed; the message names it.
        """
        if self._program is None:
            self._program = replace(self._lowered.program())
        return self._program

    def twin(self) -> Executor:
        """Return another executor of the model, with the same constants.

        It finds out for itself which nodes take batches, so that what one is fed decides nothing about the other.
        """
        twin = copy(self)
        twin._program = None
        return twin

    def shape(self, tensor: str) -> tuple[int, ...]:
        """Return a tensor's shape as the graph states it."""
        return tuple(self._shapes.get(tensor, ()))

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
        return self._ran(feed, keep).results

    def seconds(self, feed: Mapping[str, Stack]) -> float:
        """Return how long it takes to compute the outputs; of a run that is known, how long it took."""
        begun = time.perf_counter()
        ran = self._ran(feed, frozenset())
        return ran.seconds if ran.seconds else time.perf_counter() - begun

    def _ran(self, feed: Mapping[str, Stack], keep: frozenset[str] | None) -> Ran:
        fed = {name: feed[name] for name in self.inputs}
        kept = None if keep is None else self._results
        key = key_of(fed, keep or frozenset()) if kept is not None else ""
        known = kept.find(key) if kept is not None else None
        if known is not None:
            return known
        program = self.program
        begun = time.perf_counter()
        results = program.run(fed, keep)
        ran = Ran(results, time.perf_counter() - begun)
        if kept is not None:
            kept.add(key, ran, program)
        return ran


class ExecutorFacts(NamedTuple):
    """What is known of a model before it is lowered.

    Attributes:
        constants: The names of its initialisers.
        inputs: The tensors to feed.
        outputs: The graph's outputs.
        signature: What goes into the model and comes out of it.
        shapes: Those that the graph states, by tensor.
        order: The tensors that nodes compute, in the order of execution.
    """

    constants: frozenset[str]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    signature: ModelSignature
    shapes: dict[str, tuple[int, ...]]
    order: list[str]

    @classmethod
    def of(cls, model: ModelWrapper) -> ExecutorFacts:
        """Read a runnable model."""
        graph = model.graph
        return cls(
            frozenset(tensor.name for tensor in graph.initializer),
            tuple(value.name for value in input_values(graph)),
            tuple(value.name for value in graph.output),
            signature_of(model),
            _stated_shapes(graph),
            [name for node in graph.node for name in node.output if name],
        )

    def plain(self) -> Any:
        """Return it as plain values."""
        return (sorted(self.constants), self.inputs, self.outputs, self.signature.to_plain(), *self[4:])

    @classmethod
    def of_plain(cls, plain: Any) -> ExecutorFacts | None:
        """Return what `plain` gave; None of anything else."""
        try:
            constants, inputs, outputs, signature, shapes, order = plain
            return cls(
                frozenset(constants), inputs, outputs, ModelSignature.from_plain(signature), shapes, order
            )
        except (ValueError, TypeError, LookupError):
            return None


def _runnable(models: Sequence[bytes]) -> tuple[ModelWrapper, ModelWrapper | None]:
    """Return a model, and the one inside of its partition, of their bytes."""
    from onnx import load_model_from_string
    from qonnx.core.modelwrapper import ModelWrapper

    model, *inner = (ModelWrapper(load_model_from_string(data)) for data in models)
    return runnable_copy(model), inner[0] if inner else None


class _Lowered:
    """A model, and its program once that was needed; from then on only the program holds the constants."""

    def __init__(self, read: Callable[[], tuple[ModelWrapper, ModelWrapper | None]]) -> None:
        self._read: Callable[[], tuple[ModelWrapper, ModelWrapper | None]] | None = read
        self._program: Program | None = None

    def program(self) -> Program:
        """Return the program.

        Raises:
            BuildError: A node cannot be executed; the message names it.
        """
        if self._program is None:
            assert self._read is not None
            model, inner = self._read()
            self._program, self._read = lower(model, faithful=True, inner=inner), None
        return self._program


def _stated_shapes(graph: GraphProto) -> dict[str, tuple[int, ...]]:
    """Return the shapes that a graph states, by tensor."""
    values = (*graph.output, *graph.value_info, *graph.input)
    stated = {
        value.name: tuple(size.dim_value for size in value.type.tensor_type.shape.dim) for value in values
    }
    return {tensor.name: tuple(tensor.dims) for tensor in graph.initializer} | stated
