"""SoftmaxRTL: the Softmax kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from qonnx.core.datatype import DataType

from brainsmith.backends.rtl.embedded_resources import ProductNeeds, sum_tree
from brainsmith.backends.rtl.label_select_order import order_resources
from brainsmith.backends.rtl.multiplier import multiplier
from brainsmith.backends.rtl.page_memory import in_blocks
from brainsmith.backends.rtl.row_backend import RowBackend
from brainsmith.backends.rtl.row_queue import (
    SPARE,
    places_for,
    queue_depth,
    queue_resources,
    reserved_queue_resources,
)
from brainsmith.kernels.softmax import SoftmaxKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.tables import Table, make_table, table_text
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper


PLACES = 7
"""Beats of results that are under way or wait for the output: as many as are begun until the first one's place is free."""


@backend(
    kernel="Softmax",
    backend_type="rtl",
    description="Softmax of rows of integers: a table of powers, one bit of the reciprocal per cycle",
)
class SoftmaxRTL(RowBackend, SoftmaxKernel):
    """`SIMD` elements a beat; a row takes its beats or its reciprocal's bits and 2 cycles, whichever is more."""

    core = "softmax_core"
    rows_ahead = 2
    parts = (
        "binary_mvau_sum.sv", "constant_rom.sv", "label_select_order.sv", "page_memory.sv", "reserved_queue.sv",
        "row_queue.sv", "softmax_reciprocal.sv",
    )  # fmt: skip

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the sizes of a row, the widths of the integers, the table's file, and the queues."""
        (in_depth, in_bits), (power_depth, power_bits) = _queues(self)
        return {
            **super().core_parameters(),
            "TABLE": f"./{self.memory_file('powers')}",
            "TABLE_STYLE": _table(self).style,
            "IN_DEPTH": in_depth,
            "IN_BLOCK": int(in_blocks(in_depth, in_bits)),
            "POWER_DEPTH": power_depth,
            "POWER_BLOCK": int(in_blocks(power_depth, power_bits)),
            "ROWS": _rows(self),
            "PLACES": PLACES,
        }

    def core_memories(self, model: ModelWrapper) -> Mapping[str, str]:
        """Return the table of powers."""
        powers = np.array(self.arithmetic().table, np.int64)[:, None]
        return {self.memory_file("powers"): table_text(powers, DataType[f"UINT{_table(self).bits}"])}

    def row_delay(self) -> int:
        """Return the cycles of the greatest, of the powers of a row and their sum, of the division, and the product."""
        arithmetic, simd = self.arithmetic(), self.get_nodeattr("SIMD")
        rounds = (simd - 1).bit_length()
        looked_up = arithmetic.size // simd + (2 if _table(self).registered else 1)
        return int(max(rounds, 1) + looked_up + rounds + arithmetic.reciprocal_bits + 12)

    def serial_delay(self) -> int:
        """Return the cycles of the division, and the stages after it."""
        return int(self.arithmetic().reciprocal_bits + 8)

    def core_resources(self, family: str) -> Resources:
        """Return the comparators, adders, tables and multipliers of the lanes, the divider, and two queues."""
        return softmax_resources(self, family)


def _table(node: SoftmaxKernel) -> Table:
    """Return the table of powers of a lane: in LUTs if it is small, else in block RAM."""
    arithmetic = node.arithmetic()
    return make_table(arithmetic.power_fraction + 1, len(arithmetic.table), "auto")


def _rows(node: SoftmaxKernel) -> int:
    """Return for how many rows' sums there are places: of those that are under way or wait for their reciprocal."""
    arithmetic, simd = node.arithmetic(), node.get_nodeattr("SIMD")
    beats = arithmetic.size // simd
    read = 2 if _table(node).registered else 1
    until_free = beats + read + (simd - 1).bit_length() + 3  # cycles from when a row is begun
    return places_for(int(until_free), max(beats, arithmetic.serial_cycles))


def _queues(node: SoftmaxKernel) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return depth and width of the queue of inputs and of that of powers."""
    arithmetic, simd = node.arithmetic(), node.get_nodeattr("SIMD")
    beats = arithmetic.size // simd
    rounds = (simd - 1).bit_length()
    depth = queue_depth(beats, arithmetic.serial_cycles) + rounds
    powers = depth, (arithmetic.power_fraction + 1) * simd
    return (beats + rounds + SPARE, node.get_instream_width()), powers


def softmax_resources(node: SoftmaxKernel, family: str) -> Resources:
    """Return what a layer of integers needs."""
    arithmetic, simd, bits = (
        node.arithmetic(),
        node.get_nodeattr("SIMD"),
        node.get_input_datatype().bitwidth(),
    )
    width = arithmetic.widths()
    total, power, reciprocal = width["sum_bits"], width["power_bits"], width["reciprocal_bits"]
    count = 3 * (arithmetic.size // simd - 1).bit_length()
    given = arithmetic.output_bits
    division = Resources(lut=total + 25, ff=2 * total + 1 + reciprocal + (reciprocal - 1).bit_length() + 3)
    chosen = 3 * bits // 2 + 1  # the greater of two
    rounds = (simd - 1).bit_length()
    shared = Resources(
        lut=54 + count + chosen + total,
        ff=(2 if rounds else 3) * bits + total + reciprocal + count + 15 + 4 * rounds,
    )
    trees = order_resources(simd, 1, bits, 0) + sum_tree(simd, ProductNeeds(power, False, Resources()))
    whole = power + reciprocal + 1 - width["drop"]
    # The registers of the product and of the reciprocal before it are in the multiplier.
    lane = Resources(
        lut=bits + width["address_bits"] + given - 10, ff=width["address_bits"] + whole + given - 1
    )
    table = _table(node)
    lane += multiplier(power, reciprocal, family) + table.resources(family)
    if table.registered:
        lane += Resources(ff=power)
    inputs, powers = _queues(node)
    waiting = reserved_queue_resources(*powers, family, block=in_blocks(*powers))
    sums = reserved_queue_resources(_rows(node), total, family, kept=True)
    results = reserved_queue_resources(PLACES, node.get_outstream_width(), family)
    queues = queue_resources(*inputs, family) + waiting + sums + results
    return division + shared + trees + lane.times(simd) + queues
