"""The nodes that benchmarks/lowerings.py measures, each of a usual size, as models of one node."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

QONNX, FINN, OURS = "qonnx.custom_op.general", "finn.custom_op.fpgadataflow", "brainsmith.kernels"
RANDOM = np.random.default_rng(0)
FIRST, LAST, WINDOWS = (1, 32, 16, 16), (1, 16, 16, 32), (1, 14, 14, 288)
Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def single(
    op_type: str,
    given: Shape,
    wanted: Shape,
    kind: str,
    *constants: Array,
    domain: str = QONNX,
    **attributes: Any,
) -> ModelWrapper:
    """Return a model of one node whose input `x` has a datatype."""
    names = [f"c{at}" for at in range(len(constants))]
    node = helper.make_node(op_type, ["x", *names], ["y"], name=op_type, domain=domain, **attributes)
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", given), ("y", wanted))]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    graph = helper.make_graph([node], "single", ends[:1], ends[1:])
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=10))
    for name, value in zip(names, constants, strict=True):
        model.set_initializer(name, np.asarray(value, np.float32))
    model.set_tensor_datatype("x", DataType[kind])
    return model


def whole(low: int, high: int, *shape: int) -> Array:
    """Draw whole numbers."""
    return RANDOM.integers(low, high, shape, endpoint=True).astype(np.float32)


def rows(channels: int, count: int, spread: float) -> Array:
    """Draw sorted thresholds."""
    return np.sort(RANDOM.normal(0, spread, (channels, count)), axis=1)


def quantisers() -> dict[str, ModelWrapper]:
    """Return QONNX's."""

    def quant(scale: Array) -> ModelWrapper:
        constants = (scale, np.array(0), np.array(4))
        return single("Quant", FIRST, FIRST, "FLOAT32", *constants, signed=1, narrow=0, rounding_mode="ROUND")

    def counted(thresholds: Array) -> ModelWrapper:
        return single("MultiThreshold", FIRST, FIRST, "FLOAT32", thresholds, out_dtype="UINT8")

    return {
        "Quant, one scale": quant(np.array(0.1)),
        "Quant, scale per channel": quant(RANDOM.uniform(0.1, 1, (1, 32, 1, 1))),
        "BipolarQuant": single("BipolarQuant", FIRST, FIRST, "FLOAT32", np.array(1)),
        "MultiThreshold, 3 of floats": counted(rows(32, 3, 1)),
        "MultiThreshold, 15 of floats": counted(rows(32, 15, 1)),
        "MultiThreshold, 255 even, of floats": counted(np.linspace(-4, 4, 255)[None]),
        "Thresholding, 15 of INT12": single(
            "Thresholding", LAST, LAST, "INT12", rows(32, 15, 500).round(), domain=FINN, PE=1, NumChannels=32, numSteps=15,
            inputDataType="INT12", weightDataType="INT12", numInputVectors=[1, 16, 16], ActVal=0, outputDataType="UINT4",
        ),
    }  # fmt: skip


def images() -> dict[str, ModelWrapper]:
    """Return windows, pooling, padding."""
    return {
        "Im2Col": single(
            "Im2Col", LAST, (1, 16, 16, 288), "INT4", kernel_size=[3, 3], stride=[1, 1], input_shape=str(LAST),
            pad_amount=[1, 1, 1, 1],
        ),
        "ConvolutionInputGenerator": single(
            "ConvolutionInputGenerator", LAST, WINDOWS, "INT4", domain=FINN, SIMD=1, M=1, Dilation=[1, 1], Stride=[1, 1],
            ConvKernelDim=[3, 3], IFMChannels=32, IFMDim=[16, 16], OFMDim=[14, 14], inputDataType="INT4",
            outputDataType="INT4",
        ),
        "Pool, MaxPool": single(
            "Pool", (1, 8, 8, 128), (1, 8, 8, 32), "INT4", domain=FINN, PE=1, Function="MaxPool", Channels=32,
            KernelSize=[2, 2], OutImgDims=[8, 8], InputDataType="INT4", OutputDataType="INT4",
        ),
        "FMPadding": single(
            "FMPadding", LAST, (1, 18, 18, 32), "INT4", domain=FINN, SIMD=1, ImgDim=[16, 16], Padding=[1, 1, 1, 1],
            NumChannels=32, inputDataType="INT4",
        ),
    }  # fmt: skip


def products() -> dict[str, ModelWrapper]:
    """Return MVAU and VVAU."""

    def mvau(*thresholds: Array) -> ModelWrapper:
        return single(
            "MVAU", (1, 16, 16, 288), (1, 16, 16, 64), "INT4", whole(-8, 7, 288, 64), *thresholds, domain=FINN, SIMD=1,
            PE=1, noActivation=int(not thresholds), ActVal=0, outputDataType="UINT4" if thresholds else "INT16",
            MW=288, MH=64, numInputVectors=[1, 16, 16], inputDataType="INT4", weightDataType="INT4",
        )  # fmt: skip

    return {
        "MVAU": mvau(),
        "MVAU with 15 thresholds": mvau(rows(64, 15, 60).round()),
        "VVAU": single(
            "VVAU", WINDOWS, (1, 14, 14, 32), "INT4", whole(-8, 7, 32, 1, 3, 3), domain=FINN, PE=32, Dim=[14, 14],
            Kernel=[3, 3], Channels=32, inputDataType="INT4", weightDataType="INT4", outputDataType="INT16", ActVal=0,
            noActivation=1,
        ),
    }  # fmt: skip


def others() -> dict[str, ModelWrapper]:
    """Return sums, streams, labels, and our kernels of rows."""
    rows_of = {"SIMD": 1, "ifm_dim": [1, 16, 64], "NumChannels": 64}
    shape = (1, 16, 64)
    return {
        "ElementwiseAdd": single(
            "ElementwiseAdd", LAST, LAST, "INT4", whole(-8, 7, 32), domain=FINN, PE=1, out_shape=LAST, lhs_dtype="INT4",
            rhs_dtype="INT4", out_dtype="INT5", lhs_shape=LAST, rhs_shape=[32],
        ),
        "StreamingFIFO": single(
            "StreamingFIFO", LAST, LAST, "INT4", domain=FINN, folded_shape=[1, 16, 16, 32, 1], dataType="INT4", depth=2
        ),
        "LabelSelect": single(
            "LabelSelect", (1, 1000), (1, 1), "INT16", domain=FINN, Labels=1000, PE=1, K=1, inputDataType="INT16",
            numInputVectors=[1],
        ),
        "LayerNormKernel of INT8": single(
            "LayerNormKernel", shape, shape, "INT8", domain=OURS, epsilon=1e-5, inputDataType="INT8",
            outputDataType="INT10", fraction_bits=5, **rows_of,
        ),
        "SoftmaxKernel of INT8": single(
            "SoftmaxKernel", shape, shape, "INT8", domain=OURS, input_data_type="INT8", outputDataType="UINT8",
            fraction_bits=8, scale=0.1, **rows_of,
        ),
    }  # fmt: skip


def cases() -> dict[str, ModelWrapper]:
    """Return a model for each line."""
    return {**quantisers(), **images(), **products(), **others()}
