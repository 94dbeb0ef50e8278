"""Print the slowest path of each RTL core, FINN's and this project's, beside that of FINN's matrix-vector unit.

    python benchmarks/clocks.py [BACKEND...] [--part PART]      # logic depth and estimated clock, by Yosys
    python benchmarks/clocks.py [BACKEND...] --place            # the clock on an ECP5, by nextpnr, where it is installed,
                                                                # beside that of FINN's thresholding at equal width;
                                                                # --seeds 3 gives the median of three placements

The cases are those of `kernel_cases.py` and the wider ones here. Each core stands alone, between registers.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING

import drawn_parameters
import kernel_nodes as nodes
import numpy as np
from finn_points import padding, sliding_window
from kernel_cases import CASES, IMAGE, PART

from brainsmith.errors import BuildError
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.rtl.cores.trial import Case, make_design, random_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.rtl.stitching.design import Design
    from brainsmith.rtl.synthesis.pieces import Piece
    from brainsmith.rtl.synthesis.slowest_path import SlowestPath


PERIOD = 2.0
"""Nanoseconds that nextpnr is asked for, which nothing reaches, so that it does what it can."""


def mvau(width: int, height: int, simd: int, pe: int, kind: str, accumulator: str) -> Case:
    """Return FINN's matrix-vector unit, its weights of the same type as its inputs."""
    attributes = {
        "MW": width, "MH": height, "SIMD": simd, "PE": pe, "inputDataType": kind, "weightDataType": kind,
        "outputDataType": accumulator, "accDataType": accumulator, "noActivation": 1, "numInputVectors": [1],
        "mem_mode": "internal_decoupled", "ram_style": "auto", "resType": "dsp",
    }  # fmt: skip
    values = random_values(np.random.default_rng(0), kind, (width, height))
    return Case("MVAU_rtl", [((1, width), kind)], attributes, constants=[(values, kind)])


def thresholding(channels: int, pe: int, taken: str, levels: int) -> Case:
    """Return FINN's thresholds, which differ from channel to channel."""
    bits = drawn_parameters.bits(taken)
    low = -(2 ** (bits - 1)) if taken.startswith("I") else 0
    drawn = np.sort(np.random.default_rng(0).integers(low, low + 2**bits, (channels, levels)), axis=1)
    attributes = {
        "NumChannels": channels, "PE": pe, "numSteps": levels, "inputDataType": taken, "weightDataType": taken,
        "outputDataType": f"UINT{levels.bit_length()}", "ActVal": 0, "numInputVectors": list(IMAGE),
    }  # fmt: skip
    return Case("Thresholding_rtl", [((*IMAGE, channels), taken)], attributes, constants=[(drawn, taken)])


REFERENCE = ("finn:MVAU", "64x32 INT4, SIMD 8, PE 4")
FINN: dict[str, dict[str, Case]] = {
    "finn:MVAU": {
        REFERENCE[1]: mvau(64, 32, 8, 4, "INT4", "INT14"),
        "256x64 INT8, SIMD 32, PE 8": mvau(256, 64, 32, 8, "INT8", "INT24"),
    },
    "finn:Thresholding": {
        "32 INT8, PE 4, 15 levels": thresholding(32, 4, "INT8", 15),
        "32 INT14, PE 4, 15 levels": thresholding(32, 4, "INT14", 15),
        "64 INT24, PE 8, 15 levels": thresholding(64, 8, "INT24", 15),
        "64 INT24, PE 8, 255 levels": thresholding(64, 8, "INT24", 255),
    },
    "finn:ConvolutionInputGenerator": {
        "drawn": sliding_window(Random(1)),
        "drawn again": sliding_window(Random(2)),
    },
    "finn:FMPadding": {"drawn": padding(Random(1))},
}
"""FINN's cores that others are compared with."""

