"""Small convolutional circuits: one by hand, and random ones with branches."""

import numpy as np
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.stitch import stitch
from tests.rtl.finn_layers import PART

RTL = "finn.custom_op.fpgadataflow.rtl"


class Chain:
    """Nodes one after the other, each behind the last tensor, or behind others that are named."""

    def __init__(self, shape, kind):
        self.nodes, self.weights = [], {}
        self.shapes, self.kinds = {"t0": tuple(shape)}, {"t0": kind}
        self.tail = "t0"

    @property
    def shape(self):
        return self.shapes[self.tail]

    @property
    def kind(self):
        return self.kinds[self.tail]

    def add(
        self,
        op_type,
        shape,
        kind,
        weights=None,
        weight_kind="INT8",
        inputs=None,
        outputs=1,
        **attrs,
    ):
        at = len(self.nodes)
        taken = list(inputs or [self.tail])
        if weights is not None:
            taken.append(f"w{at}")
            self.weights[f"w{at}"] = (weights, weight_kind)
        given = [f"t{len(self.shapes) + more}" for more in range(outputs)]
        self.nodes.append(
            helper.make_node(
                op_type, taken, given, name=f"{op_type}_{at}", domain=RTL, backend="fpgadataflow", **attrs
            )
        )  # fmt: skip
        for name in given:
            self.shapes[name], self.kinds[name] = tuple(shape), kind
        self.tail = given[0]
        return given

    def model(self):
        values = {
            name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in self.shapes.items()
        }
        first, last = values.pop("t0"), values.pop(self.tail)
        graph = helper.make_graph(self.nodes, "chain", [first], [last], value_info=list(values.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(RTL, 1)]
        model = ModelWrapper(helper.make_model(graph, opset_imports=opsets))
        for name, kind in self.kinds.items():
            model.set_tensor_datatype(name, DataType[kind])
        for name, (array, kind) in self.weights.items():
            model.set_initializer(name, array.astype(np.float32))
            model.set_tensor_datatype(name, DataType[kind])
        return model


def padding(chain, simd):
    _, size, _, channels = chain.shape
    chain.add(
        "FMPadding_rtl", (1, size + 2, size + 2, channels), chain.kind, ImgDim=(size, size), Padding=(1, 1, 1, 1),
        NumChannels=channels, SIMD=simd, inputDataType=chain.kind, numInputVectors=1,
    )  # fmt: skip


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
    padding(chain, 1)
    window(chain, 4, 2, 1, "UINT2")
    product(chain, rng, (1, 2, 2, 18), 32, 2, 1, "UINT2")
    thresholds(chain, rng, (1, 2, 2, 32), 1)
    product(chain, rng, (1, 2, 2, 32), 9, 1, 1, "UINT2")
    thresholds(chain, rng, (1, 2, 2, 9), 3)
    return stitched(chain, folder)


def fork(chain, pe):
    """Return the names of two equal tensors."""
    channels = chain.shape[-1]
    return chain.add(
        "DuplicateStreams_rtl", chain.shape, chain.kind, outputs=2, NumChannels=channels, PE=pe,
        NumOutputStreams=2, inputDataType=chain.kind, numInputVectors=chain.shape[:-1],
    )  # fmt: skip


def join(chain, first, second, pe):
    chain.add(
        "ElementwiseAddInt_rtl", chain.shapes[first], "UINT3", inputs=[first, second], lhs_shape=chain.shapes[first],
        rhs_shape=chain.shapes[second], out_shape=chain.shapes[first], lhs_style="input", rhs_style="input",
        lhs_dtype="UINT2", rhs_dtype="UINT2", out_dtype="UINT3", PE=pe,
    )  # fmt: skip


@st.composite
def circuits(draw):
    """Draw a chain of convolutions, products and sums of two branches, each folded somehow."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    size = draw(st.integers(1, 5))
    chain = Chain((1, size, size, draw(st.sampled_from([2, 3, 4]))), "UINT2")

    def divisor(number, below=None):
        return draw(st.sampled_from([n for n in range(1, below or number + 1) if number % n == 0]))

    def layer(channels):
        if draw(st.booleans()):
            before = chain.shape[-1]
            padding(chain, divisor(before))
            window(chain, size + 2, before, divisor(before), chain.kind)
        length = chain.shape[-1]
        product(chain, rng, chain.shape, channels, divisor(length, length), divisor(channels), chain.kind)
        thresholds(chain, rng, chain.shape, divisor(channels))

    def branches():
        channels = chain.shape[-1]
        first, second = fork(chain, divisor(channels))
        ends = []
        for tensor, layers in ((first, draw(st.integers(1, 2))), (second, draw(st.integers(0, 1)))):
            chain.tail = tensor
            for _ in range(layers):
                layer(channels)
            ends.append(chain.tail)
        join(chain, *ends, divisor(channels))

    layer(draw(st.sampled_from([2, 4, 6])))
    branches()
    if draw(st.booleans()):
        layer(draw(st.sampled_from([2, 3, 5])))
    return chain


def stitched(chain, folder):
    return stitch(generate_layers(chain.model(), folder, PART))
