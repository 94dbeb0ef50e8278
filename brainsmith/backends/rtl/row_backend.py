"""The base of RTL backends that take whole rows of integers, with one serial unit a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.backends.rtl.row_parallelism import row_parallelism
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.support import Support, unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.cores.parallelism import Parallelism


class RowBackend(CoreBackend):
    """A core whose kernel says its integers (`arithmetic()`), or why they do not fit (`try_arithmetic`)."""

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the node computes integers, and these fit."""
        if not node.is_integer():
            return unsupported("its output is FLOAT32, and its core computes with integers")
        problem = node.try_arithmetic()[1]
        return unsupported(problem) if problem else super().supports(node, part)

    def lanes(self) -> Mapping[str, int]:
        """Return a row, which SIMD divides, also where fewer lanes are as fast."""
        return {"SIMD": self.arithmetic().size}

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, up to where the serial unit takes longer than a row's beats."""
        return row_parallelism(self.arithmetic().size, self.arithmetic().serial_cycles)
