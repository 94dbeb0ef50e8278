"""How much faster a node is as instructions on many samples than its own `execute_node`, sample by sample.

Each line is one operator at a usual size; both sides get the same samples in turns, and their results are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.execution.lowering.lower import lower
from brainsmith.execution.lowering.runnable import runnable_copy
from brainsmith.execution.program.program import Program
from brainsmith.plugin.adapters.finn_runtime import prepare_finn

QONNX, FINN, OURS = "qonnx.custom_op.general", "finn.custom_op.fpgadataflow", "brainsmith.kernels"
SAMPLES, SINGLES, ROUNDS = 256, 8, 5
RANDOM = np.random.default_rng(0)
Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def single(
    op_type: str,
    given: Shape,
    wanted: Shape,
    kind: str,
    domain: str = QONNX,
    *constants: Array,
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


def cases() -> dict[str, ModelWrapper]:
    """Return a model for each line."""
    image, last = (1, 32, 16, 16), (1, 16, 16, 32)
    ends = (np.array(0), np.array(4))
    hardware: dict[str, Any] = {"domain": FINN, "SIMD": 1, "PE": 1}
    quant: dict[str, Any] = {"signed": 1, "narrow": 0, "rounding_mode": "ROUND"}
    product = {
        "MW": 288,
        "MH": 64,
        "numInputVectors": [1, 16, 16],
        "inputDataType": "INT4",
        "weightDataType": "INT4",
    }
    window: dict[str, Any] = {
        "ConvKernelDim": [3, 3],
        "IFMChannels": 32,
        "IFMDim": [16, 16],
        "OFMDim": [14, 14],
        "Stride": [1, 1],
    }
    pool: dict[str, Any] = {
        "Channels": 32,
        "KernelSize": [2, 2],
        "OutImgDims": [8, 8],
        "InputDataType": "INT4",
    }
    sums = rows(64, 15, 60).round()
    counted: dict[str, Any] = {"ActVal": 0, "outputDataType": "UINT4"}
    add = {
        "lhs_dtype": "INT4",
        "rhs_dtype": "INT4",
        "out_dtype": "INT5",
        "lhs_shape": last,
        "rhs_shape": [32],
    }
    return {
        "Quant, one scale": single("Quant", image, image, "FLOAT32", QONNX, np.array(0.1), *ends, **quant),
        "Quant, scale per channel": single(
            "Quant", image, image, "FLOAT32", QONNX, RANDOM.uniform(0.1, 1, (1, 32, 1, 1)), *ends, **quant
        ),
        "BipolarQuant": single("BipolarQuant", image, image, "FLOAT32", QONNX, np.array(1)),
        "MultiThreshold, 3 of floats": single(
            "MultiThreshold", image, image, "FLOAT32", QONNX, rows(32, 3, 1), out_dtype="UINT2"
        ),
        "MultiThreshold, 15 of floats": single(
            "MultiThreshold", image, image, "FLOAT32", QONNX, rows(32, 15, 1), out_dtype="UINT4"
        ),
        "MultiThreshold, 255 even, of floats": single(
            "MultiThreshold", image, image, "FLOAT32", QONNX, np.linspace(-4, 4, 255)[None], out_dtype="UINT8"
        ),
        "Thresholding, 15 of INT12": single(
            "Thresholding", last, last, "INT12", FINN, rows(32, 15, 500).round(), PE=1, NumChannels=32, numSteps=15,
            inputDataType="INT12", weightDataType="INT12", numInputVectors=[1, 16, 16], **counted,
        ),
        "Im2Col": single(
            "Im2Col", last, (1, 16, 16, 288), "INT4", kernel_size=[3, 3], stride=[1, 1], input_shape=str(last),
            pad_amount=[1, 1, 1, 1],
        ),
        "ConvolutionInputGenerator": single(
            "ConvolutionInputGenerator", last, (1, 14, 14, 288), "INT4", M=1, Dilation=[1, 1], inputDataType="INT4",
            outputDataType="INT4", **window, **hardware,
        ),
        "MVAU": single(
            "MVAU", (1, 16, 16, 288), (1, 16, 16, 64), "INT4", FINN, whole(-8, 7, 288, 64), SIMD=1, PE=1, noActivation=1,
            ActVal=0, outputDataType="INT16", **product,
        ),
        "MVAU with 15 thresholds": single(
            "MVAU", (1, 16, 16, 288), (1, 16, 16, 64), "INT4", FINN, whole(-8, 7, 288, 64), sums, SIMD=1, PE=1,
            noActivation=0, **counted, **product,
        ),
        "VVAU": single(
            "VVAU", (1, 14, 14, 288), (1, 14, 14, 32), "INT4", FINN, whole(-8, 7, 32, 1, 3, 3), PE=32, Dim=[14, 14],
            Kernel=[3, 3], Channels=32, inputDataType="INT4", weightDataType="INT4", outputDataType="INT16", ActVal=0,
            noActivation=1,
        ),
        "Pool, MaxPool": single(
            "Pool", (1, 8, 8, 128), (1, 8, 8, 32), "INT4", FINN, PE=1, Function="MaxPool", OutputDataType="INT4", **pool
        ),
        "FMPadding": single(
            "FMPadding", last, (1, 18, 18, 32), "INT4", ImgDim=[16, 16], Padding=[1, 1, 1, 1], NumChannels=32,
            inputDataType="INT4", **hardware,
        ),
        "ElementwiseAdd": single("ElementwiseAdd", last, last, "INT4", FINN, whole(-8, 7, 32), PE=1, out_shape=last, **add),
        "StreamingFIFO": single(
            "StreamingFIFO", last, last, "INT4", FINN, folded_shape=[1, 16, 16, 32, 1], dataType="INT4", depth=2
        ),
        "LabelSelect": single(
            "LabelSelect", (1, 1000), (1, 1), "INT16", FINN, Labels=1000, PE=1, K=1, inputDataType="INT16",
            numInputVectors=[1],
        ),
        "LayerNormKernel of INT8": single(
            "LayerNormKernel", (1, 16, 64), (1, 16, 64), "INT8", OURS, SIMD=1, ifm_dim=[1, 16, 64], NumChannels=64,
            epsilon=1e-5, inputDataType="INT8", outputDataType="INT10", fraction_bits=5,
        ),
        "SoftmaxKernel of INT8": single(
            "SoftmaxKernel", (1, 16, 64), (1, 16, 64), "INT8", OURS, SIMD=1, ifm_dim=[1, 16, 64], NumChannels=64,
            input_data_type="INT8", outputDataType="UINT8", fraction_bits=8, scale=0.1,
        ),
    }  # fmt: skip


def by_node(model: ModelWrapper, stack: Array) -> Callable[[], Array]:
    """Return what runs a node's own Python on samples one by one."""
    (node,) = model.graph.node
    operation = getCustomOp(node)
    constants = {tensor.name: model.get_initializer(tensor.name) for tensor in model.graph.initializer}
    shape = model.get_tensor_shape("y")

    def run() -> Array:
        results = []
        for sample in stack:
            context = {"x": sample, "y": np.zeros(shape, np.float32), **constants}
            operation.execute_node(context, model.graph)
            results.append(context["y"])
        return np.stack(results)

    return run


