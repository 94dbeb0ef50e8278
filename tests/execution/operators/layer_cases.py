"""The table of QONNX's and FINN's operators: inputs, attributes and edge values, drawn by Hypothesis.

Each entry draws a case: a model of one node, what goes in, and in which way standard ONNX differs. `test_layers.py` runs
all of them as a program, as standard ONNX, and by the operators' own Python.
"""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from hypothesis import strategies as st
from qonnx.core.datatype import DataType
from qonnx.custom_op.general.im2col import compute_conv_output_dim

from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.program.single_node import FINN, QONNX, one_node, whole_numbers

prepare_finn()
import_module(f"{FINN}.reshape")  # enters its class among FINN's operators, which the package alone does not
CHANNELS_LAST = "qonnx.custom_op.channels_last"
F = np.float32


@dataclass
class Case:
    """One node.

    Attributes:
        model: It.
        stacks: What goes in, three runs at least.
        refusal: Why standard ONNX cannot be written; "" if it can.
        finite: Standard ONNX is not asked for what is no number, nor for numbers next to the largest or to 0.
        relative: By how much results of standard ONNX may differ.
        mixed: Whether standard ONNX takes one run at a time.
    """

    model: Any
    stacks: dict[str, Any] = field(default_factory=dict)
    refusal: str = ""
    finite: bool = False
    relative: float = 0.0
    mixed: bool = False


CASES = {}


def case(name):
    """Enter a function that draws a case, of an operator and perhaps more behind a comma (decorator)."""

    def enter(draw_case):
        CASES[name] = draw_case
        return draw_case

    return enter


def no_plan(op_type, domain=FINN):
    return f"operator {op_type} of domain {domain} has no form in standard ONNX"


def seeded(draw):
    return np.random.default_rng(draw(st.integers(0, 10_000)))


def filled(random, kind, shape, runs=3):
    """Return a stack of a datatype's values, its ends among them; of floats, with what is no number."""
    if kind == "FLOAT32":
        values = random.normal(0, 5, (runs, *shape)).astype(F)
        values.reshape(-1)[:4] = [0, np.inf, -np.inf, np.nan]
        return values
    if kind == "BIPOLAR":
        return random.choice([-1, 1], (runs, *shape)).astype(F)
    datatype = DataType[kind]
    return whole_numbers(random, int(datatype.min()), int(datatype.max()), (runs, *shape))


# Quantisers

