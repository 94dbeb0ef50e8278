"""What cores of EmbeddedProducts need of a part: memories, multipliers, adders, registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from brainsmith.backends.rtl.binary_mvau_resources import input_memory, replay_control
from brainsmith.backends.rtl.multiplier import multiplier
from brainsmith.rtl.cores.tables import Table, make_table
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from qonnx.core.datatype import BaseDataType

FEW_WORDS, ROM_BITS_PER_LUT = 32, 64
"""Of tables of more words."""

PRODUCT_LUTS = {
    (2, 2): (5, 4, 4),
    (2, 3): (7, 5, 6),
    (2, 4): (8, 8, 8),
    (2, 5): (10, 10, 10),
    (2, 6): (12, 12, 12),
    (3, 3): (8, 6, 8),
    (3, 4): (14, 11, 16),
    (3, 5): (16, 18, 19),
    (4, 4): (21, 24, 26),
}
"""LUTs of products by the bits of their factors, with none, one or both of them signed; of more bits a DSP slice."""

SHIFT_REGISTER = 3
"""From so many registers in a row on, Yosys takes a LUT as a shift register."""


class ProductNeeds(NamedTuple):
    """A product: its bits, whether it has a sign, and what computes it."""

    bits: int
    signed: bool
    resources: Resources


def weight_table(node: Any) -> Table:
    """Return what holds the weights: as the node's `ram_style` says, or as fits their number.

    Args:
        node: QONNX's instance of it.
    """
    bits = node.get_nodeattr("SIMD") * node.get_nodeattr("PE") * node.get_input_datatype(1).bitwidth()
    style = node.get_nodeattr("ram_style")
    return make_table(int(bits), int(node.calc_wmem()), "auto" if style == "ultra" else style)


def vvau_resources(node: Any) -> Resources:
    """Return what a core of windows needs: of its inputs, each channel has its own.

    Args:
        node: QONNX's instance of it.
    """
    inputs = node.get_nodeattr("PE") * node.get_nodeattr("SIMD") * int(node.get_input_datatype(0).bitwidth())
    return Resources(ff=inputs) + _products(node)


def mvau_resources(node: Any) -> Resources:
    """Return what a core of vectors needs: it keeps two of them, and gives each to all rows.

    Args:
        node: QONNX's instance of it.
    """
    beats, folds = node.products // node.get_nodeattr("SIMD"), node.rows // node.get_nodeattr("PE")
    return input_memory(node) + replay_control(beats, folds) + _products(node)


def _products(node: Any) -> Resources:
    """Return what any core of products needs, beside its inputs."""
    simd, pe = int(node.get_nodeattr("SIMD")), int(node.get_nodeattr("PE"))
    given = int(node.get_output_datatype().bitwidth())
    beats = node.products // simd
    table = weight_table(node)
    product = _product(node, table)
    tree, products = sum_tree(simd, product), product.resources.times(simd)
    sums = Resources(lut=given if beats > 1 else 0, ff=given)
    return _weights(table) + (products + tree + sums).times(pe) + _control(table, simd, beats)


def _weights(table: Table) -> Resources:
    """Return the table, and the registers after it."""
    found = table.resources()
    if table.registered:
        return found + Resources(ff=2 * table.bits)
    if table.depth <= FEW_WORDS:
        return found
    return Resources(lut=table.bits * table.depth // ROM_BITS_PER_LUT, ff=table.bits)


def _product(node: Any, table: Table) -> ProductNeeds:
    """Return one product and its register."""
    found = product_of(node.get_input_datatype(0), node.get_input_datatype(1), table.depth == 1)
    return found._replace(resources=found.resources + Resources(ff=found.bits))


def product_of(first: BaseDataType, second: BaseDataType, constant: bool) -> ProductNeeds:
    """Return a product, without a register; of BIPOLAR factors, whether it is 1.

    Args:
        first: The datatype of a factor.
        second: That of the other.
        constant: Whether one is a constant number.
    """
    kinds = first, second
    one, other = (int(kind.bitwidth()) for kind in kinds)
    bipolar = [kind.name == "BIPOLAR" for kind in kinds]
    if all(bipolar):
        return ProductNeeds(1, False, Resources(lut=1))
    signed = any(kind.signed() or kind.name == "BIPOLAR" for kind in kinds)
    bits = one + other
    if constant:
        computed = multiplier(one, other) if multiplier(one, other).dsp else Resources(lut=one * other // 5)
    elif min(one, other) == 1:
        computed = Resources(lut=max(one, other))
    elif (pair := (min(one, other), max(one, other))) in PRODUCT_LUTS:
        computed = Resources(lut=PRODUCT_LUTS[pair][sum(kind.signed() for kind in kinds)])
    else:
        computed = multiplier(one, other)
    return ProductNeeds(bits, signed, computed)


def sum_tree(count: int, product: ProductNeeds) -> Resources:
    """Return the additions of products in pairs, and what delays the one that is left over where they are odd."""
    total, bits, waiting = Resources(), product.bits, 1
    held = product.bits  # bits of the last of the numbers, which waits while the others are added
    while count > 1:
        pairs = count // 2
        total += Resources(lut=pairs * (bits + int(product.signed)), ff=pairs * (bits + 1))
        if count % 2:
            waiting += 1
        else:
            total, waiting, held = total + _delay(waiting, held), 1, bits + 1
        count, bits = -(-count // 2), bits + 1
    return total


def _delay(length: int, bits: int) -> Resources:
    """Return what a number needs that waits: `length` registers in a row, of which the first is counted as a sum."""
    if length < SHIFT_REGISTER:
        return Resources(ff=(length - 1) * bits)
    return Resources(lut=bits, lutram=bits, ff=-bits)


def _control(table: Table, simd: int, beats: int) -> Resources:
    """Return the counters of words and beats, what is valid, and the handshake."""
    words, ahead = table.depth, table.registered
    lengths = [words, *([beats] if beats > 1 else [])]
    bits = sum((length - 1).bit_length() for length in lengths)
    stages = 3 + (simd - 1).bit_length() + 2 * int(ahead)
    in_step = 0 if ahead else (words - 1).bit_length()  # the next word's number has a register, too
    return Resources(lut=bits + bits // 4 + 5, ff=bits + in_step + stages + int(beats > 1) + 1)