WIDE: dict[str, dict[str, Case]] = {
    "DuplicateStreamsRTL": {"wide": nodes.duplicate_streams(256, 64, 4, "INT8", IMAGE)},
    "ElementwiseAddRTL": {"wide": nodes.elementwise("Add", (*IMAGE, 64), "INT24", "INT25", 16)},
    "ElementwiseMulRTL": {"wide": nodes.elementwise("Mul", (*IMAGE, 64), "INT16", "INT32", 8)},
    "StreamingConcatRTL": {"wide": nodes.streaming_concat([256, 128, 64, 64], ["INT8", "INT4", "INT6", "INT8"], 64, IMAGE)},
    "StreamingSplitRTL": {"wide": nodes.streaming_split([256, 128, 64, 64], "INT8", 64, IMAGE)},
    "PoolRTL": {
        "MaxPool wide": nodes.pool("MaxPool", 64, 32, (3, 3), (4, 4), "INT16"),
        "AccPool wide": nodes.pool("AccPool", 64, 16, (7, 7), (1, 1), "INT16", "INT22"),
    },
    "GlobalAccPoolRTL": {"wide": nodes.global_acc_pool(256, 32, (1, 32, 32), "INT16")},
    "UpsampleNearestNeighbourRTL": {"wide": nodes.upsample(128, 32, (32, 32), (4, 4), "INT8")},
    "WidthConverterRTL": {
        "wide 63 to 40 INT8": nodes.width_converter(63, 40, (8, 2520), 8),
        "wide 5 to 64 INT8": nodes.width_converter(5, 64, (8, 320), 8),
    },
    "LabelSelectRTL": {
        "1000 INT24, PE 8, top 1": nodes.label_select(1000, 8, 1, "INT24"),
        "1000 INT24, PE 8, top 5": nodes.label_select(1000, 8, 5, "INT24"),
    },
    "BinaryMVAURTL": {
        "1024x64 XNOR, SIMD 256, PE 4": nodes.binary_mvau(1024, 64, 256, 4, "BINARY", "UINT11"),
        "256x64 INT8 inputs, SIMD 64, PE 4": nodes.binary_mvau(256, 64, 64, 4, "INT8", "INT17"),
    },
    "EmbeddedVVAURTL": {
        "7x7, 16 INT8 by INT8, PE 4, SIMD 49": nodes.embedded_vvau(16, (7, 7), 49, 4, (4, 4), "INT8", "INT8", "INT22"),
    },
    "EmbeddedMVAURTL": {
        "256x64 UINT8 by INT8, SIMD 64, PE 2": nodes.embedded_mvau(256, 64, 64, 2, "UINT8", "INT8", "INT25"),
        "64x64 INT16 by INT16, SIMD 8, PE 2": nodes.embedded_mvau(64, 64, 8, 2, "INT16", "INT16", "INT38"),
    },
    "PadRTL": {"wide": nodes.pad((224, 224, 64), (3, 3, 0), (3, 3, 0), -128, 32, "INT8")},
    "CropRTL": {"wide": nodes.crop((224, 224, 64), (3, 3, 0), (200, 200, 64), 32, "INT8")},
    "MatMulRTL": {
        "64x64 by 64x64 INT8, PE 4, SIMD 16": nodes.mat_mul((64, 64), (64, 64), 4, 16, "INT8", "INT22"),
        "32x64 by 64x64 INT4, PE 2, SIMD 64": nodes.mat_mul((32, 64), (64, 64), 2, 64, "INT4", "INT14"),
    },
    "ShuffleRTL": {
        "wide": nodes.shuffle((64, 8, 64), (1, 0, 2), 32, "INT8"),
        "64x8x64 INT8 to 8x64x64, SIMD 1": nodes.shuffle((64, 8, 64), (1, 2, 0), 1, "INT8"),
    },
    "SoftmaxRTL": {"8 rows of 128 INT8, SIMD 16": nodes.softmax(128, 16, "INT8", 8)},
    "LayerNormRTL": {"8 rows of 384 INT8, SIMD 16": nodes.layer_norm(384, 16, "INT8", "INT12", 8)},
}  # fmt: skip
"""Beside the representative ones, wide ones: long sums, wide values, many lanes."""


def cases_of(name: str) -> dict[str, Case]:
    """Return the cases of a backend, or of one of FINN's."""
    if name in FINN:
        return FINN[name]
    return {**CASES[name].measured, **WIDE.get(name, {})}


def paths_of(cases: dict[str, Case], part: str) -> dict[str, SlowestPath]:
    """Synthesise each case alone; what was before is not done again."""
    from brainsmith.rtl.synthesis.synthesise import synthesise_layers

    with tempfile.TemporaryDirectory(prefix="brainsmith-clocks-") as folder:
        _, design = make_design(list(cases.values()), Path(folder), part)
        layers = synthesise_layers(design, part)
    return {what: layer.path for what, layer in zip(cases, layers, strict=True) if layer.path is not None}


def between_registers(part: Design) -> Piece:
    """Return a design with a register at each of its ports: a chain of them, which two pins fill and empty."""
    from brainsmith.rtl.library.sources import RtlSource
    from brainsmith.rtl.synthesis.pieces import whole

    given: list[tuple[str, int]] = []
    taken: list[tuple[str, int]] = []
    pins = [".ap_clk(ap_clk)", ".ap_rst_n(given[0])"]
    for streams, way, back in ((part.inputs, given, taken), (part.outputs, taken, given)):
        for stream in streams:
            kinds = (("data", stream.bits, way), ("valid", 1, way), ("ready", 1, back))
            for kind, bits, ends in kinds:
                at = sum(ends_bits for _, ends_bits in ends) + (ends is given)
                name = "given" if ends is given else "taken"
                pins.append(f".{stream.name}_t{kind}({name}[{at} +: {bits}])")
                ends.append((stream.name, bits))
    come, go = (sum(bits for _, bits in ends) for ends in (given, taken))
    text = f"""module registered(input ap_clk, input from, output to);
reg [{come}:0] given;
wire [{go - 1}:0] taken;
reg [{go - 1}:0] held;
reg [{go}:0] folded;
always @(posedge ap_clk) begin
    given <= {{given, from}};
    held <= taken;
    folded <= {{folded, from}} ^ held;
end
assign to = folded[{go}];
{part.top} core ({", ".join(pins)});
endmodule
"""
    piece = whole(part)
    return replace(piece, top="registered", sources=(*piece.sources, RtlSource("registered.v", text)))