MODES = st.sampled_from(["ROUND", "HALF_EVEN", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN"])
EDGES = np.array([0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan, 127.5], F)
OPSETS = st.sampled_from([11, 13, 17])


def halves(random, shape, scale=1.0):
    """Return three runs with halves, ends and what is no number."""
    drawn = random.choice([0.25, 1.0, 10.0]) * scale * random.normal(0, 4, (3, *shape)).astype(F)
    stack = np.where(random.random(drawn.shape) < 0.3, np.rint(drawn / scale * 2) / 2 * scale, drawn)
    stack = stack.astype(F).reshape(-1)
    stack[: len(EDGES)] = EDGES[: stack.size]
    return random.permutation(stack).reshape(3, *shape)


def numbers(**stated):
    return {name: np.array(value, F) for name, value in stated.items()}


@case("Quant")
def quant(draw):
    random, shape = seeded(draw), draw(st.sampled_from([(1, 3, 4), (1, 2, 3, 3), (1, 5), (5, 7), (2, 3)]))
    size = (1, shape[1], *(1,) * (len(shape) - 2)) if draw(st.booleans()) else ()
    scale, zero = (random.choice(of, size).astype(F) for of in ([1, 0.25, 0.1, 0.37], [0, 0, 1, -3, 0.5]))
    model = one_node(
        draw(st.sampled_from(["Quant", "IntQuant"])), {"x": shape}, {"y": shape},
        {"s": scale, "z": zero, "b": F(draw(st.integers(1, 32)))}, signed=draw(st.integers(0, 1)),
        narrow=draw(st.integers(0, 1)), rounding_mode=draw(MODES).lower(),
    )  # fmt: skip
    model.model.opset_import[0].version = draw(OPSETS)
    return Case(model, {"x": halves(random, shape)}, finite=True)


@case("BipolarQuant")
def bipolar_quant(draw):
    scale = np.full(draw(st.sampled_from([(1, 3, 1), ()])), draw(st.sampled_from([1.0, 0.5, -0.3])), F)
    model = one_node("BipolarQuant", {"x": (1, 3, 5)}, {"y": (1, 3, 5)}, {"s": scale})
    model.model.opset_import[0].version = draw(OPSETS)
    return Case(model, {"x": halves(seeded(draw), (1, 3, 5))}, finite=True)


@case("Trunc")
def trunc(draw):
    constants = {"s": 0.25, "z": draw(st.sampled_from([0.0, 2.0, 3.0])), "i": 8}
    opset, kept = draw(st.integers(1, 2)), draw(st.integers(1, 8))
    stated = {}
    if opset == 2:
        constants["f"] = 1.0
        stated = {"signed": draw(st.integers(0, 1)), "narrow": draw(st.integers(0, 1))}
    model = one_node(
        "Trunc", {"x": (1, 4, 5)}, {"y": (1, 4, 5)}, numbers(**constants, o=kept), opset=opset,
        rounding_mode=draw(MODES), **stated,
    )  # fmt: skip
    return Case(model, {"x": halves(seeded(draw), (1, 4, 5), 0.25)}, finite=True)


@case("FloatQuant")
def float_quant(draw):
    exponent, mantissa = draw(st.integers(2, 5)), draw(st.integers(0, 4))
    overflow = draw(st.sampled_from(["saturate", "saturate", "inf", "nan"]))
    constants = {"s": draw(st.sampled_from([0.5, 1.0, 0.3])), "e": exponent, "m": mantissa}
    model = one_node(
        "FloatQuant", {"x": (1, 4, 5)}, {"y": (1, 4, 5)}, numbers(**constants, b=2 ** (exponent - 1) - 1, most=240),
        rounding_mode=draw(MODES), saturation=int(overflow == "saturate"), has_inf=int(overflow == "inf"),
        has_nan=int(overflow == "nan"), has_subnormal=0,
    )  # fmt: skip
    x = halves(seeded(draw), (1, 4, 5))
    x[~np.isfinite(x)] = 7  # the logarithm of what is no number differs with NumPy's instruction set
    x[0, 0, 0] = 2.0 ** np.arange(-2, 3)
    x[1, 0, 0] = np.nextafter(x[0, 0, 0], F(0))
    refusal = "" if overflow == "saturate" else "its values become infinite or NaN instead of saturating"
    return Case(model, {"x": x}, refusal, finite=True)


# Thresholds

LAYOUTS = {
    "": (2, 5), "NC": (1, 5), "NWC": (1, 3, 5), "NCHW": (2, 5, 3, 2), "NHWC": (1, 2, 3, 5), "NCW": (1, 5, 70),
}  # fmt: skip


@case("MultiThreshold")
def multi_threshold(draw):
    random, layout = seeded(draw), draw(st.sampled_from(sorted(LAYOUTS)))
    count, whole = draw(st.sampled_from([1, 2, 3, 7, 15, 110, 255])), draw(st.booleans())
    shape, rows, spread = LAYOUTS[layout], draw(st.sampled_from([1, 5])), 30 if whole else 2
    thresholds = random.normal(0, spread, (rows, count)).astype(F)
    if draw(st.booleans()):
        thresholds[:] = np.linspace(-3, 3, count, dtype=F) + random.normal(0, 1, (rows, 1))
    if whole:
        thresholds = np.round(thresholds * 2) / 2
    if count > 2:
        thresholds[0, 1] = thresholds[0, 0]
    worst = draw(st.sampled_from([0, 0, 0, np.inf, -np.inf, np.nan, 1e9]))
    if worst:
        thresholds[0, -1] = worst
    x = filled(random, "INT8", shape) if whole else random.normal(0, 3, (3, *shape)).astype(F)
    if not whole:
        x[0].reshape(-1)[:5] = [0, -0.0, F(1e30), F(-1e-40), thresholds[0, 0]]
        x[1].reshape(-1)[:3] = [np.inf, -np.inf, np.nan]
        reached = random.choice(thresholds.reshape(-1), x[2].shape)
        x[2] = np.where(random.random(reached.shape) < 0.5, reached, 0)
    scaled = draw(st.sampled_from([(1.0, 0.0), (2.0, -1.0), (0.3, 0.7), (-1.0, 0.0), (0.25, -1.5)]))
    model = one_node(
        "MultiThreshold", {"x": shape}, {"y": shape}, {"t": thresholds}, out_dtype="INT32", out_scale=scaled[0],
        out_bias=scaled[1], datatypes={"x": "INT8"} if whole else {}, **({"data_layout": layout} if layout else {}),
    )  # fmt: skip
    model.model.opset_import[0].version = draw(OPSETS)
    return Case(model, {"x": x}, "a threshold is NaN" if np.isnan(worst) else "")


@case("Thresholding")
def thresholding(draw):
    random, shape = seeded(draw), draw(st.sampled_from([(1, 6), (1, 2, 3, 6), (2, 3, 6)]))
    count, bias = draw(st.sampled_from([1, 3, 15])), draw(st.integers(-8, 3))
    kind = "BIPOLAR" if count == 1 and draw(st.booleans()) else "INT8"
    model = one_node(
        "Thresholding", {"x": shape}, {"y": shape}, {"t": np.sort(random.integers(-40, 40, (6, count))).astype(F)},
        domain=FINN, PE=1, NumChannels=6, inputDataType="INT8", weightDataType="INT8", outputDataType=kind,
        ActVal=0 if kind == "BIPOLAR" else bias, numSteps=count, numInputVectors=list(shape[:-1]),
        datatypes={"x": "INT8"} if draw(st.booleans()) else {},
    )  # fmt: skip
    return Case(model, {"x": filled(random, "INT8", shape)})


# Windows, pools and padding

PAIRS = st.tuples(st.integers(1, 3), st.integers(1, 3))
PADS = st.sampled_from([(0, 0, 0, 0), (1, 1, 1, 1), (1, 0, 2, 1)])


def windows_of(size, kernel, stride, dilation=(1, 1), pads=(0, 0, 0, 0)):
    both = (pads[0] + pads[2], pads[1] + pads[3])
    return [
        compute_conv_output_dim(n, k, s, p, d)
        for n, k, s, p, d in zip(size, kernel, stride, both, dilation, strict=True)
    ]


@case("Im2Col")
def im2col(draw):
    size, channels = draw(st.tuples(st.integers(7, 8), st.integers(7, 8))), draw(st.integers(1, 6))
    kernel, stride, dilation, pads = draw(PAIRS), draw(PAIRS), draw(PAIRS), draw(PADS)
    shape, out = (1, *size, channels), windows_of(size, kernel, stride, dilation, pads)
    model = one_node(
        "Im2Col", {"x": shape}, {"y": (1, *out, channels * kernel[0] * kernel[1])}, kernel_size=kernel, stride=stride,
        dilations=dilation, input_shape=str(shape), pad_amount=pads, pad_value=draw(st.sampled_from([0, 3])),
        datatypes={"x": "INT4", "y": "INT4"},
    )  # fmt: skip
    return Case(model, {"x": filled(seeded(draw), "INT4", shape)})


@case("ConvolutionInputGenerator")
def sliding_window(draw):
    kernel, stride, channels = draw(PAIRS), draw(PAIRS), draw(st.sampled_from([1, 4, 6]))
    backend, lanes = draw(st.sampled_from(["", "rtl"])), draw(st.sampled_from([1, 2])) if channels > 1 else 1
    dilation = (1, 1) if backend else draw(PAIRS)
    out = windows_of((7, 8), kernel, stride, dilation)
    model = one_node(
        "ConvolutionInputGenerator" + "_rtl" * bool(backend), {"x": (1, 7, 8, channels)},
        {"y": (1, *out, channels * kernel[0] * kernel[1])}, domain=FINN + ".rtl" * bool(backend), ConvKernelDim=kernel,
        IFMChannels=channels, IFMDim=[7, 8], OFMDim=out, SIMD=lanes, M=1, Stride=stride, Dilation=dilation,
        inputDataType="INT4", outputDataType="INT4", datatypes={"x": "INT4"}, backend="fpgadataflow",
        depthwise=draw(st.integers(0, 1)), **({"exec_mode": "cppsim"} if backend else {}),
    )  # fmt: skip
    return Case(model, {"x": filled(seeded(draw), "INT4", (1, 7, 8, channels))})


def pool_node(
    function, size=0, kernel=(2, 2), channels=4, lanes=2, backend="", kinds=("INT4", "INT8"), **attributes
):
    return one_node(
        "Pool" + (f"_{backend}" if backend else ""), {"x": (1, 3, 2, channels * kernel[0] * kernel[1])},
        {"y": (1, 3, 2, channels)}, domain=FINN + (f".{backend}" if backend else ""), Function=function,
        Channels=channels, PE=lanes, KernelSize=kernel, OutImgDims=[3, 2], InputDataType=kinds[0],
        OutputDataType=kinds[1], Size=size, datatypes={"x": kinds[0]}, backend="fpgadataflow", BatchSize=1, **attributes,
    )  # fmt: skip


@case("Pool")
def pool(draw):
    function, kernel = draw(st.sampled_from(["MaxPool", "AccPool", "AvgPool"])), draw(PAIRS)
    kind = draw(st.sampled_from(["INT4", "FLOAT32"]))
    model = pool_node(function, kernel=kernel, kinds=(kind, "INT8" if kind == "INT4" else kind))
    x = filled(seeded(draw), kind, (1, 3, 2, 4 * kernel[0] * kernel[1]))
    rounds = function == "AvgPool" or (kind == "FLOAT32" and function != "MaxPool")
    return Case(model, {"x": x}, finite=True, relative=1e-6 if rounds else 0)


@case("MaxPoolNHWC")
def max_pool_nhwc(draw):
    kernel, strides, ceil = draw(PAIRS), draw(PAIRS), draw(st.booleans())
    stated = draw(st.sampled_from([(0, 0), (1, 1), (0, 1)]))
    pads = tuple(min(pad, size - 1) for pad, size in zip(stated, kernel, strict=True))
    outputs = [
        int((np.ceil if ceil else np.floor)((size + 2 * pad - k) / step + 1))
        for size, pad, k, step in zip((7, 6), pads, kernel, strides, strict=True)
    ]
    if any((out - 1) * s >= n + p for out, s, n, p in zip(outputs, strides, (7, 6), pads, strict=True)):
        return None  # a window that begins behind the image: ONNX Runtime drops it, and QONNX's shape has it
    model = one_node(
        "MaxPoolNHWC", {"x": (1, 7, 6, 3)}, {"y": (1, *outputs, 3)}, kernel_shape=kernel, strides=strides,
        pads=[*pads, *pads], ceil_mode=int(ceil), datatypes={"x": "INT4"},
    )  # fmt: skip
    return Case(model, {"x": filled(seeded(draw), "INT4", (1, 7, 6, 3))})


@case("QuantAvgPool2d")
def quantised_mean(draw):
    kernel, stride, last = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.booleans())
    kind, side = draw(st.sampled_from(["INT4", "UINT4", "INT8", "UINT1"])), (8 - kernel) // stride + 1
    shapes = [(1, 8, 8, 3), (1, side, side, 3)] if last else [(1, 3, 8, 8), (1, 3, side, side)]
    model = one_node(
        "QuantAvgPool2d", {"x": shapes[0]}, {"y": shapes[1]}, kernel=kernel, stride=stride,
        ibits=DataType[kind].bitwidth(), obits=draw(st.integers(2, 8)), signed=int(kind.startswith("INT")),
        data_layout="NHWC" if last else "NCHW", datatypes={"x": kind},
    )  # fmt: skip
    return Case(model, {"x": filled(seeded(draw), kind, shapes[0])})


@case("GlobalAccPool")
def global_sum(draw):
    kind = draw(st.sampled_from(["INT8", "FLOAT32"]))
    model = one_node(
        "GlobalAccPool", {"x": (1, 5, 4, 6)}, {"y": (1, 1, 1, 6)}, domain=FINN, NumChannels=6, PE=1,
        inputDataType=kind, numInputVectors=[1, 5, 4], datatypes={"x": kind},
    )  # fmt: skip
    x = filled(seeded(draw), "INT8", (1, 5, 4, 6))
    return Case(model, {"x": x if kind == "INT8" else x / F(7)}, relative=0 if kind == "INT8" else 1e-6)


@case("FMPadding")
def padding(draw):
    pads = draw(st.sampled_from([[1, 2, 0, 3], [0, 0, 0, 0], [1, 0, 2, 2]]))
    model = one_node(
        "FMPadding", {"x": (1, 4, 5, 3)}, {"y": (1, 4 + pads[0] + pads[2], 5 + pads[1] + pads[3], 3)}, domain=FINN,
        ImgDim=[4, 5], Padding=pads, NumChannels=3, SIMD=1, inputDataType="UINT4",
        datatypes={"x": "UINT4", "y": "UINT4"},
    )  # fmt: skip
    return Case(model, {"x": filled(seeded(draw), "UINT4", (1, 4, 5, 3))})


@case("FMPadding_Pixel")
def padding_between_pixels(draw):
    stride = draw(st.sampled_from([(1, 1), (2, 3)]))
    model = one_node(
        "FMPadding_Pixel", {"x": (1, 4, 5, 3)}, {"y": (1, 1 + 3 * stride[0], 1 + 4 * stride[1], 3)}, domain=FINN,
        ImgDim=[4, 5], Stride=stride, NumChannels=3, SIMD=1, inputDataType="INT4", datatypes={"x": "INT4"},
    )  # fmt: skip
    return Case(model, {"x": filled(seeded(draw), "INT4", (1, 4, 5, 3))}, no_plan("FMPadding_Pixel"))


# Channels last


@case("Conv, channels last")
def conv(draw):
    random, pads, group = seeded(draw), draw(PADS), draw(st.sampled_from([1, 4]))
    constants = {"w": filled(random, "INT4", (8, 3, 2, 4 // group))[0]}
    if draw(st.booleans()):
        constants["b"] = filled(random, "INT4", (8,))[0]
    model = one_node(
        "Conv", {"x": (1, 6, 7, 4)}, {"y": (1, *windows_of((6, 7), (3, 2), (1, 2), pads=pads), 8)}, constants,
        domain=CHANNELS_LAST, opset=13, kernel_shape=[3, 2], strides=[1, 2], pads=pads, dilations=[1, 1], group=group,
        datatypes={"x": "INT4"},
    )  # fmt: skip
    return Case(model, {"x": filled(random, "INT4", (1, 6, 7, 4))})


@case("MaxPool, channels last")
def max_pool(draw):
    pads = draw(st.sampled_from([[0, 0, 0, 0], [1, 1, 1, 1]]))
    model = one_node(
        "MaxPool", {"x": (1, 6, 7, 4)}, {"y": (1, *windows_of((6, 7), (2, 2), (2, 2), pads=pads), 4)},
        domain=CHANNELS_LAST, opset=13, kernel_shape=[2, 2], strides=[2, 2], pads=pads, datatypes={"x": "INT4"},
    )  # fmt: skip
    return Case(model, {"x": filled(seeded(draw), "INT4", (1, 6, 7, 4))})


@case("BatchNormalization, channels last")
def batch_normalisation(draw):
    random = seeded(draw)
    model = one_node(
        "BatchNormalization", {"x": (1, 6, 7, 4)}, {"y": (1, 6, 7, 4)},
        {name: random.uniform(0.5, 2, 4).astype(F) for name in "sbmv"}, domain=CHANNELS_LAST, opset=9, epsilon=1e-3,
        momentum=0.9,
    )  # fmt: skip
    return Case(model, {"x": filled(random, "INT4", (1, 6, 7, 4)) / F(3)})


# Element by element

NAMES = [
    "AbsDiff", "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater",
    "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mul", "Or", "Sub", "Xor",
]  # fmt: skip
OF_FLOATS = ("Add", "Sub", "Mul", "Div", "Max", "AbsDiff", "Less")
IN_ONNX = ("Add", "Sub", "Mul")


def elementwise_node(name, shapes, kinds, constant=None, **attributes):
    given = dict(zip("ab", shapes, strict=True))
    if constant is not None:
        del given["b"]
    out = np.broadcast_shapes(*shapes)
    return one_node(
        f"Elementwise{name}", given, {"y": out}, {} if constant is None else {"b": constant}, domain=FINN,
        lhs_shape=shapes[0], rhs_shape=shapes[1], out_shape=out, lhs_dtype=kinds[0], rhs_dtype=kinds[1],
        out_dtype="FLOAT32", lhs_style="input", rhs_style="input" if constant is None else "const", PE=1,
        datatypes=dict(zip("ab", kinds, strict=True)), **attributes,
    )  # fmt: skip


def elementwise(name):
    def draw_case(draw):
        random, stated = seeded(draw), {}
        kinds = draw(st.tuples(*[st.sampled_from(["INT4", "UINT3", "INT20", "INT30"])] * 2))
        if name in OF_FLOATS and draw(st.booleans()):
            kinds = (draw(st.sampled_from(["INT4", "FLOAT32"])), "FLOAT32")
        if name == "BitShift":
            kinds, stated = ("INT8", "UINT3"), {"direction": draw(st.sampled_from(["LEFT", "RIGHT"]))}
        right = draw(st.sampled_from([(4,), (1, 3, 4)]))
        a, b = filled(random, kinds[0], (1, 3, 4)), filled(random, kinds[1], right)
        constant = b[0] if right == (4,) and "FLOAT32" not in kinds and draw(st.booleans()) else None
        model = elementwise_node(name, [(1, 3, 4), right], kinds, constant, **stated)
        refusal = "" if name in IN_ONNX else no_plan(f"Elementwise{name}")
        limits = [
            max(abs(int(kind.min())), abs(int(kind.max())))
            for kind in map(DataType.__getitem__, kinds)
            if kind.is_integer()
        ]
        if constant is not None:
            limits[1] = int(np.abs(constant).max())
        largest = {"Mul": np.prod(limits), "Add": sum(limits), "Sub": sum(limits)}.get(name, 0)
        if not refusal and len(limits) == 2 and largest >= 1 << 24:
            refusal = "where float32 is not exact"
        stacks = {"a": a} if constant is not None else {"a": a, "b": b}
        return Case(model, stacks, refusal, mixed=right == (4,) and constant is None)

    return draw_case


CASES |= {f"Elementwise{name}": elementwise(name) for name in NAMES}


@case("HWWhere")
def where(draw):
    random, kinds = seeded(draw), {"c": "BINARY", "a": "INT4", "b": "INT4"}
    model = one_node(
        "HWWhere", dict.fromkeys(kinds, (1, 3, 4)), {"y": (1, 3, 4)}, domain=FINN, Shape=[1, 3, 4],
        conditionDataType="BINARY", inputDataType="INT4", outputDataType="INT4", datatypes=kinds,
    )  # fmt: skip
    stacks = {name: filled(random, kind, (1, 3, 4)) for name, kind in kinds.items()}
    return Case(model, stacks, no_plan("HWWhere"))


@case("Requant")
def requant(draw):
    random, size = seeded(draw), draw(st.sampled_from([(4,), (1,)]))
    constants = {"s": random.uniform(0.01, 0.3, size).astype(F), "b": random.integers(-3, 3, size).astype(F)}
    model = one_node(
        "Requant", {"x": (1, 3, 4)}, {"y": (1, 3, 4)}, constants, domain=FINN, inputDataType="INT8", NumChannels=4, PE=1,
        outputDataType=draw(st.sampled_from(["INT4", "UINT8"])), narrow=draw(st.integers(0, 1)), numInputVectors=[1, 3],
        datatypes={"x": "INT8"},
    )  # fmt: skip
    return Case(model, {"x": filled(random, "INT8", (1, 3, 4))}, no_plan("Requant"))


@case("LabelSelect")
def labels(draw):
    count, kind = draw(st.integers(1, 6)), draw(st.sampled_from(["INT2", "INT8"]))
    model = one_node(
        "LabelSelect", {"x": (1, 6)}, {"y": (1, count)}, domain=FINN, Labels=6, PE=1, K=count, inputDataType=kind,
        outputDataType="UINT3", numInputVectors=[1], datatypes={"x": kind, "y": "UINT3"},
    )  # fmt: skip
    x = filled(seeded(draw), kind, (1, 6))
    x[1, 0] = 1  # all alike: the first counts
    return Case(model, {"x": x})


# Products

KINDS = st.sampled_from(["INT4", "UINT3", "BIPOLAR"])
STEPS = st.sampled_from([0, 1, 3, 15])


def mvau_node(random, vectors, kinds, steps, width=20, height=6, xnor=False, bipolar=False, single=False):
    constants = {"w": filled(random, "BINARY" if xnor else kinds[1], (width, height))[0]}
    output = "INT32"
    if steps:
        rows = 1 if single else height
        constants["t"] = np.sort(random.integers(-30, 30, (rows, steps)), axis=1).astype(F)
        output = "BIPOLAR" if bipolar else "INT8"
    given = "BINARY" if xnor else kinds[0]
    return one_node(
        "MVAU", {"x": (*vectors, width)}, {"y": (*vectors, height)}, constants, domain=FINN, MW=width, MH=height, SIMD=1,
        PE=1, inputDataType=given, weightDataType="BINARY" if xnor else kinds[1], outputDataType=output, ActVal=-2,
        binaryXnorMode=int(xnor), noActivation=int(not steps), numInputVectors=list(vectors), datatypes={"x": given},
    )  # fmt: skip


@case("MVAU")
def mvau(draw):
    random, steps, xnor = seeded(draw), draw(STEPS), draw(st.booleans())
    kinds, vectors = draw(st.tuples(KINDS, KINDS)), (1,) if xnor else draw(st.sampled_from([(1,), (1, 3, 2)]))
    bipolar = steps == 1 and not xnor and draw(st.booleans())
    model = mvau_node(random, vectors, kinds, steps, xnor=xnor, bipolar=bipolar, single=draw(st.booleans()))
    return Case(model, {"x": filled(random, "BINARY" if xnor else kinds[0], (*vectors, 20))})


@case("XnorPopcountMatMul")
def xnor_popcount(draw):
    random, terms, results = seeded(draw), draw(st.integers(1, 40)), draw(st.integers(1, 6))
    shape = draw(st.sampled_from([(1, terms), (2, terms), (2, 3, terms)]))
    model = one_node(
        "XnorPopcountMatMul", {"x": shape}, {"y": (*shape[:-1], results)},
        {"w": filled(random, "BINARY", (terms, results))[0]}, domain=QONNX,
        datatypes={"x": "BINARY", "w": "BINARY"} if draw(st.booleans()) else {},
    )  # fmt: skip
    return Case(model, {"x": filled(random, "BINARY", shape)})


@case("VVAU")
def vvau(draw):
    random, steps, kinds = seeded(draw), draw(STEPS), draw(st.tuples(KINDS, KINDS))
    constants = {"k": filled(random, kinds[1], (4, 1, 3, 2))[0]}
    if steps:
        constants["t"] = np.sort(random.integers(-30, 30, (4, steps)), axis=1).astype(F)
    model = one_node(
        "VVAU", {"w": (1, 4, 5, 24)}, {"y": (1, 4, 5, 4)}, constants, domain=FINN, PE=draw(st.sampled_from([1, 2, 4])),
        Dim=[4, 5], Kernel=(3, 2), Channels=4, inputDataType=kinds[0], weightDataType=kinds[1],
        outputDataType="INT8" if steps else "INT32", ActVal=-1, noActivation=int(not steps), datatypes={"w": kinds[0]},
    )  # fmt: skip
    return Case(model, {"w": filled(random, kinds[0], (1, 4, 5, 24))})


@case("MatMulKernel")
def mat_mul(draw):
    random, kind = seeded(draw), draw(st.sampled_from(["INT4", "INT16", "FLOAT32"]))
    shapes = draw(st.sampled_from([((2, 3, 8), (8, 5)), ((2, 3, 8), (2, 8, 5)), ((1, 2, 3, 8), (8, 5))]))
    model = one_node(
        "MatMulKernel", dict(zip("ab", shapes, strict=True)), {"y": (*shapes[0][:-1], shapes[1][-1])},
        domain="brainsmith.kernels", lhs_shape=shapes[0], rhs_shape=shapes[1], lhsDataType=kind, rhsDataType=kind,
        outputDataType="INT32", datatypes={"a": kind, "b": kind},
    )  # fmt: skip
    stacks = {
        name: random.normal(0, 1, (3, *shape)).astype(F) if kind == "FLOAT32" else filled(random, kind, shape)
        for name, shape in zip("ab", shapes, strict=True)
    }
    mixed = len(shapes[1]) == 2
    return Case(model, stacks, relative=1e-6 if kind == "FLOAT32" else 0, mixed=mixed)
