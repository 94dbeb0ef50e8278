"""Lower a model to a program, node by node."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.execution.constants import computed, stated_shape
from brainsmith.execution.fallback.foreign_node import emit_agreement, emit_foreign
from brainsmith.execution.foreign_code import is_lasting
from brainsmith.execution.foreign_failures import foreign_call, text_of
from brainsmith.execution.initialisers import check_of, initialisers
from brainsmith.execution.known_operators import require_operator
from brainsmith.execution.model_signature import signature_of
from brainsmith.execution.operator_modules import operator_modules
from brainsmith.execution.program.array_program import CHUNK, Program, WrongShapeError
from brainsmith.execution.program.functions import datatype_checks, shapes
from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.program.instruction_table import name_of
from brainsmith.execution.program.partitions import (
    PARTITIONS,
    described,
    inlined,
    inner_name,
    partition_model,
)
from brainsmith.execution.program.program_node import LeftToReference, ProgramNode
from brainsmith.execution.runnable import runnable_copy
from brainsmith.execution.semantics import semantics_of
from brainsmith.graph.integer_range import within
from brainsmith.graph.model_facts import ModelFacts
from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.graph.integer_range import IntegerRange


_CHUNK_BYTES = 1 << 25
"""Of the largest tensor of a chunk."""


def lower(model: ModelWrapper, faithful: bool = False, inner: ModelWrapper | None = None) -> Program:
    """Make a program of a model that `runnable_copy` gave.

    Args:
        model: Not changed.
        faithful: Give the reference's own bits also where it rounds: sums of floats and functions such as exp are
            left to ONNX Runtime then, which takes a batch only where that changes no bit.
        inner: The model to run in place of the file that a dataflow partition names.

    Raises:
        BuildError: A node cannot be executed; the message names it.
    """
    return _Lowering(model, faithful, inner).program()


def proved_ranges(model: ModelWrapper) -> dict[str, IntegerRange]:
    """Return, by tensor, between which whole numbers its values lie, where that is proved or checked as the model runs.

    Args:
        model: One that `runnable_copy` gave; not changed.

    Raises:
        BuildError: A node cannot be executed; the message names it.
    """
    lowering = _Lowering(model)
    lowering.program()
    return lowering.facts.ranges


class _Lowering:
    """One model on its way to a program."""

    def __init__(
        self, model: ModelWrapper, faithful: bool = False, inner: ModelWrapper | None = None
    ) -> None:
        self.facts = ModelFacts(model, initialisers(model))
        self._faithful = faithful
        self._inner = inner
        self._files: dict[str, str] | None = {}
        self._modules: set[str] = set()
        self._graph = model.graph
        self._instructions: list[Instruction] = []
        self._tensors: list[str] = []

    def program(self) -> Program:
        """Lower all nodes in their order."""
        signature = signature_of(self.facts.model, self.facts)
        for spec in signature.inputs:
            self._check(spec.name, None)
            if np.dtype(spec.dtype).kind in "iu":
                self._append(name_of(shapes.cast), spec.name, {"dtype": spec.dtype})
        for node in self._graph.node:
            with foreign_call(partial(_error_of, node)):
                self._add(node)
            self._require_shapes(node)
        used = {name for made in self._instructions for name in made.inputs}
        used |= {spec.name for spec in signature.outputs}
        sizes = {
            name: shape for name in self._tensors if (shape := self.facts.declared_shape(name)) is not None
        }
        largest = max((4 * int(np.prod(shape)) for shape in sizes.values()), default=1)
        return Program(
            signature,
            tuple(self._instructions),
            {name: value for name, value in self.facts.constants.items() if name in used},
            tuple(self._tensors),
            sizes,
            max(1, min(CHUNK, _CHUNK_BYTES // max(1, largest))),
            self._files,
            frozenset(self._modules | operator_modules(self._graph)),
        )

    def _add(self, node: Any) -> None:
        if node.op_type in PARTITIONS:
            self._lower_partition(node)
        elif any(name and name not in self.facts.constants for name in node.input):
            self._lower(node)
        else:
            self._fold(node)

    def _require_shapes(self, node: Any) -> None:
        """Hold what was computed of a node already to the shapes that the graph declares; `Program.run` holds the rest."""
        for name in node.output:
            declared = self.facts.declared_shape(name)
            if name in self.facts.constants and declared not in (None, self.facts.constants[name].shape):
                raise WrongShapeError(name, declared, self.facts.constants[name].shape)

    def _lower(self, node: Any) -> None:
        view, proved = ProgramNode(node, self.facts, self._faithful), {}
        try:
            if (shape := stated_shape(view)) is not None:
                self.facts.constants.update(shape)
                return
            lowering = semantics_of(view).to_program
            lowering(view)
            if self._faithful and _is_of_others(lowering):
                self._distrust(view, node)
        except Unsupported as refused:
            if isinstance(refused, LeftToReference):
                proved = view.proved
            require_operator(node, self.facts.opset(node.domain), self.facts.known_dtype)
            view = ProgramNode(node, self.facts)
            emit_foreign(view, node, self.facts)
            view.proved.update((name, found) for name, found in proved.items() if name in view.outputs)
        self._instructions.extend(view.instructions)
        for name in filter(None, view.outputs):
            self._tensors.append(name)
            self._check(name, view)

    def _distrust(self, view: ProgramNode, node: Any) -> None:
        """Compare what a class of others emitted with its Python model, and believe no span that it states."""
        view.proved.clear()
        emit_agreement(view, node, self.facts)

    def _lower_partition(self, node: Any) -> None:
        """Put the instructions of the model that a dataflow partition holds in the node's place."""
        inner, files = partition_model(node, self._inner)
        part = _Lowering(runnable_copy(inner), self._faithful).program()
        varying = [name for name in node.input if name not in self.facts.constants]
        self._instructions.extend(inlined(part, node, varying))
        self.facts.constants.update({inner_name(node, name): value for name, value in part.constants.items()})
        self._tensors.extend(node.output)
        for outer in node.output:
            self._check(outer, None)
        self._modules |= part.modules
        if self._files is not None:
            self._files = None if part.files is None else {**self._files, **files, **part.files}

    def _fold(self, node: Any) -> None:
        """Compute a node that no input changes."""
        self.facts.constants.update(computed(node, self.facts))
        if not is_lasting(node.domain):
            self._files = None

    def _check(self, name: str, view: ProgramNode | None) -> None:
        """Hold a tensor to its annotation, unless it is proved; note what is known of it then."""
        proved = view.proved.get(name) if view is not None else None
        if proved is not None:
            self.facts.ranges[name] = proved
        ends = self.facts.annotated(name)
        if ends is None:
            return
        low, high = ends
        bipolar = self.facts.datatype(name).name == "BIPOLAR"
        exact = not bipolar or (view is not None and name in view.bipolar)
        if proved is not None and low <= proved.ends[0] and proved.ends[1] <= high and exact:
            return
        settled = name not in self.facts.unsettled
        check = check_of(name, self.facts.datatype(name), settled)
        self._append(name_of(datatype_checks.annotated), name, check)
        if settled:
            self.facts.ranges[name] = (proved or within(low, high)).clipped(low, high)

    def _append(self, function: str, name: str, parameters: dict[str, Any]) -> None:
        self._instructions.append(Instruction(function, (name,), (name,), parameters))


def _is_of_others(lowering: Callable[..., Any]) -> bool:
    """Tell whether a lowering is a method of a project's or package's class; our own are compared by tests."""
    owner = getattr(lowering, "__self__", None)
    return owner is not None and type(owner).__module__.partition(".")[0] != __name__.partition(".")[0]


def _error_of(node: Any, error: Exception) -> BuildError:
    return BuildError(f"{described(node)} cannot be executed: {text_of(error)}")
