"""ElementwiseAddRTL: FINN's ElementwiseAdd kernel for integers in RTL."""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.elementwise_binary import ElementwiseAdd

from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.integers import integer_bits, integer_datatype, unbipolar_constants
from brainsmith.rtl.cores.node_support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.cores.tables import Table, make_table, table_text
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

STYLES = ("lhs_style", "rhs_style")


@backend(
    kernel="finn:ElementwiseAdd",
    backend_type="rtl",
    description="Integers added value by value: two streams, or a stream and a constant",
    requires=("finn-plus",),
    domain="finn.custom_op.fpgadataflow.rtl",
    op_type="ElementwiseAddInt_rtl",
)
class ElementwiseAddRTL(CoreBackend, ElementwiseAdd):
    """The sum behind a residual branch, or a constant added to a stream: `PE` values a beat.

    Its nodes are not called `ElementwiseAdd_rtl`, because FINN has such nodes for floats.
    """

    core = "elementwise_add_core"
    parts = ("constant_rom.sv", "table_in_step.sv")
    joined = True

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether both operands are integers whose sums the output holds, and have shapes that the core adds."""
        found = super().supports(node, part)
        for examine in (_fitting, _shaped, _stored):
            found = found and examine(node)
        return found

    def fed_inputs(self) -> tuple[int, ...]:
        """Return which operands are streams."""
        return _fed(self)

    def result_range(self) -> tuple[int, int]:
        """Return the least and the greatest sum of the operands' datatypes."""
        return _sums(self)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return lanes and bits; the first operand is a stream, as the order does not matter."""
        fed = self.fed_inputs()
        first, second = (self.get_input_datatype(at) for at in (fed[0], 1 - fed[0]))
        table = self._table()
        return {
            "PE": self.pe,
            "FED": len(fed),
            "A_BITS": first.bitwidth(),
            "A_SIGNED": first.signed(),
            "B_BITS": second.bitwidth(),
            "B_SIGNED": second.signed(),
            "OUT_BITS": self.out_dtype.bitwidth(),
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
        values = np.broadcast_to(model.get_initializer(self.onnx_node.input[at]), self.out_shape)
        words = values.reshape(-1, self.pe)[: self._table().depth]
        what = f"layer {self.onnx_node.name!r}: a constant"
        return {self.memory_file("table"): table_text(words, self.get_input_datatype(at), what)}

    def core_resources(self) -> Resources:
        """Return the adders, a register for each bit of a sum, the handshake, and the table with its address."""
        table, sums = self._table(), self.pe * min(integer_bits(*_sums(self)), int(self.out_dtype.bitwidth()))
        adders = Resources(lut=ceil(self.pe * self._adder_luts()) + 3, ff=sums + 1)
        if table.depth == 1:
            return adders
        address = (table.depth - 1).bit_length()
        return adders + table.resources() + Resources(lut=2 * address, ff=address)

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return PE, which divides the last axis."""
        return (Parallelism("PE", divisors(int(self.out_shape[-1]))),)

    def minimize_weight_bit_width(self, model: ModelWrapper, datatype_only: bool = False) -> None:
        """Minimise the constant's datatype; FINN's rule makes -1 and 0 BIPOLAR, which has no 0."""
        super().minimize_weight_bit_width(model, datatype_only)
        unbipolar_constants(model, self)

    def _derive_out_dtype(self, model: ModelWrapper) -> Any:
        """Return the narrowest datatype of all sums; FINN's is a bit short for INT4 and UINT4."""
        return integer_datatype(*_sums(self))

    def _adder_luts(self) -> float:
        """Return the LUTs of one adder: carries alone above the narrower operand, if that has no sign to extend.

        A bit that is 0 in all words of a constant needs no LUT: of one word half of the bits are taken to be, of two
        words a quarter, and so on.
        """
        narrow, wide = sorted((self.lhs_dtype, self.rhs_dtype), key=lambda kind: kind.bitwidth())
        bits = wide.bitwidth() if narrow.signed() else narrow.bitwidth()
        return bits - bits / 2 ** self._table().depth if len(self.fed_inputs()) == 1 else float(bits)

    def _table(self) -> Table:
        """Return the table of the constant operand, of one word where there is none."""
        fed = self.fed_inputs()
        if len(fed) > 1:
            return Table(1, 1, "distributed")
        at = 1 - fed[0]
        depth = _period(self.get_normal_input_shape(at), self.out_shape) // self.pe
        bits = self.get_input_datatype(at).bitwidth() * self.pe
        return make_table(bits, max(depth, 1), self.get_nodeattr("ram_style"))


def _fed(node: Any) -> tuple[int, ...]:
    """Return which operands are streams."""
    return tuple(at for at, style in enumerate(STYLES) if node.get_nodeattr(style) == "input")


def _period(shape: Any, whole: Any) -> int:
    """Return after how many values of a whole tensor a constant that is broadcast to it begins again."""
    sizes = (1,) * (len(whole) - len(shape)) + tuple(shape)
    first = next((at for at, size in enumerate(sizes) if size > 1), len(sizes))
    return prod(int(size) for size in whole[first:])


def _sums(node: Any) -> tuple[int, int]:
    """Return the least and the greatest sum of the operands' datatypes."""
    kinds = [node.get_input_datatype(at) for at in (0, 1)]
    return sum(int(kind.min()) for kind in kinds), sum(int(kind.max()) for kind in kinds)


def _fitting(node: Any) -> Support:
    """Tell whether the output's datatype holds all sums."""
    kinds = [node.get_input_datatype(0), node.get_input_datatype(1), node.get_output_datatype()]
    if any(kind.name == "BIPOLAR" for kind in kinds):
        return unsupported("it adds BIPOLAR values, whose bits are not in two's complement")
    low, high = _sums(node)
    if low < kinds[2].min() or high > kinds[2].max():
        return unsupported(
            f"its output is {kinds[2].name}, and sums of {kinds[0].name} and {kinds[1].name} are {low} to {high}"
        )
    return SUPPORTED


def _shaped(node: Any) -> Support:
    """Tell whether every stream has the shape of the output."""
    whole = [int(size) for size in node.out_shape]
    fed = _fed(node)
    if not fed:
        return unsupported("both of its inputs are constants")
    for at in fed:
        shape = [int(size) for size in node.get_normal_input_shape(at)]
        if shape != whole:
            return unsupported(
                f"input {at} is a stream of shape {shape} and its output {whole}: a stream is not broadcast"
            )
    return SUPPORTED


def _stored(node: Any) -> Support:
    """Tell whether a constant is to lie inside the core, in what can be initialised."""
    if len(_fed(node)) > 1:
        return SUPPORTED
    if node.get_nodeattr("mem_mode") != "internal_embedded" or node.get_nodeattr("mlo_max_iter"):
        return unsupported(
            "its constant comes in a stream, but its core holds it: set mem_mode to internal_embedded"
        )
    if node.get_nodeattr("ram_style") == "ultra":
        return unsupported("its ram_style is ultra, and UltraRAM cannot hold a constant from the start")
    return SUPPORTED
