"""Expressions that fused nodes hold as text, each one compiled loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.program.instruction_table import factory
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable


@factory
def expression(*, text: str) -> Callable[..., Array | tuple[Array, ...]]:
    """Compile an expression; it is elementwise, so samples need not be told apart."""
    from brainsmith.autodiff.compiling.compiled import CompiledExpression

    compiled = CompiledExpression(text, "fused_elementwise")

    def run(*arrays: Array) -> Array | tuple[Array, ...]:
        result: Array | tuple[Array, ...] = compiled(*arrays)
        return result

    return run
