"""FloatNetwork: a quantised network as its floats compute it, with what rounding can do to each tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.comparison.float_ties.bounded_operators import BoundedOperator, BoundedQuantiser
from brainsmith.comparison.float_ties.bounded_tensor import BoundedTensor, certain
from brainsmith.comparison.float_ties.dyadic_grid import UNKNOWN, DyadicGrid
from brainsmith.comparison.float_ties.operator_reader import operator_of
from brainsmith.execution.fallback.node_runners import make_runner
from brainsmith.execution.initialisers import initialisers
from brainsmith.execution.model_signature import signature_of
from brainsmith.execution.runnable import runnable_copy
from brainsmith.graph.array_types import Array
from brainsmith.graph.ends import input_values, tensors_behind
from brainsmith.graph.model_facts import ModelFacts
from brainsmith.transforms.graph_view import GraphView, attribute
from brainsmith.transforms.lattice.staircases import is_quantiser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.fallback.node_runners import NodeRunner


class FloatNetwork:
    """A network, read once, of which frames are followed one by one.

    Args:
        model: Not changed.

    Attributes:
        rounded: The names of the nodes whose sums float32 may round, and of those before a quantiser of whose rounding
            nothing is known; empty where arithmetic is exact, so that there are no float ties.
        inputs: The tensors to feed.
        outputs: The tensors that it gives.
        signature: What goes in and comes out.

    Raises:
        BuildError: Its shapes cannot be inferred.
    """

    def __init__(self, model: ModelWrapper) -> None:
        self._model, constants, reals = _folded(runnable_copy(model))
        view, facts = GraphView(self._model), ModelFacts(self._model, constants)
        self.signature = signature_of(self._model, facts)
        graph = self._model.graph
        self.inputs = tuple(value.name for value in input_values(graph))
        self.outputs = tuple(value.name for value in graph.output)
        grids = {name: _input_grid(self._model, name) for name in self.inputs}
        self.rounded: list[str] = []
        self._steps: list[tuple[BoundedOperator, bool]] = []  # and whether floats never round in it
        unknown: dict[str, str] = {}
        for node in graph.node:
            varying = tuple(dict.fromkeys(name for name in node.input if name and name not in constants))
            run = _outputs_of(make_runner(self._model, node, constants))
            operator = operator_of(view, facts, node, run, varying, reals)
            given = {name: grids.get(name, UNKNOWN) for name in varying}
            made = operator.grids(given)
            name, origins = (
                node.name or node.output[0],
                [unknown[each] for each in varying if each in unknown],
            )
            if operator.rounds(given):
                self.rounded.append(name)
            if isinstance(operator, BoundedQuantiser):
                self.rounded += [each for each in origins if each not in self.rounded]
            elif origins or (
                type(operator) is BoundedOperator and not all(grid.is_exact for grid in given.values())
            ):
                unknown.update(dict.fromkeys(node.output, origins[0] if origins else name))
            exact = not operator.rounds(given) and (operator.is_sum or all(grid.is_exact for grid in made))
            grids.update(zip(node.output, made, strict=False))
            self._steps.append((operator, exact))
        self.grids = grids

    def follow(
        self,
        feed: Mapping[str, Array],
        decide: Callable[[BoundedQuantiser, BoundedTensor, BoundedTensor], Array],
    ) -> dict[str, BoundedTensor]:
        """Compute one frame, where somebody decides each quantiser's levels.

        Args:
            feed: The inputs, each in the network's own shape.
            decide: Given a quantiser, what comes in and the levels that it may give, returns the levels with which the
                layers after it are computed.

        Returns:
            All tensors that vary.
        """
        tensors = {name: certain(np.asarray(feed[name])) for name in self.inputs}
        for operator, exact in self._steps:
            given = {name: tensors[name] for name in operator.inputs}
            if isinstance(operator, BoundedQuantiser):
                (levels,) = operator.bounds(given)
                made = [operator.settled(decide(operator, given[operator.inputs[0]], levels))]
            else:
                made = operator.exactly(given) if exact else operator.bounds(given)
            tensors.update(zip((name for name in operator.node.output if name), made, strict=True))
        return tensors

    def quantisers(self) -> Iterator[BoundedQuantiser]:
        """Yield the operators that give levels, in order."""
        yield from (operator for operator, _ in self._steps if isinstance(operator, BoundedQuantiser))

    def maker(self, name: str) -> BoundedOperator | None:
        """Return the operator that computes a tensor."""
        return next((operator for operator, _ in self._steps if name in operator.node.output), None)


def _outputs_of(runner: NodeRunner) -> Callable[[Mapping[str, Array]], tuple[Array, ...]]:
    def run(values: Mapping[str, Array]) -> tuple[Array, ...]:
        found = runner.once(dict(values))
        return tuple(found[name] for name in runner.outputs)

    return run


def _folded(model: ModelWrapper) -> tuple[ModelWrapper, dict[str, Array], dict[str, Array]]:
    """Return a model in which what no input changes is an initialiser; all of these; and those levels times a scale."""
    constants = initialisers(model)
    reals: dict[str, Array] = {}
    varying = tensors_behind(model.graph, (value.name for value in input_values(model.graph))).keys()
    kept = []
    for node in model.graph.node:
        if not varying.isdisjoint(node.input):
            kept.append(node)
            continue
        for name, value in make_runner(model, node, constants).once({}).items():
            constants[name] = value
            model.set_initializer(name, value)
        real = _real(node, constants, reals)
        if real is not None:
            reals[node.output[0]] = real
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model, constants, reals


def _real(node: NodeProto, constants: Mapping[str, Array], reals: Mapping[str, Array]) -> Array | None:
    """Return levels times a scale in float64, as integer layers have them: of a quantiser, or of one that was turned."""
    if is_quantiser(node):
        scale = constants[node.input[1]].astype(np.float64)
        return np.asarray(np.rint(constants[node.output[0]] / scale) * scale)
    if node.op_type == "Transpose" and node.input[0] in reals:
        return np.transpose(reals[node.input[0]], attribute(node, "perm"))
    return None


def _input_grid(model: ModelWrapper, name: str) -> DyadicGrid:
    datatype = model.get_tensor_datatype(name)
    if not datatype.is_integer():
        return UNKNOWN
    return DyadicGrid(1.0, float(max(abs(datatype.min()), abs(datatype.max())))).kept()
