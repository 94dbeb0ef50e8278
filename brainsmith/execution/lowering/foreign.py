"""Nodes that are run as they are: once while lowering, or by the `foreign` instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions import foreign

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode
    from brainsmith.graph.model_facts import ModelFacts

Array = np.ndarray[Any, Any]


def fold(node: Any, facts: ModelFacts) -> dict[str, Array]:
    """Compute a node whose inputs are constants."""
    from brainsmith.execution.node_runners import make_runner

    return make_runner(facts.model, node, facts.constants).once({})


def emit_foreign(view: ProgramNode, node: Any, facts: ModelFacts) -> None:
    """Emit a node as itself."""
    names = list(dict.fromkeys(filter(None, view.inputs)))
    varying = tuple(name for name in names if view.varies(name))
    constant = tuple(name for name in names if not view.varies(name))
    outputs = tuple(filter(None, view.outputs))
    model = view.hold(np.frombuffer(_model_of(node, facts, names), np.uint8))
    view.emit(
        foreign.node,
        [model, *varying, *constant],
        outputs,
        varying=varying,
        constant=constant,
        made=outputs,
    )


def _model_of(node: Any, facts: ModelFacts, names: list[str]) -> bytes:
    """Return a model of one node, which states of its tensors what the whole model states."""
    import onnx

    graph = facts.model.graph
    inner = _names_inside(node)
    wanted = {*names, *node.output, *inner}
    model = onnx.ModelProto(ir_version=facts.model.model.ir_version)
    model.opset_import.extend(facts.model.model.opset_import)
    model.metadata_props.extend(facts.model.model.metadata_props)
    model.graph.name = "one_node"
    model.graph.node.append(node)
    known = {value.name: value for value in (*graph.output, *graph.value_info, *graph.input)}
    model.graph.input.extend(known[name] for name in names if name in known)
    model.graph.output.extend(known[name] for name in node.output if name in known)
    listed = {*names, *node.output}
    model.graph.value_info.extend(known[name] for name in inner if name in known and name not in listed)
    model.graph.initializer.extend(t for t in graph.initializer if t.name in inner)
    model.graph.quantization_annotation.extend(
        a for a in graph.quantization_annotation if a.tensor_name in wanted
    )
    return bytes(model.SerializeToString())


def _names_inside(node: Any) -> list[str]:
    """Return the tensors that the graphs in a node's attributes read."""
    graphs = [a.g for a in node.attribute if a.HasField("g")]
    graphs += [graph for a in node.attribute for graph in a.graphs]
    return [
        name for graph in graphs for inner in graph.node for name in (*inner.input, *_names_inside(inner))
    ]
