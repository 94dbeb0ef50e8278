"""What FINN's RTL layers are made of: memories and DSP slices to the last one, and the sizes of what coefficients weigh.

The source is FINN's library of RTL (finn-plus 1.6): `mvu_vvu_axi.sv`, `mvu.sv`, `replay_buffer.sv`, `memstream.sv`,
`thresholding.sv`, the templates of `swg`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from brainsmith.rtl.resource_models.circuit_sizes import (
    adder_bits,
    ceiling,
    counter_bits,
    waiting_terms,
)
from brainsmith.rtl.resource_models.finn_streams import fifo, padding, width_converter, wires
from brainsmith.rtl.resource_models.makings import (
    Makings,
    Parameters,
    delay,
    shift_registers,
    times,
    together,
)
from brainsmith.rtl.resource_models.memories import (
    AUTO,
    NO_MEMORY,
    ONE_PORT,
    TWO_PORTS,
    MemoryCells,
    mapped_memory,
)
from brainsmith.rtl.resource_models.threshold_tables import known_tables, random_tables
from brainsmith.rtl.synthesis.compute_core import adds_in_slices, dsp_slices, lanes_of, slices_of_row


def matrix_vector_unit(p: Parameters, family: str) -> Makings:
    """Return what an MVAU of FINN is made of, with the memory of its weights.

    Args:
        p: `MW`, `MH`, `SIMD`, `PE`, `weight_bits`, `input_bits`, `sum_bits`, `narrow` (whether the least weight does not
            occur), `ram_style`.
        family: Of the part.
    """
    simd, pe = np.asarray(p["SIMD"]), np.asarray(p["PE"])
    terms, rows = p["MW"] // simd, p["MH"] // pe
    taken = simd * p["input_bits"]
    replayed = mapped_memory(1 << np.maximum(counter_bits(terms), 1), taken, TWO_PORTS, AUTO, family)
    replay = times(replayed, np.where(rows == 1, 0, 1))
    kinds = p["weight_bits"], p["input_bits"], p["narrow"]
    sums: dict[str, Any] = {}
    if not adds_in_slices(family, *kinds):
        lanes = lanes_of(family, p["weight_bits"], p["input_bits"], p["sum_bits"], p["narrow"])
        joints = pe - ceiling(pe, len(lanes))
        sums = _sums(lanes, pe, simd, p["sum_bits"]) | {"products across lanes": joints * simd}
    return _products(
        p,
        family,
        terms,
        rows,
        replay,
        np.where(rows == 1, 0, taken),
        dsp_slices(family, pe, simd, *kinds),
        sums,
    )


def vector_vector_unit(p: Parameters, family: str) -> Makings:
    """Return what a VVAU of FINN is made of, with the memory of its weights: each channel has its own inputs.

    Args:
        p: `Channels`, `Kernel`, and as an MVAU has them `SIMD`, `PE`, `weight_bits`, `input_bits`, `sum_bits`, `ram_style`.
        family: Of the part, which has DSP58 slices.
    """
    simd, pe = np.asarray(p["SIMD"]), np.asarray(p["PE"])
    terms, rows = p["Kernel"][0] * p["Kernel"][1] // simd, p["Channels"] // pe
    slices = pe * slices_of_row(simd)
    return _products(p, family, terms, rows, NO_MEMORY, pe * simd * p["input_bits"], slices, {})


def _products(
    p: Parameters,
    family: str,
    terms: Any,
    rows: Any,
    replay: MemoryCells,
    held: Any,
    slices: Any,
    sums: dict[str, Any],
) -> Makings:
    """Return what any unit of products is made of.

    Args:
        p: Its parameters.
        family: Of the part.
        terms: Beats of a sum.
        rows: Sums, one after the other.
        replay: The memory of its inputs.
        held: Bits of inputs in registers.
        slices: DSP slices.
        sums: Sizes of what adds up products beside the slices; empty if these do.
    """
    simd, pe = np.asarray(p["SIMD"]), np.asarray(p["PE"])
    stream, given = pe * simd * p["weight_bits"], pe * p["sum_bits"]
    padded = ceiling(stream, 8) * 8
    weights = mapped_memory(terms * rows, padded, ONE_PORT, p["ram_style"], family, stream)
    sizes = {
        "layer": np.ones_like(pe),
        "weight stream": stream,
        "output": given,
        "counters": counter_bits(terms) + counter_bits(rows) + counter_bits(terms * rows),
    }
    logic = {name: size for name, size in sums.items() if name != "waiting terms"}
    return Makings(
        together(weights, replay, shift_registers(stream), shift_registers(given)),
        slices,
        sizes | logic | {"parts of weights": (weights.parts - 1) * stream},
        sizes | sums | {"weights in LUTs": stream * (weights.bram18 == 0), "input": held},
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
        p: `NumChannels`, `PE`, `numSteps`, `input_bits`, `weight_bits`, `deep_pipeline` (whether each stage has two
            registers); `thresholds` if they are known (`ThresholdValues`), which share more than random ones.
        family: Of the part.
    """
    pe, bits, stages = np.asarray(p["PE"]), p["weight_bits"], int(p["numSteps"]).bit_length()
    known, deep = p.get("thresholds"), p["deep_pipeline"]
    if known is None:
        tables = random_tables(p["NumChannels"] // pe, pe, stages, bits, family)
    else:
        tables = known_tables(known, p["NumChannels"], pe, stages, bits, family)
    folds, one = p["NumChannels"] // pe, np.ones_like(pe)
    # Tables that are alike for all channels are read by channel only in block RAM; what counts is a shift register then.
    apart = known is None or len(known.rows) > 1
    counted = folds if apart else np.where(tables.memory.bram18 > 0, folds, one)
    sizes = {"layer": np.ones_like(pe), "lanes": pe, "counter": counter_bits(counted)}
    return Makings(
        tables.memory,
        np.zeros_like(pe),
        sizes
        | {
            "tables": tables.luts,
            "loose tables": tables.loose,
            "tables after loose ones": tables.after_loose,
            "parts of tables": tables.parts,
            "compared bits": tables.varying,
            "bits compared with 0": tables.zeros,
            "bits compared with 1": tables.ones,
            "bits of constant comparisons": tables.fixed,
            "saturated bits": pe * np.where(p["input_bits"] > bits, bits, 0),
            "bits left out": pe * max(p["input_bits"] - bits, 0),
            "results": pe * stages,
            "masked stages": pe * (2**stages - 1 > p["numSteps"]),
        },
        {
            "stages": np.full_like(pe, stages),
            "tables": tables.registers,
            "values": pe * (stages * (1 + deep) - deep) * bits,
            "results on their way": pe * (stages * (stages - 1) // 2) * (1 + deep),
            "results": pe * stages,
            "counter": counter_bits(folds if apart else one) * stages,
            "masked stages": pe * (2**stages - 1 > p["numSteps"]),
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
        # Each row has stages from one of its positions to the next, and but for the first one those of a pixel before them.
        delays = ((tall * (broad - 1), by_column * folds), (tall - 1, folds))
        delayed = times(together(*(times(delay(stages), count) for count, stages in delays)), beat)
        addresses = lines * counter_bits(words + 1)
        sizes = {"all at once": one, "counters, all at once": counters, "elements, all at once": last,
                 "addresses of lines": addresses}  # fmt: skip
        return Makings(
            together(times(line, lines), delayed._replace(ff=0 * one)),
            0 * one,
            sizes | {"lines": lines * one, "parts of lines": lines * (line.parts - 1) * beat},
            sizes
            | {
                "held values": beat + delayed.ff,
                "lines": lines * beat * (line.bram18 == 0),
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


CORES: dict[str, Callable[[Parameters, str], Makings]] = {
    "MVAU_rtl": matrix_vector_unit,
    "VVAU_rtl": vector_vector_unit,
    "Thresholding_rtl": thresholding,
    "ConvolutionInputGenerator_rtl": sliding_window,
    "FMPadding_rtl": padding,
    "StreamingFIFO_rtl": fifo,
    "StreamingDataWidthConverter_rtl": width_converter,
    "Reshape_rtl": wires,
}
"""By the type of the node."""
