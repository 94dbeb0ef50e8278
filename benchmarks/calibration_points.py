"""The layers that resource models are calibrated with: random parameters of every RTL kernel, drawn by their numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2, prod
from random import Random

import kernel_nodes as nodes
import numpy as np

from brainsmith.rtl.cores.parallelism import divisors
from brainsmith.rtl.cores.trial import Case, random_values

IMAGE = (1, 8, 8)
"""Vectors of a frame, where they only set a counter's width."""

PRODUCTS, WEIGHT_BITS = 64, 768
"""How many multipliers a product has at the most, and bits in a beat of its weights."""

BEAT_BITS = 3500
"""How wide a converter's beat is at the most."""


def point(kernel: str, seed: int) -> Case:
    """Return the layer of a kernel with a number: the same one each time.

    Args:
        kernel: Of `POINTS`.
        seed: Its number.
    """
    return POINTS[kernel](Random(f"{kernel} {seed}"))


def between(random: Random, low: int, high: int) -> int:
    """Return a whole number, as likely in each octave."""
    return min(high, max(low, round(2 ** random.uniform(log2(low) - 0.4, log2(high) + 0.4))))


def sized(random: Random, low: int, high: int) -> int:
    """Return a number with several divisors, such as layers have channels."""
    return (
        between(random, max(1, low // 4), max(1, high // 4)) * 4
        if random.random() < 0.8
        else between(random, low, high)
    )


def lanes(random: Random, whole: int, most: int) -> int:
    """Return a divisor of a number that is not above a limit."""
    return random.choice([each for each in divisors(whole) if each <= max(most, 1)])


def kind(random: Random, low: int = 2, high: int = 8) -> str:
    """Return an integer datatype."""
    return random.choice(("INT", "UINT")) + str(random.randint(low, high))


def bits(name: str) -> int:
    """Return the bits of an integer datatype."""
    return {"BIPOLAR": 1, "BINARY": 1, "TERNARY": 2}.get(name) or int(name.lstrip("UINT"))


def sum_of(terms: int, *kinds: str) -> str:
    """Return a datatype for a sum of products."""
    signed = any(not each.startswith("U") for each in kinds)
    return ("INT" if signed else "UINT") + str(sum(map(bits, kinds)) + ceil(log2(max(terms, 2))) - signed + 1)


def mvau(random: Random) -> Case:
    """FINN's matrix-vector unit, with its memory of weights."""
    width, height = sized(random, 8, 1024), sized(random, 4, 256)
    held, taken = f"INT{random.randint(2, 8)}", kind(random)
    simd = random.choice([each for each in divisors(width)[:-1] if each <= PRODUCTS])
    pe = lanes(random, height, min(PRODUCTS // simd, WEIGHT_BITS // simd // bits(held)))
    given = sum_of(width, held, taken)
    attributes = {
        "MW": width, "MH": height, "SIMD": simd, "PE": pe, "inputDataType": taken, "weightDataType": held,
        "outputDataType": given, "accDataType": given, "noActivation": 1, "numInputVectors": [1],
        "mem_mode": "internal_decoupled", "ram_style": random.choice(("auto", "auto", "block", "distributed")),
        "resType": "dsp",
    }  # fmt: skip
    values = random_values(np.random.default_rng(0), held, (width, height))
    return Case("MVAU_rtl", [((1, width), taken)], attributes, constants=[(values, held)])


def vvau(random: Random) -> Case:
    """FINN's vector-vector unit of a depthwise convolution, for Versal parts."""
    channels, window = sized(random, 4, 128), random.choice(((3, 3), (3, 3), (1, 3), (5, 5)))
    held, taken = f"INT{random.randint(2, 8)}", kind(random)
    pe, taps = lanes(random, channels, 16), prod(window)
    given = sum_of(taps, held, taken)
    attributes = {
        "Channels": channels, "Kernel": list(window), "SIMD": random.choice(divisors(taps)[:-1]), "PE": pe,
        "Dim": [4, 4], "inputDataType": taken, "weightDataType": held, "outputDataType": given, "accDataType": given,
        "noActivation": 1, "mem_mode": "internal_decoupled", "ram_style": "auto", "resType": "dsp",
    }  # fmt: skip
    values = random_values(np.random.default_rng(0), held, (channels, 1, *window))
    return Case("VVAU_rtl", [((1, 4, 4, taps * channels), taken)], attributes, constants=[(values, held)])


def thresholding(random: Random) -> Case:
    """FINN's thresholds, which differ from channel to channel."""
    channels, taken, given = sized(random, 1, 256), kind(random, 4, 20), random.randint(1, 6)
    given = min(given, bits(taken) - 1)
    low, steps = (-(2 ** (bits(taken) - 1)) if taken.startswith("I") else 0), 2**given - 1
    drawn = np.random.default_rng(random.randint(0, 9999)).integers(
        low, low + 2 ** bits(taken), (channels, steps)
    )
    attributes = {
        "NumChannels": channels, "PE": lanes(random, channels, max(1, 128 // steps)), "numSteps": steps,
        "inputDataType": taken, "weightDataType": taken, "outputDataType": f"UINT{given}", "ActVal": 0,
        "numInputVectors": list(IMAGE),
    }  # fmt: skip
    fed = [((*IMAGE, channels), taken)]
    return Case("Thresholding_rtl", fed, attributes, constants=[(np.sort(drawn, axis=1), taken)])


def trained_thresholds(random: Random) -> Case:
    """FINN's thresholds as training leaves them: evenly spaced, of similar channels, or the same ones for all."""
    channels, taken = sized(random, 1, 256), kind(random, 5, 20)
    given = min(random.choice((1, 2, 2, 3, 3, 4, 4, 5, 6)), bits(taken) - 2)
    top, signed = 2 ** bits(taken), taken.startswith("I")
    steps = 2**given - random.choice((1, 1, 1, 2)) if given > 1 else 1
    drawn, alike = np.random.default_rng(random.randint(0, 9999)), random.random() < 0.3
    rows = 1 if alike else channels
    between_steps = top / 2 ** random.uniform(0.5, 3) / (steps + 1) * drawn.lognormal(0, 0.4, (rows, 1))
    first = drawn.normal(0, 0.3, (rows, 1)) * between_steps + between_steps / 2
    first = first - between_steps * steps / 2 * signed * random.randint(0, 1)
    values = np.ceil(first + between_steps * np.arange(steps))
    values = np.clip(values, -top // 2 * signed, top // (1 + signed) - 1)
    held = taken
    if random.random() < 0.5:  # as FINN minimises it, but never wider than the input
        most = int(max(values.max(), -values.min()))
        held = taken.rstrip("0123456789") + str(min(bits(taken), max(most, 1).bit_length() + signed))
    if not alike or random.random() < 0.5:
        values = np.broadcast_to(values, (channels, steps))
    attributes = {
        "NumChannels": channels, "PE": lanes(random, channels, max(1, 128 // steps)), "numSteps": steps,
        "inputDataType": taken, "weightDataType": held, "outputDataType": f"UINT{given}", "ActVal": 0,
        "numInputVectors": list(IMAGE),
    }  # fmt: skip
    return Case("Thresholding_rtl", [((*IMAGE, channels), taken)], attributes, constants=[(values, held)])


def even_thresholds(random: Random) -> Case:
    """FINN's thresholds of a scale that is a power of two: each channel's as far apart as any other's."""
    channels, taken, given = sized(random, 8, 256), random.randint(8, 16), random.randint(2, 6)
    steps = 2**given - 1
    apart = 2 ** random.randint(0, taken - given - 1)
    most = 2 ** (taken - 1) - apart * steps // 2 - 1
    centres = np.random.default_rng(random.randint(0, 9999)).normal(0, apart * steps / 4, (channels, 1))
    first = np.clip(np.rint(centres), -most, most) - apart * (steps // 2)
    values = first + apart * np.arange(steps)
    attributes = {
        "NumChannels": channels, "PE": lanes(random, channels, max(1, 128 // steps)), "numSteps": steps,
        "inputDataType": f"INT{taken}", "weightDataType": f"INT{taken}", "outputDataType": f"UINT{given}", "ActVal": 0,
        "numInputVectors": list(IMAGE),
    }  # fmt: skip
    fed = [((*IMAGE, channels), f"INT{taken}")]
    return Case("Thresholding_rtl", fed, attributes, constants=[(values, f"INT{taken}")])


def sliding_window(random: Random) -> Case:
    """FINN's sliding window, a position at a time or the whole window in one beat."""
    channels, taken = sized(random, 1, 128), kind(random, 1, 8)
    kernel = random.choice(((3, 3), (3, 3), (2, 2), (5, 5), (1, 3), (7, 7)))
    by = random.choice((1, 1, 2)) if kernel[0] == 3 else 1
    image = tuple((size - 1) * by + 1 + between(random, 1, 48) if size > 1 else 1 for size in kernel)
    stride = tuple(random.choice((1, 1, min(2, size))) for size in kernel)
    depthwise, parallel = random.choice((0, 0, 1)), random.choice((0, 0, 1))
    most = max(1, 512 // bits(taken) // (prod(kernel) if parallel else 1))
    simd = lanes(random, channels, most)
    parallel = int(parallel and (depthwise or simd == channels))
    out = [
        (size - (taps - 1) * by - 1) // step + 1
        for size, taps, step in zip(image, kernel, stride, strict=True)
    ]
    attributes = {
        "ConvKernelDim": list(kernel), "IFMChannels": channels, "IFMDim": list(image), "OFMDim": out, "SIMD": simd,
        "Stride": list(stride), "Dilation": [by if size > 1 else 1 for size in kernel], "depthwise": depthwise,
        "parallel_window": parallel, "inputDataType": taken, "outputDataType": taken,
        "ram_style": random.choice(("auto", "distributed", "block")),
    }  # fmt: skip
    return Case("ConvolutionInputGenerator_rtl", [((1, *image, channels), taken)], attributes)


def padding(random: Random) -> Case:
    """FINN's padding of images with zeros."""
    channels, taken = sized(random, 1, 256), kind(random, 1, 8)
    image = [between(random, 2, 64) for _ in range(2)]
    edges = [random.randint(0, 3) for _ in range(4)]
    edges[0] = max(edges[0], 1)
    attributes = {
        "ImgDim": image, "Padding": edges, "NumChannels": channels, "SIMD": lanes(random, channels, 512 // bits(taken)),
        "inputDataType": taken, "numInputVectors": 1,
    }  # fmt: skip
    return Case("FMPadding_rtl", [((1, *image, channels), taken)], attributes)


def fifo(random: Random) -> Case:
    """FINN's FIFO, which chooses its memory by depth and width."""
    width = between(random, 1, 256)
    depth = between(random, 2, random.choice((64, 512, 4096, 20000)))
    attributes = {
        "depth": depth, "folded_shape": [1, 16, 1], "normal_shape": [1, 16], "dataType": f"UINT{width}",
    }  # fmt: skip
    return Case("StreamingFIFO_rtl", [((1, 16, 1), f"UINT{width}")], attributes)


def finn_width_converter(random: Random) -> Case:
    """FINN's own width converter."""
    narrow, wide = between(random, 1, 128), between(random, 2, 64 if random.random() < 0.7 else 8)
    while narrow * wide > BEAT_BITS:
        wide //= 2
    widths = [narrow, narrow * wide]
    if random.random() < 0.2:
        widths = [between(random, 1, 64), between(random, 1, 64)]
        widths[1] += widths[0] == widths[1]
    random.shuffle(widths)
    shape = [1, widths[0] * widths[1]]
    attributes = {
        "inShape": shape,
        "outShape": shape,
        "inWidth": widths[0],
        "outWidth": widths[1],
        "dataType": "BINARY",
    }
    return Case("StreamingDataWidthConverter_rtl", [(shape, "BINARY")], attributes)


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
    "CropRTL": crop,
    "PadRTL": pad,
    "MatMulRTL": mat_mul,
    "ShuffleRTL": shuffle,
    "SoftmaxRTL": softmax,
    "LayerNormRTL": layer_norm,
}
"""How a layer is drawn, by the type of its node."""
