"""A whole model rewritten to standard ONNX operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError, ModelError
from brainsmith.execution.constants import folded
from brainsmith.execution.foreign_failures import first_line_of, foreign_call, text_of
from brainsmith.execution.initialisers import initialisers
from brainsmith.execution.model_signature import signature_of, spec_of
from brainsmith.execution.onnx.emitter import Emitter
from brainsmith.execution.onnx.guards import Guard, emit_guard
from brainsmith.execution.onnx.standard_model import StandardModel
from brainsmith.execution.runnable import runnable_copy
from brainsmith.execution.semantics import semantics_of
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.graph.ends import input_values
from brainsmith.graph.integer_range import within
from brainsmith.graph.model_facts import ModelFacts
from brainsmith.graph.node_view import NodeView, Unsupported
from brainsmith.graph.operator_names import FINN, STANDARD, known_as
from brainsmith.graph.well_formed import all_graphs, graphs_of
from brainsmith.plugin.adapters.graph_edits import names_read

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto
    from qonnx.core.modelwrapper import ModelWrapper

_RUNS = "runs"
"""What the first axis of inputs is called where it is free."""


def rewrite(model: ModelWrapper) -> StandardModel:
    """Rewrite a model; tensors keep their names.

    Args:
        model: Not changed.

    Raises:
        Unsupported: It has a node that cannot be rewritten; the message names it and says why.
    """
    try:
        runnable = _modern(runnable_copy(model))
        constants = initialisers(runnable)
    except BuildError as error:
        raise ModelError(f"the model cannot be written with standard ONNX operators: {error}") from error
    return _Rewriting(ModelFacts(runnable, constants)).result()


def _modern(model: ModelWrapper) -> ModelWrapper:
    """Bring a model to opset 11, the oldest that has all operators that plans write."""
    from onnx import helper, version_converter
    from qonnx.core.modelwrapper import ModelWrapper

    opsets = model.get_opset_imports()
    if opsets.get("", 0) >= 11:
        return model
    proto = model.model
    for domain in {node.domain for node in model.graph.node} - set(opsets):
        proto.opset_import.append(helper.make_opsetid(domain, 1))
    text = f"the model cannot be converted from opset {opsets.get('', 0)} to opset 13, which is needed here: "
    with foreign_call(lambda error: ModelError(text + first_line_of(error))):
        converted = version_converter.convert_version(proto, 13)
    converted.graph.quantization_annotation.extend(model.graph.quantization_annotation)
    return ModelWrapper(converted)


class _Rewriting:
    """The work on one model."""

    def __init__(self, facts: ModelFacts) -> None:
        self.facts = facts
        self.graph: GraphProto = facts.model.graph
        names = facts.model.get_all_tensor_names()
        for name in names:
            facts.state_shape(name, facts.shape(name) or ())
        self.emit = Emitter(facts.opset(""), names)
        self.mixed = ""
        self.guards: list[Guard] = []
        self.varying: list[str] = []

    def result(self) -> StandardModel:
        for value in input_values(self.graph):
            if (ends := self.facts.annotated(value.name)) is not None:
                self.facts.ranges[value.name] = within(*ends)
            self.varying.append(value.name)
        for node in self.graph.node:
            try:
                self._add(NodeView(node, self.facts))
            except Unsupported as reason:
                name = node.name or next(iter(node.output), "")
                raise ModelError(
                    f"node '{name}' ({node.op_type}) cannot be written with standard ONNX operators: {reason}"
                ) from reason.__cause__
        for value in self.graph.output:
            self._settle_output(value.name)
        signature = signature_of(self.facts.model, self.facts)
        for spec in signature.inputs:
            if not spec.shape:
                self._note_mixed(f"input '{spec.name}' has no axis")
        content = self._proto(signature).SerializeToString()
        tensors = tuple(spec_of(self.facts, name) for name in self.varying)
        guards = (*self._input_guards(signature), *self.guards)
        return StandardModel(signature, content, guards, tensors, self.mixed, self._run_bytes())

    def _add(self, view: NodeView) -> None:
        if (found := folded(view)) is not None:
            self.facts.constants.update(found)
        elif any(map(view.varies, view.outputs)):
            self._rewrite(view)

    def _rewrite(self, view: NodeView) -> None:
        _refuse_inside(view)
        semantics = semantics_of(view)
        if semantics.own or view.family == FINN:
            # Hardware layers give floats in Python, also where the graph still states the type of what was there before.
            self.facts.state_floats(name for name in view.outputs if not view.is_double(name))
        refused = (ModelError, Unsupported) if semantics.own else Exception
        with foreign_call(lambda error: error if isinstance(error, refused) else Unsupported(text_of(error))):
            semantics.to_onnx(view, self.emit)
        no_axis = any(not view.shape(name) for name in view.outputs if name)
        reason = "a result has no axis" if no_axis else semantics.mixes_runs(view)
        if reason:
            self._note_mixed(f"node '{view.name}' ({view.op_type}): {reason}")
        self.facts.ranges.update(view.proved)
        for name in filter(None, view.outputs):
            if (guard := emit_guard(self.facts, self.emit, name)) is not None:
                self.guards.append(guard)
            self.varying.append(name)

    def _input_guards(self, signature: ModelSignature) -> list[Guard]:
        """Return what is to be checked of the inputs, which are at hand before a session runs."""
        from qonnx.util.basic import get_execution_error_thresh

        ends = {spec: self.facts.annotated(spec.name) for spec in signature.inputs}
        return [
            Guard(spec.name, spec.datatype, *found, get_execution_error_thresh())
            for spec, found in ends.items()
            if found is not None
        ]

    def _settle_output(self, name: str) -> None:
        if name in self.facts.constants:
            hidden = self.emit.fresh(name)
            self.facts.constants[hidden] = self.facts.constants.pop(name)
            self.emit.add("Identity", [hidden], name)
            self._note_mixed(f"output '{name}' is a constant")

    def _note_mixed(self, reason: str) -> None:
        self.mixed = self.mixed or reason

    def _run_bytes(self) -> int:
        sizes = [int(np.prod(self.facts.shape(name) or (), dtype=np.int64)) for name in self.varying]
        return 4 * sum(sizes) or 4

    def _kind(self, name: str) -> int:
        from onnx import helper

        return int(helper.np_dtype_to_tensor_dtype(self.facts.dtype(name)))

    def _proto(self, signature: ModelSignature) -> ModelProto:
        from onnx import helper, numpy_helper

        def values(specs: tuple[TensorSpec, ...]) -> list[Any]:
            return [
                helper.make_tensor_value_info(
                    spec.name,
                    helper.np_dtype_to_tensor_dtype(np.dtype(spec.dtype)),
                    list(spec.shape) if self.mixed else [_RUNS, *spec.shape[1:]],
                )
                for spec in specs
            ]

        constants = {**self.facts.constants, **self.emit.constants}
        watched = [
            helper.make_tensor_value_info(name, self._kind(guard.tensor), [])
            for guard in self.guards
            for name in guard.names()
        ]
        used = {name for node in self.emit.nodes for name in names_read(node)}
        graph = helper.make_graph(
            self.emit.nodes,
            "standard",
            values(signature.inputs),
            [*values(signature.outputs), *watched],
            [numpy_helper.from_array(array, name) for name, array in constants.items() if name in used],
        )
        opset = helper.make_opsetid("", self.emit.opset)
        # IR version 10 is what every ONNX Runtime of the last years reads.
        return helper.make_model(graph, ir_version=10, opset_imports=[opset])


def _refuse_inside(view: NodeView) -> None:
    inside = [graph for inner in graphs_of(view.node) for graph in all_graphs(inner)]
    for node in (node for graph in inside for node in graph.node):
        if known_as(node.domain, node.op_type)[0] != STANDARD:
            raise Unsupported(f"a graph inside of it has a node {node.op_type} of domain {node.domain}")
