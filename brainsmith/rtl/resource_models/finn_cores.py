"""What FINN's RTL layers are made of: memories and DSP slices to the last one, and the sizes of what coefficients weigh.

The source is FINN's library of RTL (finn-plus 1.6): `mvu_vvu_axi.sv`, `mvu.sv`, `replay_buffer.sv`, `memstream.sv`,
`thresholding.sv`, the templates of `swg`, `fmpadding.sv`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from brainsmith.rtl.resource_models.circuit_sizes import (
    adder_bits,
    ceiling,
    counter_bits,
    distinct_functions,
    table_luts,
    waiting_terms,
)
from brainsmith.rtl.resource_models.memories import AUTO, ONE_PORT, ROM, TWO_PORTS, MemoryCells, mapped_memory
from brainsmith.rtl.synthesis.compute_core import dsp_slices, lanes_of

Parameters = Mapping[str, Any]
"""What describes a layer, by names: numbers, or arrays of them for many foldings."""

Weighed = Mapping[str, Any]
"""Sizes by what they are of; a coefficient for each says what one costs."""


@dataclass(frozen=True)
class Makings:
    """What a layer is made of.

    Attributes:
        memory: All its memories together.
        dsp: DSP slices.
        lut: Sizes that cost LUTs.
        ff: Sizes that cost flip-flops.
    """

    memory: MemoryCells
    dsp: Any
    lut: Weighed
    ff: Weighed


_SHORTEST = 3
"""Stages of the shortest chain of registers that Yosys makes a shift register of."""


_NO_MEMORY = MemoryCells(*(np.zeros((), np.int64) for _ in MemoryCells._fields))


def _together(*memories: MemoryCells) -> MemoryCells:
    return MemoryCells(*(np.asarray(sum(values)) for values in zip(*memories, strict=True)))


def _shift_registers(bits: Any) -> MemoryCells:
    """Return queues of up to 16 words as shift registers, one LUT for each bit."""
    none = 0 * bits
    return MemoryCells(bits, none, none, none)


def _times(memory: MemoryCells, count: Any) -> MemoryCells:
    return MemoryCells(*(count * value for value in memory))


def matrix_vector_unit(p: Parameters, family: str) -> Makings:
    """Return what an MVAU of FINN is made of, with the memory of its weights.

    Args:
        p: `MW`, `MH`, `SIMD`, `PE`, `weight_bits`, `input_bits`, `sum_bits`, `narrow` (whether the least weight does not
            occur), `ram_style`.
        family: Of the part.
    """
    simd, pe = np.asarray(p["SIMD"]), np.asarray(p["PE"])
    terms, rows = p["MW"] // simd, p["MH"] // pe
    weight, taken, given = p["weight_bits"], p["input_bits"], p["sum_bits"]
    stream = pe * simd * weight
    padded = ceiling(stream, 8) * 8
    weights = mapped_memory(terms * rows, padded, ONE_PORT, p["ram_style"], family, stream)
    once = rows == 1
    replayed = mapped_memory(1 << np.maximum(counter_bits(terms), 1), simd * taken, TWO_PORTS, AUTO, family)
    replay = _times(replayed, np.where(once, 0, 1))
    lanes = lanes_of(family, weight, taken, given, p["narrow"])
    joints = pe - ceiling(pe, len(lanes))
    sums = _sums(lanes, pe, simd, given)
    sizes = {
        "layer": np.ones_like(pe),
        "weight stream": stream,
        "output": pe * given,
        "products across lanes": joints * simd,
        "counters": counter_bits(terms) + counter_bits(rows) + counter_bits(terms * rows),
    } | {name: sums[name] for name in ("adders", "adders of overflows", "overflows")}
    return Makings(
        _together(weights, replay, _shift_registers(stream), _shift_registers(pe * given)),
        dsp_slices(family, pe, simd, weight, taken, p["narrow"]),
        sizes | {"parts of weights": (weights.parts - 1) * stream, "overflow signs": sums["overflow signs"]},
        sizes
        | {
            "weights in LUTs": stream * (weights.bram18 == 0),
            "input": np.where(once, 0, simd * taken),
            "waiting terms": sums["waiting terms"],
            "overflow signs": sums["overflow signs"],
        },
    )


def _sums(lanes: list[int], pe: Any, simd: Any, given: int) -> dict[str, Any]:
    """Return the sizes of what adds up the products of a matrix-vector unit, after its DSP slices.

    The rows at once fill the upper lanes of their slices. Each lane has a tree of adders, and one of what overflows.

    Args:
        lanes: Bits of each.
        pe: Rows at once.
        simd: Columns at once.
        given: Bits of a sum.
    """
    whole, rest, pipes = pe // len(lanes), pe % len(lanes), ceiling(pe, len(lanes))
    none = np.zeros_like(pe * simd)
    found = dict.fromkeys(
        ("adders", "waiting terms", "adders of overflows", "overflows", "overflow signs"), none
    )
    for at, bits in enumerate(lanes):
        units, top = whole + (at >= len(lanes) - rest), at + 1 == len(lanes)
        found["adders"] = found["adders"] + units * adder_bits(simd, bits)
        waiting = np.where(simd == 1, 1, waiting_terms(simd))
        found["waiting terms"] = found["waiting terms"] + units * waiting * bits
        if given > bits or not top:
            found["adders of overflows"] = found["adders of overflows"] + units * adder_bits(simd, 1)
            width = 1 + np.maximum(given - bits, counter_bits(simd))
            found["overflows"] = found["overflows"] + units * width
        if given > bits and top:
            found["overflow signs"] = pipes * simd
    return found


def thresholding(p: Parameters, family: str) -> Makings:
    """Return what FINN's thresholds are made of: a binary search, a stage for each bit of the result.

    Args:
        p: `NumChannels`, `PE`, `numSteps`, `input_bits`, `deep_pipeline` (whether each stage has two registers).
        family: Of the part.
    """
    pe, bits, stages = np.asarray(p["PE"]), p["input_bits"], int(p["numSteps"]).bit_length()
    folds, deep = p["NumChannels"] // pe, p["deep_pipeline"]
    memory = _NO_MEMORY
    luts = registers = parts = np.zeros(pe.shape)
    for stage in range(stages):
        words = folds << stage
        one = mapped_memory(words, bits, ROM, AUTO, family)
        memory = _together(memory, _times(one._replace(lut=0 * one.lut), pe))
        # In the first stage all lanes have one address, in the others each has its own.
        alike = distinct_functions(words, pe * bits) if stage == 0 else pe * distinct_functions(words, bits)
        tables = np.where(one.bram18 == 0, alike, 0)
        luts, registers = luts + tables * table_luts(words), registers + tables
        parts = parts + pe * (one.parts - 1) * bits
    return Makings(
        memory,
        np.zeros_like(pe),
        {
            "layer": np.ones_like(pe),
            "lanes": pe,
            "tables": luts,
            "parts of tables": parts,
            "compared bits": pe * stages * bits,
            "counter": counter_bits(folds),
        },
        {
            "stages": np.full_like(pe, stages),
            "tables": registers,
            "values": pe * (stages * (1 + deep) - deep) * bits,
            "results on their way": pe * (stages * (stages - 1) // 2) * (1 + deep),
            "results": pe * stages,
            "counter": counter_bits(folds) * stages,
        },
    )


def sliding_window(p: Parameters, family: str) -> Makings:
    """Return what FINN's sliding window is made of: a buffer with one position a beat, or all positions in one beat.

    Args:
        p: `ConvKernelDim`, `IFMDim`, `OFMDim`, `Stride`, `Dilation`, `IFMChannels`, `SIMD`, `depthwise`, `parallel_window`,
            `input_bits`, `ram_style`.
        family: Of the part.
    """
    (tall, broad), (high, wide), (rows, columns) = p["ConvKernelDim"], p["IFMDim"], p["OFMDim"]
    (down, across), (by_row, by_column) = p["Stride"], p["Dilation"]
    simd = np.asarray(p["SIMD"])
    folds, beat = p["IFMChannels"] // simd, simd * p["input_bits"]
    one, last = np.ones_like(simd), counter_bits(high * wide * folds) + 1
    if p["parallel_window"] or tall * broad == 1:
        words = (wide - ((broad - 1) * by_column + 1) + wide * (by_row - 1)) * folds
        lines = tall - 1 if high > 1 and wide > 1 else 0
        line = mapped_memory(np.maximum(words, 1), beat, TWO_PORTS, p["ram_style"], family)
        lines = np.where(words > 0, lines, 0)
        counters = counter_bits(rows) + counter_bits(columns) + counter_bits(folds)
        gap = by_column * folds
        registers = np.where(gap < _SHORTEST, gap, 0)
        shifted = tall * (broad - 1) * beat * np.where(gap < _SHORTEST, 0, ceiling(gap, 32))
        addresses = lines * counter_bits(words + 1)
        sizes = {"all at once": one, "counters, all at once": counters, "elements, all at once": last,
                 "addresses of lines": addresses}  # fmt: skip
        return Makings(
            _together(_times(line, lines), _shift_registers(shifted)),
            0 * one,
            sizes | {"lines": lines * one, "parts of lines": lines * (line.parts - 1) * beat},
            sizes
            | {
                "held values": tall * (1 + (broad - 1) * registers) * beat,
                "lines": lines * beat,
                "gaps": np.where(gap < _SHORTEST, 0, tall * (broad - 1) * beat),
            },
        )
    words = ((tall - 1) * by_row * wide + (broad - 1) * by_column + 1) * folds
    words = (
        words + max(0, across - 1 - tall * broad) * folds + max(0, (down - 1) * wide - tall * broad) * folds
    )
    memory = mapped_memory(words, beat, TWO_PORTS, p["ram_style"], family)
    fold = 1 if p["depthwise"] else folds
    counters = sum(counter_bits(np.maximum(loop - 1, 1)) + 1 for loop in (rows, columns, tall, broad, folds))
    sizes = {
        "one at a time": one,
        "counters": counters,
        "elements": last,
        "addresses": counter_bits(words) + 1,
        "position": counter_bits(tall * broad * fold),
    }
    return Makings(
        memory,
        0 * one,
        sizes
        | {
            "channel by channel": one * (bool(p["depthwise"]) & (folds > 1)),
            "parts": (memory.parts - 1) * beat,
        },
        sizes | {"output": beat * (memory.bram18 == 0)},
    )


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
    registers = MemoryCells(beat, 2 * beat, 0 * beat, 0 * beat)
    return Makings(registers, 0 * simd, sizes, sizes)


CORES: dict[str, Callable[[Parameters, str], Makings]] = {
    "MVAU_rtl": matrix_vector_unit,
    "Thresholding_rtl": thresholding,
    "ConvolutionInputGenerator_rtl": sliding_window,
    "FMPadding_rtl": padding,
}
"""By the type of the node."""
