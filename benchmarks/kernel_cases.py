"""The cases of this project's RTL backends: one small enough to be drawn, and some to be measured.

`docs/kernels/draw.py` draws the first, `benchmarks/kernels.py` measures the others. A new backend joins by one entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import kernel_nodes as nodes

from brainsmith.rtl.cores.trial import Case

PART = "xczu7ev-ffvc1156-2-e"


@dataclass(frozen=True)
class KernelCases:
    """What is tried of one backend.

    Attributes:
        core: Its module.
        caption: What its picture shows.
        drawn: A small case.
        measured: Representative ones, by what is said of them.
        stalls: Where the picture's ends stall, by the layer's streams: one digit a cycle, repeated for ever.
        cycles: How many the picture has.
    """

    core: str
    caption: str
    drawn: Case
    measured: Mapping[str, Case]
    stalls: Mapping[str, str] = field(default_factory=dict)
    cycles: int = 24


IMAGE = (1, 8, 8)
CASES: dict[str, KernelCases] = {
    "DuplicateStreamsRTL": KernelCases(
        "duplicate_streams_core",
        "Each output takes a beat when it can; the input's moves when the last has it",
        nodes.duplicate_streams(4, 2, 2, "INT4", (1,)),
        {
            "16 INT4, PE 4, to 2": nodes.duplicate_streams(16, 4, 2, "INT4", IMAGE),
            "64 UINT8, PE 8, to 3": nodes.duplicate_streams(64, 8, 3, "UINT8", IMAGE),
        },
        {"out0_V": "000001000", "out1_V": "0010000110"},
    ),
    "ElementwiseAddRTL": KernelCases(
        "elementwise_core",
        "Both operands move together, even if one comes late; the sum comes a cycle later",
        nodes.elementwise("Add", (1, 4), "INT4", "INT5", 2),
        {
            "16 UINT4, PE 4": nodes.elementwise("Add", (*IMAGE, 16), "UINT4", "UINT5", 4),
            "32 INT8, PE 8": nodes.elementwise("Add", (*IMAGE, 32), "INT8", "INT9", 8),
            "64 INT8 + per channel, PE 4": nodes.elementwise("Add", (*IMAGE, 64), "INT8", "INT9", 4, (64,)),
            "16x64 INT8 + tensor, PE 2": nodes.elementwise("Add", (1, 16, 64), "INT8", "INT9", 2, (1, 16, 64)),
        },
        {"in1_V": "0011000100"},
    ),
    "ElementwiseMulRTL": KernelCases(
        "elementwise_core",
        "Both operands move together, even if one comes late; the product comes a cycle later",
        nodes.elementwise("Mul", (1, 4), "INT4", "INT8", 2),
        {
            "16 UINT4, PE 4": nodes.elementwise("Mul", (*IMAGE, 16), "UINT4", "UINT8", 4),
            "32 INT8, PE 8": nodes.elementwise("Mul", (*IMAGE, 32), "INT8", "INT16", 8),
            "64 INT8 x per channel, PE 4": nodes.elementwise("Mul", (*IMAGE, 64), "INT8", "INT16", 4, (64,)),
            "64 INT4 x one number, PE 4": nodes.elementwise("Mul", (*IMAGE, 64), "INT4", "INT8", 4, (1,)),
        },
    ),
    "ElementwiseMaxRTL": KernelCases(
        "elementwise_core",
        "Both operands move together, even if one comes late; the greater comes a cycle later",
        nodes.elementwise("Max", (1, 4), "INT4", "INT4", 2),
        {"32 INT8, PE 8": nodes.elementwise("Max", (*IMAGE, 32), "INT8", "INT8", 8)},
    ),
    "ElementwiseSubRTL": KernelCases(
        "elementwise_core",
        "Both operands move together, even if one comes late; the difference comes a cycle later",
        nodes.elementwise("Sub", (1, 4), "INT4", "INT5", 2),
        {"32 INT8, PE 8": nodes.elementwise("Sub", (*IMAGE, 32), "INT8", "INT9", 8)},
    ),
    "BipolarThresholdingRTL": KernelCases(
        "elementwise_core",
        "Each channel's bit picks one of its two levels, a cycle later",
        nodes.bipolar_thresholding(4, 2, "UINT2", (1, 2)),
        {"64 channels, PE 2": nodes.bipolar_thresholding(64, 2, "UINT2", IMAGE)},
    ),
    "StreamingConcatRTL": KernelCases(
        "streaming_concat_core",
        "Two beats of the first input, one of the second; the input whose turn it is not waits",
        nodes.streaming_concat([4, 2], ["INT4", "UINT4"], 2, (1,)),
        {
            "16 + 16 UINT4, SIMD 4": nodes.streaming_concat([16, 16], ["UINT4", "UINT4"], 4, IMAGE),
            "32 INT8 + 16 UINT4 + 16 INT4, SIMD 8":
                nodes.streaming_concat([32, 16, 16], ["INT8", "UINT4", "INT4"], 8, IMAGE),
        },
    ),
    "StreamingSplitRTL": KernelCases(
        "streaming_split_core",
        "Two beats to the first output, one to the second",
        nodes.streaming_split([4, 2], "INT4", 2, (1,)),
        {
            "16 + 16 UINT4, SIMD 4": nodes.streaming_split([16, 16], "UINT4", 4, IMAGE),
            "32 + 16 + 16 INT8, SIMD 8": nodes.streaming_split([32, 16, 16], "INT8", 8, IMAGE),
        },
    ),
    "LookupRTL": KernelCases(
        "lookup_core",
        "The row of an index comes two cycles later, and stays until it is taken",
        nodes.lookup(3, 2, "INT4", (1, 4)),
        {
            "256 rows of 4 INT8": nodes.lookup(8, 4, "INT8", (1, 64)),
            "1,024 rows of 16 INT8": nodes.lookup(10, 16, "INT8", (1, 64)),
            "32 rows of 8 INT4 in LUTs": nodes.lookup(5, 8, "INT4", (1, 64), "distributed"),
        },
    ),
    "PoolRTL": KernelCases(
        "pool_core",
        "The greatest of windows of four values, two channels at a time",
        nodes.pool("MaxPool", 2, 2, (2, 2), (1, 2), "INT4"),
        {
            "MaxPool 2x2, 16 UINT4, PE 4": nodes.pool("MaxPool", 16, 4, (2, 2), (4, 4), "UINT4"),
            "MaxPool 2x2, 16 INT8, PE 8": nodes.pool("MaxPool", 16, 8, (2, 2), (4, 4), "INT8"),
            "AccPool 3x3, 16 INT4, PE 4": nodes.pool("AccPool", 16, 4, (3, 3), (4, 4), "INT4", "INT9"),
        },
        {"out0_V": "0000111000"},
    ),
    "GlobalAccPoolRTL": KernelCases(
        "global_acc_pool_core",
        "The sums of two channels over four pixels",
        nodes.global_acc_pool(2, 2, (1, 2, 2), "INT4"),
        {
            "16 UINT4, PE 4": nodes.global_acc_pool(16, 4, IMAGE, "UINT4"),
            "64 INT8, PE 8": nodes.global_acc_pool(64, 8, IMAGE, "INT8"),
        },
        {"out0_V": "0000111000"},
    ),
    "UpsampleNearestNeighbourRTL": KernelCases(
        "upsample_nearest_neighbour_core",
        "Two pixels of two channels become a row of four, and that row comes twice",
        nodes.upsample(2, 2, (1, 2), (2, 2), "INT4"),
        {
            "16 UINT4, SIMD 4, 2x2": nodes.upsample(16, 4, (8, 8), (2, 2), "UINT4"),
            "32 INT8, SIMD 8, 2x2": nodes.upsample(32, 8, (8, 8), (2, 2), "INT8"),
        },
        cycles=28,
    ),
    "WidthConverterRTL": KernelCases(
        "width_converter_core",
        "Beats of two values become beats of three: a beat is taken in every cycle",
        nodes.width_converter(2, 3, (2, 6), 4),
        {
            "2 to 9 INT4": nodes.width_converter(2, 9, (8, 18), 4),
            "9 to 4 INT4": nodes.width_converter(9, 4, (8, 36), 4),
            "16 to 1 INT2": nodes.width_converter(16, 1, (8, 16), 2),
        },
        cycles=28,
    ),
    "LabelSelectRTL": KernelCases(
        "label_select_core",
        "The places of the two greatest of six values",
        nodes.label_select(6, 2, 2, "INT4"),
        {
            "10 INT8, PE 1, top 1": nodes.label_select(10, 1, 1, "INT8"),
            "100 INT12, PE 4, top 5": nodes.label_select(100, 4, 5, "INT12"),
        },
    ),
    "BinaryMVAURTL": KernelCases(
        "binary_mvau_core",
        "Eight inputs, four at a time, by four rows, two at a time",
        nodes.binary_mvau(8, 4, 4, 2, "BINARY", "UINT4"),
        {
            "64x64 XNOR, SIMD 16, PE 8": nodes.binary_mvau(64, 64, 16, 8, "BINARY", "UINT7"),
            "784x64 XNOR, SIMD 49, PE 16": nodes.binary_mvau(784, 64, 49, 16, "BINARY", "UINT10"),
            "64x64 INT4 inputs, SIMD 16, PE 8": nodes.binary_mvau(64, 64, 16, 8, "INT4", "INT10"),
        },
    ),
    "EmbeddedVVAURTL": KernelCases(
        "embedded_vvau_core",
        "Two pixels of four channels: windows of three values, two channels at a time",
        nodes.embedded_vvau(4, (1, 3), 1, 2, (1, 2), "INT4", "INT3", "INT9"),
        {
            "3x3, 32 INT4 by INT4, PE 4": nodes.embedded_vvau(32, (3, 3), 1, 4, (4, 4), "INT4", "INT4", "INT11"),
            "3x3, 32 UINT8 by INT8, PE 4": nodes.embedded_vvau(32, (3, 3), 1, 4, (4, 4), "UINT8", "INT8", "INT20"),
            "3x3, 8 UINT8 by INT8, PE 8, SIMD 9":
                nodes.embedded_vvau(8, (3, 3), 9, 8, (4, 4), "UINT8", "INT8", "INT20"),
            "5x5, 64 UINT4 by INT4, PE 8, SIMD 5":
                nodes.embedded_vvau(64, (5, 5), 5, 8, (4, 4), "UINT4", "INT4", "INT13"),
        },
        {"out0_V": "0000111000"},
        cycles=32,
    ),
    "EmbeddedMVAURTL": KernelCases(
        "embedded_mvau_core",
        "Eight inputs, four at a time, by four rows, two at a time",
        nodes.embedded_mvau(8, 4, 4, 2, "UINT4", "INT3", "INT9"),
        {
            "64x32 UINT4 by UINT4, SIMD 8, PE 4": nodes.embedded_mvau(64, 32, 8, 4, "UINT4", "UINT4", "UINT14"),
            "64x64 UINT8 by INT12, SIMD 8, PE 4": nodes.embedded_mvau(64, 64, 8, 4, "UINT8", "INT12", "INT25"),
            "16x16 INT4 by TERNARY, SIMD 16, PE 2": nodes.embedded_mvau(16, 16, 16, 2, "INT4", "TERNARY", "INT9"),
            "1x16 UINT8 by INT8, PE 4": nodes.embedded_mvau(1, 16, 1, 4, "UINT8", "INT8", "INT17"),
        },
    ),
    "CropRTL": KernelCases(
        "crop_window_core",
        "The middle two of four rows of two beats",
        nodes.crop((4, 4), (1, 0), (2, 4), 2, "INT4"),
        {"8x8 of 16 INT8 to 6x6, SIMD 4": nodes.crop((8, 8, 16), (1, 1, 0), (6, 6, 16), 4, "INT8")},
    ),
    "PadRTL": KernelCases(
        "pad_core",
        "A row of two values with the least value on its left and right",
        nodes.pad((2, 2), (0, 1), (0, 1), -8, 1, "INT4"),
        {
            "28x28 of 16 INT8 padded by 1, SIMD 4":
                nodes.pad((28, 28, 16), (1, 1, 0), (1, 1, 0), -128, 4, "INT8"),
        },
    ),
    "MatMulRTL": KernelCases(
        "mat_mul_core",
        "Two rows by two columns of four values, two at a time",
        nodes.mat_mul((2, 4), (4, 2), 1, 2, "INT4", "INT10"),
        {
            "2 x 8x16 by 16x8 INT8, PE 2, SIMD 4": nodes.mat_mul((2, 8, 16), (2, 16, 8), 2, 4, "INT8", "INT20"),
            "2 x 8x8 by 8x16 UINT8, PE 4, SIMD 8": nodes.mat_mul((2, 8, 8), (2, 8, 16), 4, 8, "UINT8", "UINT19"),
        },
        cycles=36,
    ),
    "ShuffleRTL": KernelCases(
        "shuffle_core",
        "A matrix of two rows and three columns, transposed",
        nodes.shuffle((2, 3), (1, 0), 1, "INT4"),
        {
            "8x2x16 INT8 to 2x8x16, SIMD 4": nodes.shuffle((8, 2, 16), (1, 0, 2), 4, "INT8"),
            "8x2x16 INT8 to 2x16x8, SIMD 1": nodes.shuffle((8, 2, 16), (1, 2, 0), 1, "INT8"),
        },
        cycles=32,
    ),
    "SoftmaxRTL": KernelCases(
        "softmax_core",
        "Rows of four values, two at a time",
        nodes.softmax(4, 2, "INT4", 1, fraction=4),
        {
            "8 rows of 8 INT8, SIMD 1": nodes.softmax(8, 1, "INT8", 8),
            "8 rows of 32 INT8, SIMD 4": nodes.softmax(32, 4, "INT8", 8),
        },
        {"out0_V": "0" * 19 + "11" + "0" * 11},
        cycles=36,
    ),
    "LayerNormRTL": KernelCases(
        "layer_norm_core",
        "Rows of four values, two at a time",
        nodes.layer_norm(4, 2, "INT4", "INT5", 1, fraction=2),
        {
            "8 rows of 32 INT8, SIMD 1": nodes.layer_norm(32, 1, "INT8", "INT12", 8),
            "8 rows of 32 INT8, SIMD 4": nodes.layer_norm(32, 4, "INT8", "INT12", 8),
        },
        {"out0_V": "0" * 20 + "11" + "0" * 11},
        cycles=48,
    ),
}  # fmt: skip
