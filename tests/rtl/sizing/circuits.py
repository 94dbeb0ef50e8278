"""A small convolutional circuit: padding, a convolution of 3 x 3, thresholds, one of 1 x 1, thresholds."""

import numpy as np
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.stitch import stitch
from tests.rtl.finn_layers import PART

RTL = "finn.custom_op.fpgadataflow.rtl"


class Chain:
    """Nodes one after the other."""

    def __init__(self, shape, kind):
        self.nodes, self.weights = [], {}
        self.shapes, self.kinds = [tuple(shape)], [kind]

    def add(self, op_type, shape, kind, weights=None, weight_kind="INT8", **attrs):
        at = len(self.nodes)
        inputs = [f"t{at}"]
        if weights is not None:
            inputs.append(f"w{at}")
            self.weights[f"w{at}"] = (weights, weight_kind)
        self.nodes.append(
            helper.make_node(
                op_type, inputs, [f"t{at + 1}"], name=f"{op_type}_{at}", domain=RTL, backend="fpgadataflow", **attrs
            )
        )  # fmt: skip
        self.shapes.append(tuple(shape))
        self.kinds.append(kind)

    def model(self):
        values = [
            helper.make_tensor_value_info(f"t{at}", TensorProto.FLOAT, shape)
            for at, shape in enumerate(self.shapes)
        ]
        graph = helper.make_graph(self.nodes, "chain", [values[0]], [values[-1]], value_info=values[1:-1])
        model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
        for at, kind in enumerate(self.kinds):
            model.set_tensor_datatype(f"t{at}", DataType[kind])
        for name, (array, kind) in self.weights.items():
            model.set_initializer(name, array.astype(np.float32))
            model.set_tensor_datatype(name, DataType[kind])
        return model


def window(chain, size, channels, simd, kind):
    out = size - 2
    chain.add(
        "ConvolutionInputGenerator_rtl", (1, out, out, 9 * channels), kind, ConvKernelDim=(3, 3),
        IFMChannels=channels, IFMDim=(size, size), OFMDim=(out, out), SIMD=simd, M=1, Stride=(1, 1), Dilation=(1, 1),
        inputDataType=kind, outputDataType=kind, depthwise=0, is1D=0, parallel_window=0, dynamic_mode=0,
    )  # fmt: skip


def product(chain, rng, shape, mh, simd, pe, kind):
    mw = shape[-1]
    chain.add(
        "MVAU_rtl", (*shape[:-1], mh), "INT14", rng.integers(-8, 8, (mw, mh)), "INT4", MW=mw, MH=mh, SIMD=simd, PE=pe,
        inputDataType=kind, weightDataType="INT4", outputDataType="INT14", accDataType="INT14", noActivation=1,
        numInputVectors=shape[:-1], mem_mode="internal_decoupled",
    )  # fmt: skip


def thresholds(chain, rng, shape, pe):
    channels = shape[-1]
    chain.add(
        "Thresholding_rtl", shape, "UINT2", np.sort(rng.integers(-100, 100, (channels, 3)), axis=1), "INT14", PE=pe,
        NumChannels=channels, numSteps=3, inputDataType="INT14", weightDataType="INT14", outputDataType="UINT2",
        numInputVectors=shape[:-1], ActVal=0,
    )  # fmt: skip


def convolutions(folder, seed=1):
    """Return the design: 2 x 2 x 2 values of UINT2 in, 2 x 2 x 9 out; both products take 1,152 cycles.

    The first gives a value in every ninth cycle. The second takes 32 in as many cycles, and none in the next 256.
    """
    rng = np.random.default_rng(seed)
    chain = Chain((1, 2, 2, 2), "UINT2")
    chain.add(
        "FMPadding_rtl", (1, 4, 4, 2), "UINT2", ImgDim=(2, 2), Padding=(1, 1, 1, 1), NumChannels=2, SIMD=1,
        inputDataType="UINT2", numInputVectors=1,
    )  # fmt: skip
    window(chain, 4, 2, 1, "UINT2")
    product(chain, rng, (1, 2, 2, 18), 32, 2, 1, "UINT2")
    thresholds(chain, rng, (1, 2, 2, 32), 1)
    product(chain, rng, (1, 2, 2, 32), 9, 1, 1, "UINT2")
    thresholds(chain, rng, (1, 2, 2, 9), 3)
    return stitch(generate_layers(chain.model(), folder, PART))
