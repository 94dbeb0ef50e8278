"""What FINN's layers are made of that only move values: FIFOs, width converters, paddings.

The source is FINN's library of RTL (finn-plus 1.6): `fifo.sv`, `vpc.sv`, the template of `fmpadding.sv`.
"""

from __future__ import annotations

from functools import cache
from math import gcd
from typing import Any

import numpy as np

from brainsmith.rtl.resource_models.circuit_sizes import ceiling, counter_bits
from brainsmith.rtl.resource_models.makings import Makings, Parameters, together
from brainsmith.rtl.resource_models.memories import (
    AUTO,
    BLOCK,
    DISTRIBUTED,
    NO_MEMORY,
    TWO_PORTS,
    ULTRA,
    MemoryCells,
    mapped_memory,
)

_LEAST = 4
"""Stages of the shortest shift register of a FIFO."""

_SHIFTED, _NARROW_SHIFTED, _NARROW = 33, 64, 12
"""Up to this depth a FIFO is a shift register, and up to this one if its beats have fewer bits than the third."""

_DISTRIBUTED, _BLOCK, _NARROWEST = 257, 2028, 5
"""Up to this depth it is LUTs, and so it is for fewer bits than the third; up to the second block RAM, else UltraRAM."""

_QUEUE = 16
"""Beats behind UltraRAM."""


def fifo(p: Parameters, family: str) -> Makings:
    """Return what FINN's FIFO is made of: a shift register, LUTs, block RAM or UltraRAM, by its depth and width.

    Args:
        p: `depth` in beats, 2 or more, and `bits` of a beat; both may be arrays.
        family: Of the part.
    """
    depth, bits = np.broadcast_arrays(np.asarray(p["depth"]), ceiling(np.asarray(p["bits"]), 8) * 8)
    shifted = (depth <= _SHIFTED) | ((depth <= _NARROW_SHIFTED) & (bits < _NARROW))
    spread = ~shifted & ((depth <= _DISTRIBUTED) | (bits < _NARROWEST))
    blocks = ~shifted & ~spread & (depth <= _BLOCK)
    parts = [
        _chosen(_shift_fifo(depth, bits), shifted),
        _chosen(_spread_fifo(depth, bits, family), spread),
        _chosen(_memory_fifo(depth, bits, BLOCK, family), blocks),
        _chosen(_memory_fifo(depth, bits, ULTRA, family), ~shifted & ~spread & ~blocks),
    ]
    names = {name for part in parts for name in part.lut}
    return Makings(
        together(*(part.memory for part in parts)),
        np.zeros_like(depth),
        {name: sum(part.lut.get(name, 0) for part in parts) for name in sorted(names)},
        {"registers": sum(part.ff["registers"] for part in parts)},
    )


def _chosen(makings: Makings, where: Any) -> Makings:
    """Return what some FIFOs are made of, and nothing for the others."""
    return Makings(
        MemoryCells(*(np.where(where, each, 0) for each in makings.memory)),
        makings.dsp,
        {name: np.where(where, size, 0) for name, size in makings.lut.items()},
        {name: np.where(where, size, 0) for name, size in makings.ff.items()},
    )


def _shift_fifo(depth: Any, bits: Any) -> Makings:
    stages = np.maximum(depth - 1, _LEAST)
    pointer = counter_bits(stages) + 1
    return Makings(
        NO_MEMORY._replace(lut=bits * ceiling(stages, 32)),
        0,
        {"shift register": np.ones_like(bits), "pointer": pointer},
        {"registers": bits + pointer + 2},
    )


def _spread_fifo(depth: Any, bits: Any, family: str) -> Makings:
    address = counter_bits(np.maximum(depth - 1, 1))
    memory = mapped_memory(1 << address, bits, TWO_PORTS, DISTRIBUTED, family)
    return Makings(
        memory,
        0,
        {
            "in LUTs": np.ones_like(bits),
            "chosen of parts": bits * (memory.parts > 1),
            "parts": np.where(memory.parts > 1, memory.parts, 0),
            "address": address,
        },
        {"registers": bits + 2 * address + 2 * (address + 1) + 1},
    )


