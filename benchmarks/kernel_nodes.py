"""One node of each of this project's RTL backends, by the sizes that matter."""

from __future__ import annotations

import numpy as np

from brainsmith.rtl.cores.trial import Case, random_values

OURS = "brainsmith.backends.rtl"
"""The domain of the nodes of this project's own kernels."""

Shape = tuple[int, ...]


def duplicate_streams(channels: int, pe: int, outputs: int, kind: str, vectors: Shape) -> Case:
    """One stream given to several."""
    attributes = {
        "NumChannels": channels, "PE": pe, "NumOutputStreams": outputs, "inputDataType": kind,
        "numInputVectors": list(vectors),
    }  # fmt: skip
    return Case("DuplicateStreams_rtl", [((*vectors, channels), kind)], attributes, outputs=outputs)


def elementwise(
    operation: str, shape: Shape, kind: str, out: str, pe: int, constant: Shape | None = None
) -> Case:
    """Two streams of one shape, or a stream and a constant."""
    attributes = {
        "lhs_shape": shape, "rhs_shape": constant or shape, "out_shape": shape, "lhs_style": "input",
        "rhs_style": "const" if constant else "input", "lhs_dtype": kind, "rhs_dtype": kind, "out_dtype": out, "PE": pe,
    }  # fmt: skip
    if constant is None:
        return Case(f"Elementwise{operation}Int_rtl", [(shape, kind)] * 2, attributes)
    stored = [(random_values(np.random.default_rng(0), kind, constant), kind)]
    return Case(f"Elementwise{operation}Int_rtl", [(shape, kind)], attributes, constants=stored)


def bipolar_thresholding(channels: int, pe: int, kind: str, vectors: Shape) -> Case:
    """One of two levels for each channel."""
    attributes = {
        "NumChannels": channels, "PE": pe, "numSteps": 3, "inputDataType": "BIPOLAR", "weightDataType": "INT3",
        "outputDataType": kind, "ActVal": 0, "numInputVectors": list(vectors),
    }  # fmt: skip
    thresholds = np.sort(np.random.default_rng(0).integers(-2, 3, (channels, 3)), axis=1)
    fed = [((*vectors, channels), "BIPOLAR")]
    return Case("BipolarThresholding_rtl", fed, attributes, constants=[(thresholds, "INT3")])


def streaming_concat(channels: list[int], kinds: list[str], simd: int, vectors: Shape) -> Case:
    """Streams joined along their last axis."""
    attributes = {
        "ChannelsPerStream": channels, "inputDataTypes": kinds, "SIMD": simd, "numInputVectors": list(vectors),
    }  # fmt: skip
    fed = [((*vectors, count), kind) for count, kind in zip(channels, kinds, strict=True)]
    return Case("StreamingConcat_rtl", fed, attributes)


def streaming_split(channels: list[int], kind: str, simd: int, vectors: Shape) -> Case:
    """A stream split along its last axis."""
    attributes = {
        "ChannelsPerStream": channels, "inputDataType": kind, "SIMD": simd, "numInputVectors": list(vectors),
    }  # fmt: skip
    fed = [((*vectors, sum(channels)), kind)]
    return Case("StreamingSplit_rtl", fed, attributes, outputs=len(channels))


def lookup(bits: int, width: int, kind: str, shape: Shape, ram_style: str = "block") -> Case:
    """A table with a row for each index."""
    attributes = {
        "NumEmbeddings": 2**bits, "EmbeddingDim": width, "EmbeddingType": kind, "InputType": f"UINT{bits}",
        "InputShape": list(shape), "ram_style": ram_style,
    }  # fmt: skip
    table = random_values(np.random.default_rng(0), kind, (2**bits, width))
    return Case("Lookup_rtl", [(shape, f"UINT{bits}")], attributes, constants=[(table, kind)])


def pool(
    function: str, channels: int, pe: int, window: Shape, size: Shape, kind: str, given: str = ""
) -> Case:
    """The greatest value or the sum of each window."""
    attributes = {
        "Function": function, "Channels": channels, "PE": pe, "KernelSize": list(window), "OutImgDims": list(size),
        "InputDataType": kind, "OutputDataType": given or kind, "BatchSize": 1,
    }  # fmt: skip
    return Case("Pool_rtl", [((1, *size, window[0] * window[1] * channels), kind)], attributes)


def global_acc_pool(channels: int, pe: int, vectors: Shape, kind: str) -> Case:
    """The sum of each channel of an image."""
    attributes = {"NumChannels": channels, "PE": pe, "inputDataType": kind, "numInputVectors": list(vectors)}
    return Case("GlobalAccPool_rtl", [((*vectors, channels), kind)], attributes)


def upsample(channels: int, simd: int, size: Shape, scale: Shape, kind: str) -> Case:
    """Each pixel several times."""
    (height, width), (high, wide) = size, scale
    attributes = {
        "NumChannels": channels, "SIMD": simd, "HI": height, "WI": width, "HO": high * height, "WO": wide * width,
        "inputDataType": kind, "batchSize": 1,
    }  # fmt: skip
    return Case("UpsampleNearestNeighbour_rtl", [((1, height, width, channels), kind)], attributes)


def width_converter(taken: int, given: int, shape: Shape, bits: int) -> Case:
    """Values in other beats."""
    sizes, kind = [1, *shape], f"INT{bits}"
    attributes = {
        "inShape": sizes, "outShape": sizes, "inWidth": taken * bits, "outWidth": given * bits, "dataType": kind,
    }  # fmt: skip
    return Case("StreamingDataWidthConverterAny_rtl", [(tuple(sizes), kind)], attributes)


