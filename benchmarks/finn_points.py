"""The layers that models of FINN's kernels are calibrated with, drawn at random."""

from __future__ import annotations

from math import prod
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from drawn_parameters import IMAGE, between, bits, kind, lanes, sized, sum_of

from brainsmith.rtl.cores.parallelism import divisors
from brainsmith.rtl.cores.trial import Case, random_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRODUCTS, WEIGHT_BITS = 64, 768
"""How many multipliers a product has at the most, and bits in a beat of its weights."""

BEAT_BITS = 3500
"""How wide a converter's beat is at the most."""


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
    return _thresholds(channels, _lanes(random, channels, steps), np.sort(drawn, axis=1), taken)


def trained_thresholds(random: Random) -> Case:
    """FINN's thresholds as training leaves them: evenly spaced, of similar channels, or the same ones for all."""
    channels, taken = sized(random, 1, 256), kind(random, 5, 20)
    given = min(random.choice((1, 2, 2, 3, 3, 4, 4, 5, 6)), bits(taken) - 2)
    values, held = _trained(random, channels, taken, given)
    return _thresholds(channels, _lanes(random, channels, values.shape[1]), values, taken, held)


def even_thresholds(random: Random) -> Case:
    """FINN's thresholds of a scale that is a power of two: each channel's as far apart as any other's."""
    channels, taken, given = sized(random, 8, 256), random.randint(8, 16), random.randint(2, 6)
    values = _even(random, channels, taken, given)
    return _thresholds(channels, _lanes(random, channels, values.shape[1]), values, f"INT{taken}")


def usual_thresholds(random: Random) -> Case:
    """FINN's thresholds in the sizes that networks have: many channels, powers of two of lanes, few bits or a byte."""
    channels = 2 ** random.randint(4, 9) if random.random() < 0.6 else 16 * random.randint(1, 32)
    taken, given = random.randint(10, 20), random.choice((1, 2, 2, 2, 3, 3, 4, 4, 4, 8))
    if random.random() < 0.5:
        values, datatype = _even(random, channels, taken, given), f"INT{taken}"
        held = datatype
    else:
        datatype = random.choice(("INT", "INT", "UINT")) + str(taken)
        values, held = _trained(random, channels, datatype, given)
    pe = random.choice(
        [2**at for at in range(6) if channels % 2**at == 0 and 2**at * values.shape[1] <= 128] or [1]
    )
    return _thresholds(channels, pe, values, datatype, held)


def _trained(random: Random, channels: int, taken: str, given: int) -> tuple[NDArray[Any], str]:
    """Return thresholds as training leaves them, (channels or 1, steps), and their datatype."""
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
    return values, held


def _even(random: Random, channels: int, taken: int, given: int) -> NDArray[Any]:
    """Return thresholds of so many bits, a power of two apart, (channels, steps)."""
    steps = 2**given - 1
    apart = 2 ** random.randint(0, taken - given - 1)
    most = 2 ** (taken - 1) - apart * steps // 2 - 1
    centres = np.random.default_rng(random.randint(0, 9999)).normal(0, apart * steps / 4, (channels, 1))
    first = np.clip(np.rint(centres), -most, most) - apart * (steps // 2)
    values: NDArray[Any] = first + apart * np.arange(steps)
    return values


def _lanes(random: Random, channels: int, steps: int) -> int:
    return lanes(random, channels, max(1, 128 // steps))


def _thresholds(channels: int, pe: int, values: NDArray[Any], taken: str, held: str = "") -> Case:
    """Return a layer of thresholds, (channels or 1, steps).

    Args:
        channels: Of the layer.
        pe: Lanes.
        values: The thresholds.
        taken: Datatype of the input.
        held: Datatype of the thresholds, if not that of the input.
    """
    steps, held = values.shape[1], held or taken
    attributes = {
        "NumChannels": channels, "PE": pe, "numSteps": steps, "inputDataType": taken, "weightDataType": held,
        "outputDataType": f"UINT{steps.bit_length()}", "ActVal": 0, "numInputVectors": list(IMAGE),
    }  # fmt: skip
    return Case("Thresholding_rtl", [((*IMAGE, channels), taken)], attributes, constants=[(values, held)])


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
