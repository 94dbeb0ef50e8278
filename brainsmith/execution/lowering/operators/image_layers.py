"""Images that FINN's layers spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.lowering.hardware import emit_reshaped
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import images
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode


@lowers(FINN, "FMPadding_Pixel")
def spread(node: ProgramNode) -> None:
    """Put 0 between pixels."""
    made = node.emit(images.spread_pixels, node.inputs, strides=tuple(node.needed("Stride")))
    emit_reshaped(node, made)
    node.prove_moved(0)
