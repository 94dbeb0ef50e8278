"""What a core of BinaryMVAURTL needs of a part: memories, counters or adders, registers."""

from __future__ import annotations

from typing import Any

from brainsmith.rtl.cores.costs import mapped_luts
from brainsmith.rtl.cores.tables import in_block_rams
from brainsmith.rtl.resource_models.circuit_sizes import distinct_functions
from brainsmith.rtl.synthesis.cells import Resources

LARGEST_LUT_ROM = 128
"""Words; of more, a block RAM holds the weights unless the node says otherwise."""

ROM_LUTS, ROM_WORDS_PER_LUT = 0.3, 64
"""Of a column of a memory of constants: a LUT for each 64 words, and now and then one that chooses among them."""

GROUP, GROUP_BITS = 9, 4
"""Products that are counted at once, and the bits of their count."""


def in_block_ram(node: Any) -> bool:
    """Tell whether block RAM holds the weights: as the node's `ram_style` says, or if there are too many for LUTs."""
    wanted = node.get_nodeattr("ram_style")
    return bool(wanted == "block" or (wanted != "distributed" and node.calc_wmem() > LARGEST_LUT_ROM))


def mvau_resources(node: Any, family: str, counts: bool) -> Resources:
    """Return what a node's core needs.

    Args:
        node: QONNX's instance of it.
        family: Of the part.
        counts: Whether it counts products of signs; else it adds integers.
    """
    return input_memory(node, family) + _weights(node, family) + _rows(node, counts) + _control(node)


def _folding(node: Any) -> tuple[int, int, int, int]:
    """Return SIMD, PE, the beats of a vector, and how often each is given."""
    simd, pe = int(node.get_nodeattr("SIMD")), int(node.get_nodeattr("PE"))
    return simd, pe, int(node.get_nodeattr("MW")) // simd, int(node.get_nodeattr("MH")) // pe


def input_memory(node: Any, family: str) -> Resources:
    """Return the memory of two vectors in LUTs, and the register after it."""
    simd, _, beats, folds = _folding(node)
    bits, words = simd * int(node.get_input_datatype(0).bitwidth()), 2 * beats
    if folds == 1:
        return Resources(ff=bits)
    luts = int(mapped_luts(words, bits, family).lut)
    select = bits * (-(-words // 64) - 1) // 2
    return Resources(lut=luts + select, lutram=luts, ff=bits)


def _weights(node: Any, family: str) -> Resources:
    """Return the memory of the weights and its register; equal columns of a short memory are one."""
    simd, pe, beats, folds = _folding(node)
    bits, words = simd * pe, beats * folds
    if in_block_ram(node):
        return in_block_rams(words, bits, family)
    columns = round(float(distinct_functions(words, bits)))
    return Resources(lut=round(columns * (ROM_LUTS + -(-words // ROM_WORDS_PER_LUT))), ff=columns)


def _rows(node: Any, counts: bool) -> Resources:
    """Return products, trees of adders and accumulators of all rows, and of the sum of all inputs where it is needed."""
    simd, pe, beats, folds = _folding(node)
    kind, given = node.get_input_datatype(0), int(node.get_output_datatype().bitwidth())
    sets, constant = pe if counts else pe + 1, beats * folds == 1
    if kind.bitwidth() == 1:
        groups = [min(GROUP, simd - at) for at in range(0, simd, GROUP)]
        per_group = 5 if constant else 10  # of a look-up table's six inputs, three are weights
        terms = Resources(
            lut=sum(-(-per_group * size // GROUP) for size in groups) * sets,
            ff=sum(size.bit_length() for size in groups) * sets,
        )
        tree, bits = _tree(len(groups), min(GROUP_BITS, simd.bit_length()), sets)
    else:
        # An adder's own LUTs take the masks of one of its two numbers.
        terms = Resources(lut=0 if constant else pe * simd * int(kind.bitwidth()) // 2)
        tree, bits = _tree(simd, int(kind.bitwidth()), sets, constant)
    if not counts:
        bits += 1
        tree += Resources(lut=bits, ff=bits).times(pe)
    # What is added to an unsigned number has fewer bits, and above them a carry needs no LUT.
    added = min(bits, given) if counts else given
    each = Resources(ff=min(bits, given)) if beats == 1 else Resources(lut=added, ff=2 * given)
    return terms + tree + each.times(pe)


def _tree(count: int, bits: int, sets: int, constant: bool = False) -> tuple[Resources, int]:
    """Return the trees of adders of several sets of numbers, and the bits of a sum.

    Where weights are constant, a set has a number or has it not: of two numbers there are four sums, of four sixteen,
    and those that sets have in common are computed once. Of sets drawn at random, so many are different.
    """
    total, size = Resources(), 1
    while count > 1:
        size *= 2
        kinds = 2.0 ** min(size, 64) if constant else 0.0
        apart = kinds * (1 - (1 - 1 / kinds) ** sets) if constant else sets
        adders = apart * (1 - 2 ** (-size / 2)) ** 2 if constant else apart
        lut = count // 2 * bits * adders
        count, bits = -(-count // 2), bits + 1
        total += Resources(lut=round(lut), ff=round(count * bits * apart))
    return total, bits


def _control(node: Any) -> Resources:
    """Return the counters of words and beats, the handshakes, and what gives vectors again."""
    _, _, beats, folds = _folding(node)
    following = Resources(ff=(beats * folds - 1).bit_length())  # the word after this one
    return _counters([beats * folds, beats]) + following + Resources(ff=9) + replay_control(beats, folds)


def replay_control(beats: int, folds: int) -> Resources:
    """Return the counters of turns and places of a memory that gives each vector several times."""
    if folds == 1:
        return Resources()
    written = [] if _whole(beats) else [beats]
    return _counters([2 * beats, 2 * beats, 2 * beats, folds, *written])


def _counters(lengths: list[int]) -> Resources:
    """Return counters that begin again after so many steps."""
    bits = sum((length - 1).bit_length() * (1.0 if _whole(length) else 1.25) for length in lengths)
    flops = sum((length - 1).bit_length() for length in lengths)
    return Resources(lut=round(bits), ff=flops)


def _whole(length: int) -> bool:
    """Tell whether a counter of this length wraps by itself."""
    return length & (length - 1) == 0
