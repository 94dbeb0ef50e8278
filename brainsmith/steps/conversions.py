"""Which transform turns which operators into hardware layers, in the order in which they must run.

The order is FINN's: a conversion that would take an operator from a better one comes after it.
"""

from __future__ import annotations

from typing import NamedTuple


class Conversion(NamedTuple):
    """Operators, and the transform that makes hardware layers of them (a plugin's qualified name)."""

    op_types: tuple[str, ...]
    transform: str


THRESHOLDS = (
    Conversion(("MultiThreshold", "Quant"), "finn:InferRequantLayer"),
    Conversion(("MultiThreshold",), "finn:InferThresholdingLayer"),
)
"""Run before the matrix products when thresholds are to stay layers of their own, as RTL wants them."""

PRODUCTS = (
    Conversion(("XnorPopcountMatMul",), "finn:InferBinaryMatrixVectorActivation"),
    Conversion(("MatMul",), "finn:InferQuantizedMatrixVectorActivation"),
    Conversion(("MatMul",), "finn:InferVectorVectorActivation"),
    Conversion(("TopK",), "finn:InferLabelSelectLayer"),
)

STREAMS = (
    Conversion(("Pad",), "brainsmith:InferPad"),
    Conversion(("Im2Col", "MaxPoolNHWC"), "brainsmith:CropBetweenWindows"),
    Conversion(("MaxPool", "AveragePool", "MaxPoolNHWC", "QuantAvgPool2d"), "finn:InferPool"),
    Conversion(("ReduceMax", "ReduceSum", "ReduceMean"), "finn:InferPoolFromReduce"),
    Conversion(("Im2Col",), "brainsmith:PadWindows"),
    Conversion(("Im2Col",), "finn:InferConvInpGen"),
    Conversion(("ConvolutionInputGenerator",), "finn:RemoveCNVtoFCFlatten"),
    Conversion(("Concat",), "finn:InferPad1DLayer"),
    Conversion(("Concat",), "finn:InferConcatLayer"),
    Conversion(("Split",), "finn:InferSplitLayer"),
)

ELEMENTWISE = (
    "Mul",
    "Div",
    "Sub",
    "Add",
    "And",
    "Or",
    "Xor",
    "Equal",
    "Less",
    "LessOrEqual",
    "Greater",
    "GreaterOrEqual",
    "Max",
)

OTHERS = (
    Conversion(("Where",), "finn:InferWhereLayer"),
    Conversion(("Relu",), "finn:InferReLUAsElementwiseMax"),
    Conversion(("Upsample", "Resize"), "finn:InferUpsample"),
    Conversion(("GlobalAveragePool",), "finn:InferGlobalAccPoolLayer"),
    Conversion(("Gather",), "finn:InferSelectTokenLayer"),
    Conversion(("Gather", "Crop"), "finn:InferCrop"),
    Conversion(("Gather",), "finn:InferLookupLayer"),
    Conversion(("Softmax",), "finn:InferHWSoftmax"),
    Conversion(("PWPolyF", "Gelu", "Sigmoid", "Tanh", "Erf"), "finn:InferPWPolyFLayer"),
    Conversion(("LayerNormalization",), "finn:InferLayerNorm"),
)

ABSORBED = (
    "ArgMax",
    "BatchNormalization",
    "Conv",
    "ConvTranspose",
    "DepthToSpace",
    "Dropout",
    "Flatten",
    "Gemm",
    "GlobalMaxPool",
    "Identity",
    "Im2Col",
    "Reshape",
    "Sign",
    "Slice",
    "SpaceToDepth",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
)
"""Operators that earlier steps lower to others, absorb or remove."""

RISING = ("Clip", "Elu", "HardSigmoid", "LeakyRelu", "Neg", "Selu", "Softplus")
"""Functions of one value that rise or fall all along: in front of a quantiser they become its thresholds,
and a factor of -1 where they fall."""

TABLED = (
    "Abs", "Acos", "Asin", "Atan", "Ceil", "Celu", "Cos", "Exp", "Floor", "HardSwish", "Log", "Min", "Mish", "Pow",
    "Reciprocal", "Round", "Sin", "Softsign", "Sqrt", "ThresholdedRelu",
)  # fmt: skip
"""Functions of one value that the step `integer` computes for every integer in front of a quantiser."""

QUANTISERS = (
    "Quant", "IntQuant", "BipolarQuant", "BinaryQuant", "Trunc", "MultiThreshold", "QuantizeLinear", "DequantizeLinear"
)  # fmt: skip


def convertible_op_types() -> frozenset[str]:
    """Return every operator that the steps of this project can bring into hardware."""
    tables = (THRESHOLDS, PRODUCTS, STREAMS, OTHERS)
    converted = (op_type for table in tables for conversion in table for op_type in conversion.op_types)
    return frozenset((*converted, *ELEMENTWISE, *ABSORBED, *RISING, *TABLED, *QUANTISERS))
