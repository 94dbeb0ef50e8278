"""What cores of EmbeddedProducts need of a part: memories, multipliers, adders, registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from brainsmith.backends.rtl.binary_mvau_resources import input_memory, replay_control
from brainsmith.backends.rtl.constant_products import ConstantProduct, constant_product, constant_sums
from brainsmith.backends.rtl.multiplier import bits_beside, multiplier
from brainsmith.rtl.cores.tables import Table, make_table
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from qonnx.core.datatype import BaseDataType

FEW_WORDS, ROM_BITS_PER_LUT = 32, 64
"""Of tables of more words."""

PRODUCT_LUTS = {
    (2, 2): ((5, 3, 3, 3), (5, 3, 3, 3)),
    (2, 3): ((7, 4, 4, 5), (7, 4, 5, 5)),
    (2, 4): ((8, 7, 6, 7), (8, 8, 7, 7)),
    (2, 5): ((10, 9, 8, 9), (10, 10, 9, 9)),
    (2, 6): ((12, 11, 10, 11), (12, 12, 11, 11)),
    (3, 2): ((7, 4, 5, 5), (7, 5, 6, 5)),
    (3, 3): ((8, 5, 5, 7), (8, 6, 6, 7)),
    (3, 4): ((14, 9, 10, 15), (14, 10, 13, 15)),
    (3, 5): ((16, 18, 16, 18), (16, 19, 19, 20)),
    (4, 2): ((8, 6, 7, 7), (8, 7, 8, 7)),
    (4, 3): ((14, 10, 14, 15), (14, 13, 15, 15)),
    (4, 4): ((21, 23, 23, 26), (23, 24, 24, 26)),
    (5, 2): ((10, 8, 9, 9), (10, 9, 10, 9)),
    (5, 3): ((16, 16, 18, 18), (16, 19, 19, 20)),
    (6, 2): ((12, 10, 11, 11), (12, 11, 12, 11)),
}
"""LUTs of products by the bits of their factors: with no factor signed, the second, the first, both; then the same for a
first factor that is read from a memory, where Yosys finds other circuits (benchmarks/products_in_luts.py). Of more bits it
takes a DSP slice."""

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


def vvau_resources(node: Any, family: str) -> Resources:
    """Return what a core of windows needs: of its inputs, each channel has its own.

    Args:
        node: QONNX's instance of it.
        family: Of the part.
    """
    inputs = int(node.get_nodeattr("PE") * node.get_nodeattr("SIMD") * node.get_input_datatype(0).bitwidth())
    product = _product(node, family, stored=False)
    return Resources(ff=0 if product.resources.dsp else inputs) + _products(
        node, product, family, shared=False
    )


def mvau_resources(node: Any, family: str) -> Resources:
    """Return what a core of vectors needs: it keeps two of them, and gives each to all rows.

    Args:
        node: QONNX's instance of it.
        family: Of the part.
    """
    simd = int(node.get_nodeattr("SIMD"))
    beats, folds = node.products // simd, node.rows // node.get_nodeattr("PE")
    product = _product(node, family, stored=folds > 1)
    # The register of values that are used once is in the DSP slices.
    inside = simd * int(node.get_input_datatype(0).bitwidth()) if product.resources.dsp and folds == 1 else 0
    inputs = input_memory(node, family) + replay_control(beats, folds) + Resources(ff=-inside)
    return inputs + _products(node, product, family, shared=True)


def _product(node: Any, family: str, *, stored: bool) -> ProductNeeds:
    """Return one of a node's products, its values read from a memory or not."""
    kinds = node.get_input_datatype(0), node.get_input_datatype(1)
    return product_of(*kinds, family, stored=stored)


def _products(node: Any, product: ProductNeeds, family: str, *, shared: bool) -> Resources:
    """Return what any core of products needs, beside its inputs.

    Args:
        node: QONNX's instance of it.
        product: One of them.
        family: Of the part.
        shared: Whether all lanes multiply the same values.
    """
    simd, pe = int(node.get_nodeattr("SIMD")), int(node.get_nodeattr("PE"))
    given = int(node.get_output_datatype().bitwidth())
    beats = node.products // simd
    table = weight_table(node)
    sums = Resources(lut=given if beats > 1 else 0, ff=given)
    if product.resources.dsp:
        own = product.resources + Resources(ff=bits_beside(product.resources.dsp))
        sums = Resources() if in_slice(product) and simd == 1 else sums
        products = (own.times(simd) + sum_tree(simd, product)).times(pe)
    elif table.depth == 1 and (one := _constant(node, product)):
        products = constant_sums(one, simd, pe) if shared else constant_sums(one, simd, 1).times(pe)
    else:
        luts = round(product.resources.lut * share_of_few(table.depth))
        own = Resources(lut=luts, ff=product.bits)
        products = (own.times(simd) + sum_tree(simd, product)).times(pe)
    weights = _weights(table, family, in_slices=bool(product.resources.dsp))
    return weights + products + sums.times(pe) + _control(table, simd, beats)


