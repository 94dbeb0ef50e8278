"""Which function reads which operator."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from brainsmith.execution.operators.operator import Operator, Unread
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brainsmith.graph.node_view import NodeView


R = TypeVar("R", bound="Callable[..., Operator]")

_READERS: dict[tuple[str, str], Callable[[NodeView], Operator]] = {}


def reads(family: str, *kinds: str) -> Callable[[R], R]:
    """Enter a function that reads some operators (decorator); `graph/operator_names.py` says what these are known as.

    Raises:
        ValueError: Another function reads one of them.
    """

    def enter(reader: R) -> R:
        for kind in kinds:
            if (other := _READERS.setdefault((family, kind), reader)) is not reader:
                raise ValueError(
                    f"operator {kind} of domain {family or 'ai.onnx'!r} is read twice: by {_place(other)} and by "
                    f"{_place(reader)}; remove one of them"
                )
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


def _place(reader: Callable[..., Operator]) -> str:
    return f"{reader.__module__}.{reader.__qualname__}"
