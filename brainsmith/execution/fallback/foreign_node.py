"""Nodes that are run as they are, by the `foreign` instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.model_part import part_of
from brainsmith.execution.program.functions import foreign
from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.program.instruction_table import name_of

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
    model = part_of(facts.model, [node], inputs, names["made"])
    return view.hold(np.frombuffer(model.SerializeToString(), np.uint8)), names