def placed_mhz(case: Case, seeds: int) -> float:
    """Return the median of the clocks of some placements of a case alone, between registers, on the largest ECP5."""
    from brainsmith.rtl.library.sources import find_library
    from brainsmith.rtl.stitching.sections import cut_out
    from brainsmith.rtl.synthesis.for_synthesis import altered_design
    from brainsmith.rtl.synthesis.placement import place_piece

    with tempfile.TemporaryDirectory(prefix="brainsmith-clocks-") as folder:
        _, design = make_design([case], Path(folder), PART)
    design = altered_design(design, find_library())
    (layer,) = (layer.name for layer in design.layers if layer.kernel != "memstream")
    piece = between_registers(replace(cut_out(design, [layer]), top="alone"))
    return median(place_piece(piece, "ecp5", PERIOD, seed).fmax_mhz for seed in range(1, seeds + 1))


def thresholding_mhz(case: Case, seeds: int) -> float:
    """Return the clock of FINN's thresholding with as many lanes as a case, and values as wide as the widest of it."""
    values = dict(case.attributes)
    lanes = max(int(values.get(name, 1)) for name in ("PE", "SIMD"))
    kinds = [str(value) for name, value in values.items() if re.fullmatch(r"U?INT\d+", str(value))]
    widest = max([drawn_parameters.bits(kind) for kind in kinds], default=2)
    lanes = max(
        lanes, *(int(values.get(name, 1)) // widest for name in ("inWidth", "outWidth"))
    )  # of a converter
    return _thresholding_mhz(lanes, f"INT{min(max(widest, 5), 24)}", seeds)


@cache
def _thresholding_mhz(lanes: int, taken: str, seeds: int) -> float:
    return placed_mhz(thresholding(lanes * 2, lanes, taken, 15), seeds)


def print_placed(names: Sequence[str], seeds: int, only: str) -> None:
    """Print the clock of each case on an ECP5, and that of FINN's thresholding at equal width."""
    print(f"{'backend':<28} {'case':<42} {'MHz':>6} {'thresholding':>12} {'x':>5}")
    for name in names:
        for what, case in cases_of(name).items():
            if only not in what:
                continue
            try:
                reached = placed_mhz(case, seeds)
            except BuildError:  # the wide cases of multipliers need more than the largest ECP5 has
                print(f"{name:<28} {what:<42} does not fit", flush=True)
                continue
            other = thresholding_mhz(case, seeds)
            print(f"{name:<28} {what:<42} {reached:>6.1f} {other:>12.1f} {reached / other:>5.2f}", flush=True)


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("backends", nargs="*", help=f"of {', '.join((*FINN, *CASES))}")
    parser.add_argument("--part", default=PART)
    parser.add_argument("--place", action="store_true", help="place and route on an ECP5 with nextpnr")
    parser.add_argument("--seeds", type=int, default=1, help="of --place: the median of so many placements")
    parser.add_argument("--case", default="", help="of --place: only cases with this in their name")
    options = parser.parse_args()
    unknown = [name for name in options.backends if name not in (*FINN, *CASES)]
    if unknown:
        sys.exit(f"no backend is named {unknown[0]!r}; there are {', '.join((*FINN, *CASES))}")
    prepare_finn()
    if options.place:
        print_placed(options.backends or list(CASES), options.seeds, options.case)
        return
    reference = paths_of({REFERENCE[1]: FINN[REFERENCE[0]][REFERENCE[1]]}, options.part)[REFERENCE[1]]
    print(f"{'backend':<28} {'case':<42} {'levels':>6} {'ns':>6} {'MHz':>5} {'x MVAU':>6}  slowest path")
    for name in options.backends or (*FINN, *CASES):
        for what, path in paths_of(cases_of(name), options.part).items():
            ratio = reference.ns / path.ns if path.ns else float("inf")
            row = f"{name:<28} {what:<42} {path.levels:>6} {path.ns:>6.2f} {path.fmax_mhz or 0:>5.0f} {ratio:>6.2f}"
            print(f"{row}  {path.start} -> {path.end}: {' '.join(path.cells)}", flush=True)


if __name__ == "__main__":
    main()
