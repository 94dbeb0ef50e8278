"""One instruction of a program: a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Instruction:
    """A function over arrays, and the tensors that it reads and makes.

    Attributes:
        function: Its name in the table: `module.function`.
        inputs: Tensors, in the order of its arguments; "" passes None.
        outputs: What it returns: one array, or a tuple of them; "" drops one.
        parameters: Keyword arguments: numbers, strings, None, and tuples of them.
        source: The node that it stands for, as messages name it.
    """

    function: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    source: str = ""