def samples(model: ModelWrapper) -> Array:
    """Draw samples that the input's datatype allows."""
    datatype = model.get_tensor_datatype("x")
    size = (SAMPLES, *model.get_tensor_shape("x"))
    if not datatype.is_integer():
        return RANDOM.normal(0, 1.5, size).astype(np.float32)
    return whole(int(datatype.min()), int(datatype.max()), *size)


def without_checks(program: Program) -> Program:
    """Leave out that the input is held to its datatype, which `execute_node` does not do either."""
    if any(made.function.startswith("foreign") for made in program.instructions):
        raise SystemExit(f"{program.instructions[-1].source} has no lowering")
    kept = tuple(made for made in program.instructions if not made.function.startswith("checks."))
    return replace(program, instructions=kept)


def measure(model: ModelWrapper) -> tuple[float, float]:
    """Return microseconds per sample: of the node, and of its program."""
    stack = samples(model)
    program, node = without_checks(lower(runnable_copy(model))), by_node(model, stack[:SINGLES])
    np.testing.assert_array_equal(program.run({"x": stack})["y"][:SINGLES], node())
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        for at, (run, count) in enumerate(((node, SINGLES), (lambda: program.run({"x": stack}), SAMPLES))):
            begin = time.process_time()
            run()
            best[at] = min(best[at], (time.process_time() - begin) / count * 1e6)
    return best[0], best[1]


def main() -> None:
    """Print the table, and the least and the greatest ratio."""
    prepare_finn()
    ratios = {}
    print("| node | execute_node, us | program, us | times |\n| --- | ---: | ---: | ---: |")
    for name, model in cases().items():
        before, after = measure(model)
        ratios[name] = before / after
        print(f"| {name} | {before:.1f} | {after:.2f} | {ratios[name]:.1f} |", flush=True)
    ordered = sorted(ratios, key=lambda name: ratios[name])
    print(
        f"\nleast: {ordered[0]} {ratios[ordered[0]]:.1f}; greatest: {ordered[-1]} {ratios[ordered[-1]]:.0f}"
    )


if __name__ == "__main__":
    main()
