"""Which function reads which operator."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.execution.lowering.program_node import ProgramNode
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView


class Operator(Protocol):
    """What a node computes; it may have `mixes_runs`, too, as `own_semantics.py` says."""

    def to_program(self, node: ProgramNode) -> None:
        """Emit instructions that compute it."""

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write standard operators that compute it, for any number of runs one after the other in the first axis."""


class Apart:
    """An operator whose first axis is the batch, or that works along the last axis of two or more."""

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis: nothing."""
        return ""


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
        Unsupported: The node is not one that is supported.
    """
    _load()
    reader = _READERS.get((node.family, node.kind))
    return None if reader is None else reader(node)


@cache
def _load() -> None:
    from brainsmith.execution import operators

    for found in pkgutil.iter_modules(operators.__path__):
        import_module("brainsmith.execution.operators." + found.name)
