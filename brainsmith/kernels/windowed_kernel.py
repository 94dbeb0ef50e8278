"""What kernels share that move values into a window of a tensor, or out of it."""

from __future__ import annotations

from abc import abstractmethod
from math import gcd
from typing import Any

from brainsmith.kernels.movement_kernel import MovementKernel

Shape = tuple[int, ...]


class WindowedKernel(MovementKernel):
    """A kernel of which one side is a window of the other; without a `within_shape` the input has its own."""

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return the attributes of a movement, and the shape that the input has beside the window."""
        return {**super().get_nodeattr_types(), "within_shape": ("ints", False, [])}

    def within_shape(self) -> Shape:
        """Return the shape in which the input is read."""
        within = self.get_nodeattr("within_shape")
        return tuple(within) if len(within) else self.get_normal_input_shape()

    @abstractmethod
    def window(self) -> tuple[Shape, Shape, Shape]:
        """Return the shape of the larger side, and where in it the window begins and how large it is, axis by axis."""

    def lanes_limit(self) -> int:
        """Return the most values that may go together; `SIMD` divides it."""
        ends = (self.get_normal_input_shape()[-1], self.get_normal_output_shape()[-1])
        return gcd(*ends, *(each[-1] for each in self.window()))
