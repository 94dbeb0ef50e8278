"""Nodes that are run as they are, by the `foreign` instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions import foreign
from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.program.instruction_table import name_of
from brainsmith.plugin.adapters.graph_edits import names_read

if TYPE_CHECKING:
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.model_facts import ModelFacts


def emit_foreign(view: ProgramNode, node: Any, facts: ModelFacts) -> None:
    """Emit a node as itself."""
    model, names = _operands(view, node, facts)
    view.emit(foreign.node, [model, *names["varying"], *names["constant"]], names["made"], **names)


def emit_agreement(view: ProgramNode, node: Any, facts: ModelFacts) -> None:
    """Emit that what was emitted of a node is compared with its Python model, while the first runs are computed."""
    model, names = _operands(view, node, facts)
    inputs = (model, *names["made"], *names["varying"], *names["constant"])
    # It has no source: its error names the node.
    view.instructions.append(Instruction(name_of(foreign.agreement), inputs, (), names))


def _operands(view: ProgramNode, node: Any, facts: ModelFacts) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Return the name of the node as a model, which is held; and its inputs that vary, its constants and its outputs."""
    inputs = list(dict.fromkeys(filter(None, view.inputs)))
    names = {
        "varying": tuple(filter(view.varies, inputs)),
        "constant": tuple(name for name in inputs if not view.varies(name)),
        "made": tuple(filter(None, view.outputs)),
    }
    return view.hold(np.frombuffer(_model_of(node, facts, inputs), np.uint8)), names


def _model_of(node: Any, facts: ModelFacts, names: list[str]) -> bytes:
    """Return a model of one node, which states of its tensors what the whole model states."""
    import onnx

    graph = facts.model.graph
    inner = [name for name in dict.fromkeys(names_read(node)) if name not in node.input]
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