def _constant(node: Any, product: ProductNeeds) -> ConstantProduct | None:
    """Return a product with a constant; None where a factor has one bit."""
    value, weight = node.get_input_datatype(0), node.get_input_datatype(1)
    if 1 in {int(value.bitwidth()), int(weight.bitwidth())}:
        return None
    return constant_product(int(value.bitwidth()), product.bits, int(weight.min()), int(weight.max()))


def _weights(table: Table, family: str, *, in_slices: bool) -> Resources:
    """Return the table, and the registers after it; the last one is in the DSP slices, if there are some."""
    found = table.resources(family)
    if table.registered:
        return found + Resources(ff=table.bits if in_slices else 2 * table.bits)
    if table.depth <= FEW_WORDS:
        return found
    return Resources(lut=table.bits * table.depth // ROM_BITS_PER_LUT, ff=table.bits)


def share_of_few(words: int) -> float:
    """Return what part of a product's LUTs is left if its one factor is one of a few words: some bits are the same in all.

    Measured with 2 to 12 words of random bits, and products of 3 to 26 LUTs (benchmarks/products_in_luts.py).
    """
    return 1 - 1.73 * 0.65**words if words > 1 else 1.0


def product_of(
    first: BaseDataType, second: BaseDataType, family: str, *, stored: bool = False
) -> ProductNeeds:
    """Return a product, without a register; of BIPOLAR factors, whether it is 1.

    Args:
        first: The datatype of a factor.
        second: That of the other.
        family: Of the part.
        stored: Whether the first is read from a memory.
    """
    kinds = first, second
    one, other = (int(kind.bitwidth()) for kind in kinds)
    signed = first.signed(), second.signed()
    if all(kind.name == "BIPOLAR" for kind in kinds):
        return ProductNeeds(1, False, Resources(lut=1))
    computed = multiplier(one, other, family, signed=signed)
    if min(one, other) == 1:
        computed = Resources(lut=max(one, other))
    elif (one, other) in PRODUCT_LUTS:
        computed = Resources(lut=PRODUCT_LUTS[one, other][int(stored)][2 * signed[0] + signed[1]])
    return ProductNeeds(one + other, any(signed), computed)


def in_slice(product: ProductNeeds) -> bool:
    """Tell whether a product is that of one DSP slice: its register and the next addition, with its own, are in it, too."""
    return product.resources.dsp == 1


def sum_tree(count: int, product: ProductNeeds) -> Resources:
    """Return the additions of products in pairs, and what delays the one that is left over where they are odd.

    The first additions of products of DSP slices are in these slices, with their registers.
    """
    total, bits = Resources(), product.bits
    inside = in_slice(product)
    held, waiting, counted = product.bits, 1, 1  # the last of the numbers waits while the others are added
    while count > 1:
        pairs = count // 2
        if not inside:
            total += Resources(lut=pairs * (bits + int(product.signed)), ff=pairs * (bits + 1))
        if count % 2 and not inside:
            waiting += 1
        else:
            total, held = total + _delay(waiting, held, counted), bits + 1
            waiting, counted = (0, 0) if inside else (1, 1)
        count, bits, inside = -(-count // 2), bits + 1, False
    return total


def _delay(length: int, bits: int, counted: int) -> Resources:
    """Return what a number needs that waits in `length` registers in a row, of which `counted` are counted as a sum."""
    if length < SHIFT_REGISTER:
        return Resources(ff=(length - counted) * bits)
    return Resources(lut=bits, lutram=bits, ff=-counted * bits)


def _control(table: Table, simd: int, beats: int) -> Resources:
    """Return the counters of words and beats, what is valid, and the handshake."""
    words, ahead = table.depth, table.registered
    lengths = [words, *([beats] if beats > 1 else [])]
    bits = sum((length - 1).bit_length() for length in lengths)
    stages = 3 + (simd - 1).bit_length() + 2 * int(ahead)
    in_step = 0 if ahead else (words - 1).bit_length()  # the next word's number has a register, too
    return Resources(lut=bits + bits // 4 + 5, ff=bits + in_step + stages + int(beats > 1) + 1)
