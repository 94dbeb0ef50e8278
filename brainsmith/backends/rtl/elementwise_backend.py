"""The base of RTL backends that combine integers value by value: two streams, or a stream and a constant."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import ceil, prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from brainsmith.backends.rtl.multiplier import bits_beside
from brainsmith.graph.integer_range import FLOAT64_END
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.integers import integer_bits, integer_datatype, kind_of, unbipolar_constants
from brainsmith.rtl.cores.node_support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.cores.tables import Table, make_table, table_text
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, one_by_one

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

STYLES = ("lhs_style", "rhs_style")


class ElementwiseBackend(CoreBackend):
    """`PE` results a beat, of one of FINN's element-wise kernels, which computes them in Python.

    Its nodes are not called `ElementwiseAdd_rtl` and so on, because FINN has such nodes for floats.

    Attributes:
        operations: What the core computes where the first operand is the stream, and where the second alone is.
        results: How messages call the results.
    """

    core = "elementwise_core"
    parts = ("constant_rom.sv", "table_in_step.sv", "integer_product.sv")
    exact_to = FLOAT64_END
    joined = True
    operations: ClassVar[tuple[str, str]]
    results: ClassVar[str]
    npy_op: Any

    def lane(self, family: str) -> tuple[float, int]:
        """Return the LUTs and DSP slices of one result, without its register: an adder's, unless a backend states others.

        Carries alone are above the narrower operand, if that has no sign to extend. A bit that is 0 in all words of a
        constant needs no LUT: of one word half of the bits are taken to be, of two words a quarter, and so on.
        """
        kinds = (self.get_input_datatype(0), self.get_input_datatype(1))
        narrow, wide = sorted(kinds, key=lambda kind: int(kind.bitwidth()))
        bits = int(wide.bitwidth() if narrow.signed() else narrow.bitwidth())
        return bits - (bits / 2 ** self.table().depth if len(self.fed_inputs()) == 1 else 0.0), 0

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether both operands are integers whose results the output holds, and have shapes that the core takes."""
        found = super().supports(node, part)
        layer = cls(node.onnx_node, onnx_opset_version=node.onnx_opset_version)
        return found and layer._fitting() and layer._shaped() and layer._stored()

    def fed_inputs(self) -> tuple[int, ...]:
        """Return which operands are streams."""
        return tuple(at for at, style in enumerate(STYLES) if self.get_nodeattr(style) == "input")

    def result_range(self) -> tuple[int, int]:
        """Return the least and the greatest result of the operands' datatypes: no operation turns inside their ranges."""
        spans = [[int(kind.min()), int(kind.max())] for kind in map(self.get_input_datatype, (0, 1))]
        found = [int(self.npy_op(one, other)) for one, other in product(*spans)]
        return min(found), max(found)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return what is computed, lanes and bits; the core's first operand is a stream."""
        fed = self.fed_inputs()
        first, second = (self.get_input_datatype(at) for at in (fed[0], 1 - fed[0]))
        table = self.table()
        return {
            "OPERATION": self.operations[fed[0]],
            "PE": self.get_nodeattr("PE"),
            "FED": len(fed),
            "A_BITS": first.bitwidth(),
            "A_KIND": kind_of(first),
            "B_BITS": second.bitwidth(),
            "B_KIND": kind_of(second),
            "OUT_BITS": self.get_output_datatype().bitwidth(),
            "DEPTH": table.depth,
            "TABLE": "" if len(fed) > 1 else f"./{self.memory_file('table')}",
            "STYLE": table.style,
        }

    def core_memories(self, model: ModelWrapper) -> Mapping[str, str]:
        """Return the constant operand in the order of the stream, until it repeats itself."""
        fed = self.fed_inputs()
        if len(fed) > 1:
            return {}
        at = 1 - fed[0]
        values = np.broadcast_to(
            model.get_initializer(self.onnx_node.input[at]), self.get_normal_output_shape()
        )
        words = values.reshape(-1, self.get_nodeattr("PE"))[: self.table().depth]
        what = f"layer {self.onnx_node.name!r}: a constant"
        return {self.memory_file("table"): table_text(words, self.get_input_datatype(at), what)}

    def core_resources(self, family: str) -> Resources:
        """Return the lanes, a register for each bit of a result, the handshake, and the table with its address."""
        pe, (luts, slices) = self.get_nodeattr("PE"), self.lane(family)
        bits = min(integer_bits(*self.result_range()), int(self.get_output_datatype().bitwidth()))
        registers = bits_beside(slices) if slices else bits  # a DSP slice has one for the product
        return Resources(lut=ceil(pe * luts) + 3, ff=pe * registers + 1, dsp=pe * slices) + in_step(
            self.table(), family
        )

    def beat_schedule(self) -> BeatSchedule:
        """Return that a beat of each stream is one of results, a cycle later."""
        schedule = one_by_one(self.frame_beats()[1][0], inputs=len(self.fed_inputs()))
        return replace(schedule, begin=self.table().begin)

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return PE, which divides the last axis."""
        return (Parallelism("PE", divisors(int(self.get_normal_output_shape()[-1]))),)

    def minimize_weight_bit_width(self, model: ModelWrapper, datatype_only: bool = False) -> None:
        """Minimise the constant's datatype; FINN's rule makes -1 and 0 BIPOLAR, which has no 0."""
        super().minimize_weight_bit_width(model, datatype_only)
        unbipolar_constants(model, self)

    def _derive_out_dtype(self, model: ModelWrapper) -> Any:
        """Return the narrowest datatype of all results; FINN's is a bit short for the sums of INT4 and UINT4."""
        return integer_datatype(*self.result_range())

    def _fitting(self) -> Support:
        """Tell whether the output's datatype holds all results."""
        one, other, given = self.get_input_datatype(0), self.get_input_datatype(1), self.get_output_datatype()
        low, high = self.result_range()
        if low < given.min() or high > given.max() or given.name == "BIPOLAR":
            return unsupported(
                f"its output is {given.name}, and {self.results} of {one.name} and {other.name} are {low} to {high}"
            )
        return SUPPORTED

    def _shaped(self) -> Support:
        """Tell whether every stream has the shape of the output."""
        whole = [int(size) for size in self.out_shape]
        fed = self.fed_inputs()
        if not fed:
            return unsupported("both of its inputs are constants")
        for at in fed:
            shape = [int(size) for size in self.get_normal_input_shape(at)]
            if shape != whole:
                return unsupported(
                    f"input {at} is a stream of shape {shape} and its output {whole}: a stream is not broadcast"
                )
        return SUPPORTED

    def _stored(self) -> Support:
        """Tell whether a constant is to lie inside the core, in what can be initialised."""
        if len(self.fed_inputs()) > 1:
            return SUPPORTED
        if self.get_nodeattr("mem_mode") != "internal_embedded" or self.get_nodeattr("mlo_max_iter"):
            return unsupported(
                "its constant comes in a stream, but its core holds it: set mem_mode to internal_embedded"
            )
        if self.get_nodeattr("ram_style") == "ultra":
            return unsupported("its ram_style is ultra, and UltraRAM cannot hold a constant from the start")
        return SUPPORTED

    def table(self) -> Table:
        """Return the table of the constant operand, of one word where there is none."""
        fed = self.fed_inputs()
        if len(fed) > 1:
            return Table(1, 1, "distributed")
        at, pe = 1 - fed[0], self.get_nodeattr("PE")
        depth = _period(self.get_normal_input_shape(at), self.get_normal_output_shape()) // pe
        return make_table(
            self.get_input_datatype(at).bitwidth() * pe, max(depth, 1), self.get_nodeattr("ram_style")
        )


def in_step(table: Table, family: str) -> Resources:
    """Return what a table needs that is read in step with a stream (`table_in_step.sv`), with its address."""
    if table.depth == 1:
        return Resources()
    address = (table.depth - 1).bit_length()
    if table.registered:
        return table.resources(family) + Resources(lut=address // 2 + 2, ff=address + table.bits + 2)
    return table.resources(family) + Resources(lut=address, ff=address)


def _period(shape: Any, whole: Any) -> int:
    """Return after how many values of a whole tensor a constant that is broadcast to it begins again."""
    sizes = (1,) * (len(whole) - len(shape)) + tuple(shape)
    first = next((at for at, size in enumerate(sizes) if size > 1), len(sizes))
    return prod(int(size) for size in whole[first:])
