"""LayerNormRTL: the LayerNorm kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.backends.rtl.embedded_resources import ProductNeeds, sum_tree
from brainsmith.backends.rtl.multiplier import DSP_PRODUCT, bits_beside, multiplier
from brainsmith.backends.rtl.page_memory import in_blocks
from brainsmith.backends.rtl.row_backend import RowBackend
from brainsmith.backends.rtl.row_queue import (
    places_for,
    queue_depth,
    queue_resources,
    reserved_queue_resources,
)
from brainsmith.kernels.layer_norm import LayerNormKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping


PLACES = 9
"""Beats of results that are under way or wait for the output: as many as are begun until the first one's place is free."""


@backend(
    kernel="LayerNorm",
    backend_type="rtl",
    description="Rows of integers normalised, one root bit per cycle",
)
class LayerNormRTL(RowBackend, LayerNormKernel):
    """`SIMD` elements a beat; a row takes its beats or its root's bits and 4 cycles, whichever is more."""

    core = "layer_norm_core"
    rows_ahead = 1
    parts = (
        "binary_mvau_sum.sv", "page_memory.sv", "reserved_queue.sv", "row_queue.sv", "layer_norm_root.sv",
    )  # fmt: skip

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the sizes of a row, the widths of the integers, and the queue."""
        depth, bits = _queue(self)
        return {
            **super().core_parameters(),
            "DEPTH": depth,
            "BLOCK": int(in_blocks(depth, bits)),
            "ROWS": _rows(self),
            "PLACES": PLACES,
        }

    def serial_delay(self) -> int:
        """Return the cycles of the root, and the stages after it."""
        return int(self.arithmetic().root_bits + 12)

    def row_delay(self) -> int:
        """Return the cycles of the sums, the root, and the stages after it."""
        return int((self.get_nodeattr("SIMD") - 1).bit_length() + self.serial_delay() + 4)

    def core_resources(self, family: str) -> Resources:
        """Return the adders of the root, per lane those of sums, centring and rounding, and the queue."""
        return layer_norm_resources(self, family)


def _queue(node: LayerNormKernel) -> tuple[int, int]:
    """Return the depth and the width of the queue in which rows wait for their roots."""
    arithmetic = node.arithmetic()
    simd = node.get_nodeattr("SIMD")
    summed = 1 + (simd - 1).bit_length()  # cycles from a beat's first register to its sums
    depth = queue_depth(arithmetic.size // simd, arithmetic.serial_cycles) + summed
    return depth, node.get_instream_width()


def _rows(node: LayerNormKernel) -> int:
    """Return for how many rows' sums there are places: of those that are under way or wait for their root."""
    arithmetic, simd = node.arithmetic(), node.get_nodeattr("SIMD")
    beats = arithmetic.size // simd
    until_free = beats + (simd - 1).bit_length() + 4  # cycles from when a row is begun
    return places_for(int(until_free), max(beats, arithmetic.serial_cycles))


def layer_norm_resources(node: LayerNormKernel, family: str) -> Resources:
    """Return what a layer of integers needs."""
    arithmetic, simd, bits = (
        node.arithmetic(),
        node.get_nodeattr("SIMD"),
        node.get_input_datatype().bitwidth(),
    )
    width = arithmetic.widths()
    total, squares, deviation = width["sum_bits"], width["square_bits"], width["deviation_bits"]
    root, remainder, centred = width["root_bits"], width["remainder_bits"], width["centred_bits"]
    adders = arithmetic.size.bit_count() - 1  # of a product with the size
    count = 2 * (arithmetic.size // simd - 1).bit_length()
    rounds = (simd - 1).bit_length()
    serial = Resources(
        lut=6 * remainder + (3 + adders) * deviation - 8,
        ff=squares + 3 * deviation + 3 * remainder + root - 10,
    ) + multiplier(total, total, family, signed=(True, True))
    # The lowest bits of a value times the size are 0, so those of what is centred are the same in all lanes.
    same = (arithmetic.size & -arithmetic.size).bit_length() - 1
    shared = Resources(
        lut=14 + count + total + squares + same, ff=2 * total + squares + 2 * root + count + 12 + 3 * rounds
    )
    trees = sum_tree(simd, ProductNeeds(bits + 1, True, Resources())) + sum_tree(
        simd, ProductNeeds(2 * bits, False, Resources())
    )
    # Bits above these are copies of the sign.
    product = centred + root + 1
    whole = product - width["drop"]
    given = min(arithmetic.output_bits, whole)
    # A multiplier has the registers of its product, and one of each factor that is shared with no other.
    lane = Resources(lut=centred + given + 2 - same, ff=2 * centred - 2 - width["drop"] + whole + given)
    square = Resources(lut=bits, ff=2 * bits) if 2 * bits < DSP_PRODUCT else Resources(ff=-5, dsp=1)
    normalised = multiplier(centred, root + 1, family, signed=(True, True))
    lane = (
        lane
        + square
        + normalised
        + Resources(ff=bits_beside(normalised.dsp) + (10 if normalised.dsp > 1 else 0))
    )
    sums = reserved_queue_resources(_rows(node), total + squares, family, kept=True)
    results = reserved_queue_resources(PLACES, node.get_outstream_width(), family)
    queues = queue_resources(*_queue(node), family) + sums + results
    return serial + shared + trees + lane.times(simd) + queues
