"""Which function lowers which operator."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.execution.lowering.program_node import ProgramNode

    Lowering = Callable[[ProgramNode], None]

_LOWERINGS: dict[tuple[str, str], Lowering] = {}


def lowers(domain: str, *op_types: str) -> Callable[[Lowering], Lowering]:
    """Say that a function lowers some operators of a domain; "" is ONNX's own (decorator).

    Raises:
        ValueError: Another function does already.
    """

    def enter(function: Lowering) -> Lowering:
        for op_type in op_types:
            other = _LOWERINGS.setdefault((domain, op_type), function)
            if other is not function and other.__qualname__ != function.__qualname__:
                raise ValueError(
                    f"{domain or 'ai.onnx'}.{op_type} is lowered by {other.__qualname__} already"
                )
            _LOWERINGS[domain, op_type] = function
        return function

    return enter


def find_lowering(domain: str, op_type: str) -> Lowering | None:
    """Return the function that lowers an operator; None if there is none."""
    _load()
    return _LOWERINGS.get((domain, op_type))


def lowered_operators() -> list[tuple[str, str]]:
    """Return (domain, operator) of all that have a lowering, sorted."""
    _load()
    return sorted(_LOWERINGS)


@cache
def _load() -> None:
    from brainsmith.execution.lowering import operators

    for found in pkgutil.iter_modules(operators.__path__):
        import_module("brainsmith.execution.lowering.operators." + found.name)