def label_select(labels: int, pe: int, k: int, kind: str) -> Case:
    """Where the greatest values are."""
    attributes = {"Labels": labels, "PE": pe, "K": k, "inputDataType": kind, "numInputVectors": [1]}
    return Case("LabelSelect_rtl", [((1, labels), kind)], attributes)


def binary_mvau(width: int, height: int, simd: int, pe: int, kind: str, given: str) -> Case:
    """A product with weights of 1 bit; inputs of 1 bit are counted."""
    xnor = kind == "BINARY"
    weights = kind if xnor else "BIPOLAR"
    attributes = {
        "MW": width, "MH": height, "SIMD": simd, "PE": pe, "inputDataType": kind, "weightDataType": weights,
        "outputDataType": given, "noActivation": 1, "binaryXnorMode": int(xnor), "mem_mode": "internal_embedded",
        "numInputVectors": [1],
    }  # fmt: skip
    values = random_values(np.random.default_rng(0), weights, (width, height))
    return Case("BinaryMVAU_rtl", [((1, width), kind)], attributes, constants=[(values, weights)])


def embedded_vvau(
    channels: int, window: Shape, simd: int, pe: int, size: Shape, kind: str, held: str, given: str
) -> Case:
    """The products of windows with weights of the same channel."""
    attributes = {
        "Channels": channels, "Kernel": list(window), "SIMD": simd, "PE": pe, "Dim": list(size), "noActivation": 1,
        "inputDataType": kind, "weightDataType": held, "outputDataType": given,
    }  # fmt: skip
    values = random_values(np.random.default_rng(0), held, (channels, 1, *window))
    fed = (1, *size, window[0] * window[1] * channels)
    return Case("EmbeddedVVAU_rtl", [(fed, kind)], attributes, constants=[(values, held)])


def embedded_mvau(width: int, height: int, simd: int, pe: int, kind: str, held: str, given: str) -> Case:
    """A product with a matrix of any integers."""
    attributes = {
        "MW": width, "MH": height, "SIMD": simd, "PE": pe, "inputDataType": kind, "weightDataType": held,
        "outputDataType": given, "noActivation": 1, "numInputVectors": [1],
    }  # fmt: skip
    values = random_values(np.random.default_rng(0), held, (width, height))
    return Case("EmbeddedMVAU_rtl", [((1, width), kind)], attributes, constants=[(values, held)])


def crop(shape: Shape, starts: Shape, sizes: Shape, simd: int, kind: str) -> Case:
    """A part of a tensor."""
    attributes = {
        "in_shape": shape, "starts": starts, "sizes": sizes, "out_shape": sizes, "SIMD": simd, "inputDataType": kind,
    }  # fmt: skip
    return Case("CropRTL", [(shape, kind)], attributes, domain=OURS)


def pad(shape: Shape, before: Shape, after: Shape, value: int, simd: int, kind: str) -> Case:
    """A tensor with a value around it, which its datatype holds."""
    out = tuple(low + size + high for low, size, high in zip(before, shape, after, strict=True))
    attributes = {
        "in_shape": shape, "within_shape": shape, "before": before, "after": after, "value": value, "out_shape": out,
        "SIMD": simd, "inputDataType": kind, "outputDataType": kind,
    }  # fmt: skip
    return Case("PadRTL", [(shape, kind)], attributes, domain=OURS)


def mat_mul(lhs: Shape, rhs: Shape, pe: int, simd: int, kind: str, given: str) -> Case:
    """The product of two streams."""
    attributes = {
        "lhs_shape": lhs, "rhs_shape": rhs, "PE": pe, "SIMD": simd, "lhsDataType": kind, "rhsDataType": kind,
        "outputDataType": given,
    }  # fmt: skip
    return Case("MatMulRTL", [(lhs, kind), (rhs, kind)], attributes, domain=OURS)


def shuffle(shape: Shape, perm: Shape, simd: int, kind: str) -> Case:
    """A transposed tensor."""
    attributes = {
        "in_shape": shape, "transpose_in_shape": shape, "perm": perm, "SIMD": simd, "inputDataType": kind,
        "out_shape": [shape[axis] for axis in perm],
    }  # fmt: skip
    return Case("ShuffleRTL", [(shape, kind)], attributes, domain=OURS)


def softmax(size: int, simd: int, kind: str, rows: int, fraction: int = 8) -> Case:
    """Rows whose exponentials are divided by their sum."""
    attributes = {
        "ifm_dim": [rows, size], "NumChannels": size, "SIMD": simd, "scale": 0.05, "input_data_type": kind,
        "outputDataType": f"UINT{fraction}", "fraction_bits": fraction,
    }  # fmt: skip
    return Case("SoftmaxRTL", [((rows, size), kind)], attributes, domain=OURS)


def layer_norm(size: int, simd: int, kind: str, given: str, rows: int, fraction: int = 8) -> Case:
    """Rows less their mean, divided by their deviation."""
    attributes = {
        "ifm_dim": [rows, size], "SIMD": simd, "epsilon": 1e-3, "inputDataType": kind, "outputDataType": given,
        "fraction_bits": fraction,
    }  # fmt: skip
    return Case("LayerNormRTL", [((rows, size), kind)], attributes, domain=OURS)