def _memory_fifo(depth: Any, bits: Any, style: str, family: str) -> Makings:
    """Return a FIFO in block RAM or UltraRAM, with a second, smaller memory wherever that is enough."""
    ultra = style == ULTRA
    least = 12 if ultra else 9
    asked = np.maximum(depth - (_QUEUE if ultra else 0) - 1, 2)
    low = counter_bits(asked)
    rest = counter_bits(np.maximum(asked - (1 << low) // 2, 1))
    split = (low > least) & (rest < low - 1)
    low, high = low - split, np.maximum(rest, 1)
    first = mapped_memory(1 << low, bits, TWO_PORTS, style, family)
    second = mapped_memory(1 << high, bits, TWO_PORTS, AUTO, family)
    large = mapped_memory(1 << high, bits, TWO_PORTS, style, family)
    second = MemoryCells(
        *(np.where(high >= least, one, other) for one, other in zip(large, second, strict=True))
    )
    second = MemoryCells(*(np.where(split, each, 0) for each in second))
    pipe = 3 + ((1 << low) - 1) // 8192 if ultra else 2
    in_luts = split & (second.bram18 + second.uram == 0)
    credit = counter_bits((1 << low) + split * (1 << high)) + 1
    # Of three stages or more, what only passes is a shift register.
    passing = np.where(in_luts & (pipe > 2), bits + 1, split * (pipe > 2))
    behind = np.where(split, np.where(in_luts, np.where(pipe > 2, 0, pipe), pipe - 1), 0)
    control = 2 * (low + split) + 2 * credit + pipe + np.where(split & (pipe == 2), 2, 0)
    found = Makings(
        together(first, second, NO_MEMORY._replace(lut=passing)),
        0,
        {
            f"in {style}": np.ones_like(bits),
            "address": low,
            "second memory": split * 1,
            "chosen of memories": bits * split,
            "chosen of parts": bits * (first.parts > 1) * (first.bram18 > 0),
        },
        {"registers": bits * (pipe - 1 + behind) + control},
    )
    if not ultra:
        return found
    queue = _shift_fifo(np.full_like(bits, _QUEUE + 1), bits)
    return Makings(
        together(found.memory, queue.memory),
        0,
        dict(found.lut),
        {"registers": found.ff["registers"] + queue.ff["registers"] + counter_bits(_QUEUE + 1) + 1},
    )


def width_converter(p: Parameters, family: str) -> Makings:
    """Return what FINN's width converter is made of: a buffer of both beats, into which the input is rotated.

    Between single bits and wider beats it is a shift register instead.

    Args:
        p: `taken` and `given`, bits of a beat on either side; other than one another.
        family: Of the part.
    """
    taken, given = p["taken"], p["given"]
    if 1 in {taken, given}:
        bits = max(taken, given)
        side = "bits to a beat" if taken == 1 else "bits of a beat"
        return Makings(
            NO_MEMORY, 0, {"shifted": 1, side: bits}, {"registers": bits + int(counter_bits(bits)) + 3}
        )
    unit = gcd(taken, given)
    ins, outs = taken // unit, given // unit
    places = ins + outs
    turned = ins > 1 and outs % ins > 0
    count = int(counter_bits(ins)) + 1 if turned else 0
    return Makings(
        NO_MEMORY,
        0,
        {
            "layer": 1,
            "rotated": unit * rotation(ins, outs, pruned=True) if turned else 0,
            "rotated in full": unit * rotation(ins, outs, pruned=False) if turned else 0,
            "deposited": 0 if turned else taken,
            "places": places,
        },
        {"registers": unit * places + places + int(counter_bits(max(ins, outs) + 1)) + 1 + count},
    )


@cache
def rotation(ins: int, outs: int, pruned: bool) -> int:
    """Return how many multiplexers of two rotate the input of a width converter, if those that are alike are built once.

    Each of its places has a table, one entry for each signed count, of the parts of the input; half of the counts or more
    do not occur. Yosys comes near that, but for 7, 13 or 25 parts to one: these take nearly twice as many, because what ABC
    rewrites (`&dc2`) and then chooses from (`&dch`) shares less; without one of the two it would be as told.

    Args:
        ins: Parts of an input.
        outs: Parts of an output.
        pruned: Whether a multiplexer goes whose one input does not occur, and the count's lowest bit chooses first.
            Otherwise its highest does.
    """
    lowest, before = -1 << int(counter_bits(ins)), (ins - outs % ins) % ins
    count = np.arange(lowest, -lowest)
    occurs = (count >= -before) & (count < ins - before)
    entries = np.where(occurs, (np.arange(ins)[:, None] + count + before) % ins, -1)
    found, named = 0, ins
    while entries.shape[1] > 1:
        half = entries.shape[1] // 2
        first, second = (
            (entries[:, ::2], entries[:, 1::2]) if pruned else (entries[:, :half], entries[:, half:])
        )
        built = first != second
        if pruned:
            built &= (first >= 0) & (second >= 0)
        pairs, names = np.unique(first[built] * (named + 1) + second[built], return_inverse=True)
        entries = np.maximum(first, second)
        entries[built] = named + names
        found, named = found + len(pairs), named + len(pairs)
    return found


def wires(p: Parameters, family: str) -> Makings:
    """Return what is made of wires alone: nothing."""
    return Makings(NO_MEMORY, 0, {}, {})


def padding(p: Parameters, family: str) -> Makings:
    """Return what FINN's padding is made of: three counters, and two registers of a beat.

    Args:
        p: `ImgDim`, `Padding`, `NumChannels`, `SIMD`, `input_bits`.
        family: Of the part.
    """
    (high, wide), edges, simd = p["ImgDim"], p["Padding"], np.asarray(p["SIMD"])
    counters = counter_bits(high + edges[0] + edges[2]) + counter_bits(wide + edges[1] + edges[3])
    beat = simd * p["input_bits"]
    sizes = {
        "layer": np.ones_like(simd),
        "image's counters": counters * np.ones_like(simd),
        "channels' counter": counter_bits(p["NumChannels"] // simd),
    }
    registers = NO_MEMORY._replace(lut=beat, ff=2 * beat)
    return Makings(registers, 0 * simd, sizes, sizes)
