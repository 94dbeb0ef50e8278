"""Refusals: which nodes have no layer of integers, why, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import ModelError

if TYPE_CHECKING:
    from brainsmith.transforms.integer.no_layer import Reason


class Refusals:
    """Collects them, so that one error has them all."""

    def __init__(self) -> None:
        self._nodes: dict[Reason, list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._nodes)

    def add(self, what: str, reason: Reason) -> None:
        """Enter a node, or an output."""
        self._nodes.setdefault(reason, []).append(what)

    def error(self) -> ModelError:
        """Return the error; nodes with the same reason are listed together."""
        many = sum(map(len, self._nodes.values()))
        lines = [
            f"{', '.join(nodes)}{', each' if len(nodes) > 1 else ''}: {reason}"
            for reason, nodes in self._nodes.items()
        ]
        if many == 1:
            return ModelError(f"no integer layers for {lines[0]}")
        return ModelError("\n  ".join([f"no integer layers for {many} nodes:", *lines]))
