"""Which function reads which operator."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeVar

from brainsmith.execution.operators.standard import Unread
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


class Operator(Protocol):
    """What a node computes; it may have `mixes_runs`, too, as `own_semantics.py` says.

    One that derives from this may leave methods out: such nodes run as they are, or standard ONNX cannot be written.
    """

    def to_program(self, node: ProgramNode) -> None:
        """Emit instructions that compute it."""
        raise Unsupported("it has no lowering")

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write standard operators that compute it, for any number of runs one after the other in the first axis."""
        raise Unsupported(f"no plan is known for {node.op_type} of domain {node.domain}")


R = TypeVar("R", bound="Callable[..., Operator]")

_READERS: dict[tuple[str, str], Callable[[NodeView], Operator]] = {}


def reads(family: str, *kinds: str) -> Callable[[R], R]:
    """Enter a function that reads some operators (decorator); `graph/operator_names.py` says what these are known as."""

    def enter(reader: R) -> R:
        _READERS.update({(family, kind): reader for kind in kinds})
        return reader

    return enter


def read(node: NodeView) -> Operator | None:
    """Return what a node computes; None if nothing reads its operator.

    Raises:
        Unsupported: The node is not one that is supported, and it is none of ONNX's own, which ONNX Runtime takes.
    """
    reader = readers().get((node.family, node.kind))
    if reader is None:
        unknown = Unread("nothing is known of how it treats its first axis")
        return unknown if node.family == STANDARD else None
    try:
        return reader(node)
    except Unsupported as refused:
        if node.family != STANDARD:
            raise
        return Unread(str(refused))


@cache
def readers() -> Mapping[tuple[str, str], Callable[[NodeView], Operator]]:
    """Return what reads each operator, by family and kind."""
    from brainsmith.execution import operators

    for found in pkgutil.iter_modules(operators.__path__):
        import_module("brainsmith.execution.operators." + found.name)
    return _READERS
