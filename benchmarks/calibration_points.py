"""The layers that resource models are calibrated with: random parameters of every RTL kernel, drawn by their numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2, prod
from random import Random

import kernel_nodes as nodes
from drawn_parameters import IMAGE, between, bits, kind, lanes, sized, sum_of
from finn_points import (
    even_thresholds,
    fifo,
    finn_width_converter,
    mvau,
    padding,
    sliding_window,
    thresholding,
    trained_thresholds,
    usual_thresholds,
    vvau,
)

from brainsmith.rtl.cores.trial import Case


def point(kernel: str, seed: int) -> Case:
    """Return the layer of a kernel with a number: the same one each time.

    Args:
        kernel: Of `POINTS`.
        seed: Its number.
    """
    return POINTS[kernel](Random(f"{kernel} {seed}"))


def duplicate_streams(random: Random) -> Case:
    """A fork."""
    channels, taken = sized(random, 1, 256), kind(random, 1, 12)
    return nodes.duplicate_streams(channels, lanes(random, channels, 64), random.randint(2, 4), taken, IMAGE)


def elementwise(random: Random) -> Case:
    """A sum, difference, product or maximum of two streams, or of a stream and constants."""
    name, channels, taken = random.choice(("Add", "Sub", "Mul", "Max")), sized(random, 1, 256), kind(random)
    width = {"Mul": 2 * bits(taken), "Max": bits(taken)}.get(name, bits(taken) + 1)
    given = ("INT" if name == "Sub" or taken.startswith("I") else "UINT") + str(width)
    constant = random.choice((None, None, (channels,), (1,)))
    return nodes.elementwise(name, (*IMAGE, channels), taken, given, lanes(random, channels, 32), constant)


def bipolar_thresholding(random: Random) -> Case:
    """Signs to levels."""
    channels = sized(random, 1, 256)
    return nodes.bipolar_thresholding(channels, lanes(random, channels, 64), "UINT2", IMAGE)


def streaming_concat(random: Random) -> Case:
    """Streams joined."""
    simd = between(random, 1, 16)
    counts = [simd * between(random, 1, 16) for _ in range(random.randint(2, 4))]
    return nodes.streaming_concat(counts, [kind(random) for _ in counts], simd, IMAGE)


def streaming_split(random: Random) -> Case:
    """A stream split."""
    simd = between(random, 1, 16)
    counts = [simd * between(random, 1, 16) for _ in range(random.randint(2, 4))]
    return nodes.streaming_split(counts, kind(random), simd, IMAGE)


def lookup(random: Random) -> Case:
    """A table."""
    rows, width = random.randint(2, 11), between(random, 1, 16)
    return nodes.lookup(rows, width, kind(random), (1, 64), random.choice(("block", "distributed")))


def pool(random: Random) -> Case:
    """The greatest value, or the sum, of windows."""
    channels, window, taken = sized(random, 1, 256), random.choice(((2, 2), (3, 3), (2, 1))), kind(random)
    pe = lanes(random, channels, 64)
    if random.random() < 0.5:
        return nodes.pool("MaxPool", channels, pe, window, (4, 4), taken)
    given = taken.rstrip("0123456789") + str(bits(taken) + ceil(log2(prod(window))))
    return nodes.pool("AccPool", channels, pe, window, (4, 4), taken, given)


def global_acc_pool(random: Random) -> Case:
    """Sums of images."""
    channels, size = sized(random, 1, 256), between(random, 2, 32)
    return nodes.global_acc_pool(channels, lanes(random, channels, 32), (1, size, size), kind(random))


def upsample(random: Random) -> Case:
    """Pixels repeated."""
    channels, taken = sized(random, 1, 128), kind(random)
    size, scale = [between(random, 2, 32) for _ in range(2)], [random.randint(1, 4) for _ in range(2)]
    return nodes.upsample(channels, lanes(random, channels, 32), tuple(size), tuple(scale), taken)


def width_converter(random: Random) -> Case:
    """Beats of another width."""
    taken, given = (between(random, 1, 64) for _ in range(2))
    given += taken == given
    row = taken * given
    return nodes.width_converter(taken, given, (8, row), random.randint(1, 8))


def label_select(random: Random) -> Case:
    """The greatest of all labels."""
    labels = sized(random, 4, 512)
    return nodes.label_select(
        labels, lanes(random, labels, 8), random.choice((1, 1, 1, min(5, labels))), kind(random, 4, 16)
    )


def binary_mvau(random: Random) -> Case:
    """Products with weights of 1 bit."""
    width, height, taken = (
        sized(random, 8, 512),
        sized(random, 4, 128),
        random.choice(("BINARY", kind(random))),
    )
    simd = lanes(random, width, 256 if taken == "BINARY" else 48)
    pe = lanes(random, height, max(1, (1024 if taken == "BINARY" else 128) // simd))
    given = (
        f"UINT{ceil(log2(width + 1))}" if taken == "BINARY" else f"INT{bits(taken) + ceil(log2(width)) + 1}"
    )
    return nodes.binary_mvau(width, height, simd, pe, taken, given)


def embedded_vvau(random: Random) -> Case:
    """Depthwise products."""
    channels, window = sized(random, 4, 128), random.choice(((3, 3), (1, 3), (5, 5)))
    held, taken, taps = kind(random), kind(random), prod(window)
    simd = lanes(random, taps, 9)
    pe = lanes(random, channels, max(1, 48 // simd))
    return nodes.embedded_vvau(channels, window, simd, pe, (4, 4), taken, held, sum_of(taps, held, taken))


def embedded_mvau(random: Random) -> Case:
    """Products of any integers."""
    width, height = sized(random, 1, 256), sized(random, 4, 64)
    held, taken = kind(random, 2, 10), kind(random, 2, 10)
    simd = lanes(random, width, 24)
    pe = lanes(random, height, max(1, 48 // simd))
    return nodes.embedded_mvau(width, height, simd, pe, taken, held, sum_of(width, held, taken))


def unfolded_mvau(random: Random) -> Case:
    """Products of few bits with one to twelve words of weights, as in a small network that is to be fast."""
    held, taken = kind(random, 2, 5), kind(random, 2, 5)
    simd, beats, folds = random.choice((4, 6, 8, 9, 12, 16, 24)), random.randint(1, 4), random.randint(1, 3)
    pe = random.choice([lanes for lanes in (2, 4, 8, 10, 16, 32) if lanes * simd <= 256])
    width = simd * beats
    return nodes.embedded_mvau(width, pe * folds, simd, pe, taken, held, sum_of(width, held, taken))


def crop(random: Random) -> Case:
    """A part of an image."""
    channels, image = sized(random, 1, 128), [between(random, 4, 48) for _ in range(2)]
    starts = [random.randint(0, size // 3) for size in image]
    sizes = [size - start - random.randint(0, size // 3) for size, start in zip(image, starts, strict=True)]
    shape, begin, end = (*image, channels), (*starts, 0), (*sizes, channels)
    return nodes.crop(shape, begin, end, lanes(random, channels, 32), kind(random))


def pad(random: Random) -> Case:
    """An image with a value around it."""
    channels, image = sized(random, 1, 128), [between(random, 4, 48) for _ in range(2)]
    before, after = ([random.randint(0, 3) for _ in image] for _ in range(2))
    before[0] += 1
    taken = random.randint(2, 8)
    value, simd = -(2 ** (taken - 1)), lanes(random, channels, 32)
    return nodes.pad((*image, channels), (*before, 0), (*after, 0), value, simd, f"INT{taken}")


def mat_mul(random: Random) -> Case:
    """Products of two streams."""
    rows, inner, columns = (between(random, 2, 8) * 4 for _ in range(3))
    taken, simd = f"INT{random.randint(3, 8)}", lanes(random, inner, 8)
    pe = lanes(random, columns, max(1, 24 // simd))
    return nodes.mat_mul((rows, inner), (inner, columns), pe, simd, taken, sum_of(inner, taken, taken))


def shuffle(random: Random) -> Case:
    """A transposed tensor."""
    shape = tuple(between(random, 2, 8) * random.choice((1, 2, 4)) for _ in range(3))
    perm = random.choice(((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0)))
    simd = lanes(random, shape[2], 16) if perm == (1, 0, 2) else 1
    return nodes.shuffle(shape, perm, simd, kind(random))


def softmax(random: Random) -> Case:
    """Rows to shares."""
    size = between(random, 2, 32) * 4
    return nodes.softmax(size, lanes(random, size, 8), f"INT{random.randint(4, 8)}", 8, random.randint(4, 10))


def layer_norm(random: Random) -> Case:
    """Rows normalised."""
    size = between(random, 2, 32) * 4
    given = f"INT{random.randint(6, 14)}"
    return nodes.layer_norm(
        size, lanes(random, size, 8), f"INT{random.randint(4, 8)}", given, 8, random.randint(3, 8)
    )


POINTS: dict[str, Callable[[Random], Case]] = {
    "MVAU_rtl": mvau,
    "Thresholding_rtl": thresholding,
    "Thresholding_rtl trained": trained_thresholds,
    "Thresholding_rtl even": even_thresholds,
    "Thresholding_rtl usual": usual_thresholds,
    "ConvolutionInputGenerator_rtl": sliding_window,
    "FMPadding_rtl": padding,
    "VVAU_rtl": vvau,
    "StreamingFIFO_rtl": fifo,
    "StreamingDataWidthConverter_rtl": finn_width_converter,
    "DuplicateStreams_rtl": duplicate_streams,
    "ElementwiseInt_rtl": elementwise,
    "BipolarThresholding_rtl": bipolar_thresholding,
    "StreamingConcat_rtl": streaming_concat,
    "StreamingSplit_rtl": streaming_split,
    "Lookup_rtl": lookup,
    "Pool_rtl": pool,
    "GlobalAccPool_rtl": global_acc_pool,
    "UpsampleNearestNeighbour_rtl": upsample,
    "StreamingDataWidthConverterAny_rtl": width_converter,
    "LabelSelect_rtl": label_select,
    "BinaryMVAU_rtl": binary_mvau,
    "EmbeddedVVAU_rtl": embedded_vvau,
    "EmbeddedMVAU_rtl": embedded_mvau,
    "EmbeddedMVAU_rtl unfolded": unfolded_mvau,
    "CropRTL": crop,
    "PadRTL": pad,
    "MatMulRTL": mat_mul,
    "ShuffleRTL": shuffle,
    "SoftmaxRTL": softmax,
    "LayerNormRTL": layer_norm,
}
"""How a layer is drawn, by the type of its node."""
