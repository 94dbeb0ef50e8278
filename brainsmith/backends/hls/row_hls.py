"""The base of HLS backends that take whole rows: of integers bit for bit as the kernel computes them, or of floats."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from brainsmith.backends.hls import float_operators as fp
from brainsmith.backends.hls.cpp_constants import lane_kind, lane_problem, parameters
from brainsmith.hls.node import HlsNode
from brainsmith.rtl.cores.node_support import Support

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.synthesis.cells import Resources


class RowHLS(HlsNode):
    """A template for a kernel that says its integers (`arithmetic()`), or why they do not fit (`try_arithmetic`).

    Attributes:
        template: The name of the template for integers; with `_float` after it, that for floats.
    """

    template: ClassVar[str]

    @abstractmethod
    def integer_resources(self, family: str) -> Resources:
        """Return what a layer of integers needs: what the same arithmetic takes in RTL."""

    @abstractmethod
    def float_resources(self) -> tuple[Resources, Resources]:
        """Return what floats need for each lane, and once."""

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the integers fit, or can be read as floats."""
        return Support(
            node.try_arithmetic()[1] if node.is_integer() else lane_problem(node.get_input_datatype())
        )

    def constants(self) -> str:
        """Return the struct that the template takes."""
        shape, simd = self.get_normal_input_shape(), self.get_nodeattr("SIMD")
        sizes, table = {"rows": int(np.prod(shape[:-1])), "size": int(shape[-1]), "simd": simd}, ""
        if self.is_integer():
            arithmetic, table = self.arithmetic(), self.table()
            sizes |= {**arithmetic.widths(), **self.further_sizes()}
            sizes["kept_beats"] = 2 * (int(shape[-1]) // simd) + arithmetic.serial_cycles
            sizes["output_bits"] = arithmetic.output_bits
        return parameters(self._struct(), lane_kind(self.get_input_datatype()), sizes, table)

    def further_sizes(self) -> Mapping[str, int]:
        """Return what the template for integers needs besides their widths."""
        return {}

    def table(self) -> str:
        """Return the function of the table that the template for integers looks numbers up in; empty if it has none."""
        return ""

    def float_arguments(self) -> tuple[str, ...]:
        """Return what the template for floats takes besides the streams."""
        return ()

    def call(self) -> str:
        """Return the call of the template."""
        floats = not self.is_integer()
        arguments = ", ".join(("in0_V", "out0_V", *(self.float_arguments() if floats else ())))
        return f"brainsmith::{self.template}{'_float' * floats}<{self._struct()}>({arguments});"

    def core_resources(self, family: str) -> Resources:
        """Return the estimate."""
        if self.is_integer():
            return self.integer_resources(family) + fp.CONTROL
        lane, shared = self.float_resources()
        if self.get_input_datatype().is_integer():
            lane += fp.FROM_INTEGER
        return lane.times(self.get_nodeattr("SIMD")) + shared + fp.CONTROL

    def _struct(self) -> str:
        return f"{self.onnx_node.name}_parameters"
