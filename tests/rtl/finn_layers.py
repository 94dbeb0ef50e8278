"""FINN's RTL layers as models of one node, with the code that FINN generates for them and what FINN computes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from finn.transformation.fpgadataflow.replace_verilog_relpaths import ReplaceVerilogRelPaths
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp

from brainsmith.rtl.simulation.beats import pack, unpack
from brainsmith.rtl.simulation.simulation_plan import plan_simulation

PART = "xczu7ev-ffvc1156-2-e"


@dataclass
class Layer:
    """One node."""

    model: ModelWrapper
    folder: Path

    @property
    def node(self):
        return getCustomOp(self.model.graph.node[0])

    def plan(self, library, **arguments):
        files = self.node.get_rtl_file_list(abspath=True)
        top = self.node.get_nodeattr("gen_top_module")
        return plan_simulation(top, files, library, generated=self.folder, **arguments)

    def random_input(self, rng, frames):
        kind = self.node.get_input_datatype(0)
        shape = self.node.get_normal_input_shape()
        return rng.integers(int(kind.min()), int(kind.max()) + 1, (frames, *shape))

    def expected(self, frames):
        """Return what FINN's Python execution gives."""
        name_in, name_out = self.model.graph.input[0].name, self.model.graph.output[0].name
        return np.stack(
            [execute_onnx(self.model, {name_in: frame.astype(np.float32)})[name_out] for frame in frames]
        ).astype(np.int64)

    def input_beats(self, frames):
        node = self.node
        lanes = node.get_folded_input_shape()[-1]
        return pack(
            frames.reshape(-1, lanes),
            node.get_input_datatype(0).bitwidth(),
            node.get_instream_width_padded(0),
        )

    def weight_beats(self):
        """Return one pass of an MVAU's weights."""
        weights = np.load(self.folder / "input_1.npy")
        node = self.node
        lanes = node.get_nodeattr("PE") * node.get_nodeattr("SIMD")
        return pack(
            weights.reshape(-1, lanes),
            node.get_input_datatype(1).bitwidth(),
            node.get_instream_width_padded(1),
        )

    def output_count(self, frames):
        return frames * int(np.prod(self.node.get_folded_output_shape()[:-1]))

    def output_values(self, words, frames):
        node = self.node
        kind = node.get_output_datatype(0)
        values = unpack(words, kind.bitwidth(), node.get_folded_output_shape()[-1], kind.signed())
        return values.reshape(frames, *node.get_normal_output_shape())


def make_layer(folder, op_type, shapes, initializers=None, types=None, **attrs):
    """Make a model of one node and let FINN generate its code into a folder.

    `shapes` are those of the input `x` and the output `y`; initializers are further inputs by name.
    """
    initializers = initializers or {}
    node = helper.make_node(
        op_type, ["x", *initializers], ["y"], name=f"{op_type}_0", domain="finn.custom_op.fpgadataflow.rtl",
        backend="fpgadataflow", **attrs,
    )  # fmt: skip
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name]) for name in ("x", "y")]
    graph = helper.make_graph([node], "layer", [values[0]], [values[1]])
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    for name, value in initializers.items():
        model.set_initializer(name, value.astype(np.float32))
    for name, kind in (types or {}).items():
        model.set_tensor_datatype(name, DataType[kind])
    instance = getCustomOp(model.graph.node[0])
    instance.set_nodeattr("exec_mode", "cppsim")
    folder.mkdir(parents=True, exist_ok=True)
    instance.set_nodeattr("code_gen_dir_ipgen", str(folder))
    instance.code_generation_ipgen(model, PART, 5.0)
    return Layer(model.transform(ReplaceVerilogRelPaths()), folder)


def width_converter(folder, narrow=2, wide=6, up=True):
    shapes = [(1, 24 // lanes, lanes) for lanes in (narrow, wide)]
    inner, outer = shapes if up else shapes[::-1]
    return make_layer(
        folder, "StreamingDataWidthConverter_rtl", {"x": inner, "y": outer}, types={"x": "INT5", "y": "INT5"},
        inShape=inner, outShape=outer, inWidth=inner[-1] * 5, outWidth=outer[-1] * 5, dataType="INT5",
    )  # fmt: skip


def fifo(folder, depth, ram_style="auto", lanes=40):
    return make_layer(
        folder, "StreamingFIFO_rtl", {"x": (1, 8 * lanes), "y": (1, 8 * lanes)}, types={"x": "INT8", "y": "INT8"},
        depth=depth, folded_shape=(1, 8, lanes), normal_shape=(1, 8 * lanes), dataType="INT8", ram_style=ram_style,
    )  # fmt: skip


def thresholding(folder, rng, channels=8, pe=2, steps=15):
    thresholds = np.sort(rng.integers(-100, 100, (channels, steps)), axis=1)
    return make_layer(
        folder, "Thresholding_rtl", {"x": (1, 6, channels), "y": (1, 6, channels)}, {"t": thresholds},
        {"x": "INT8", "t": "INT8", "y": "UINT4"}, PE=pe, NumChannels=channels, numSteps=steps, inputDataType="INT8",
        weightDataType="INT8", outputDataType="UINT4", numInputVectors=(1, 6), ActVal=0,
    )  # fmt: skip


def matrix_vector(folder, rng, mw=24, mh=12, simd=4, pe=3, mem_mode="external", **attrs):
    weights = rng.integers(-8, 8, (mw, mh))
    return make_layer(
        folder, "MVAU_rtl", {"x": (1, 4, mw), "y": (1, 4, mh)}, {"w": weights},
        {"x": "INT4", "w": "INT4", "y": "INT14"}, MW=mw, MH=mh, SIMD=simd, PE=pe, inputDataType="INT4",
        weightDataType="INT4", outputDataType="INT14", accDataType="INT14", noActivation=1,
        numInputVectors=(1, 4), mem_mode=mem_mode, **attrs,
    )  # fmt: skip


def sliding_window(folder, parallel=0, channels=4, simd=2, size=6, kernel=3, stride=1):
    out = (size - kernel) // stride + 1
    return make_layer(
        folder, "ConvolutionInputGenerator_rtl",
        {"x": (1, size, size, channels), "y": (1, out, out, kernel * kernel * channels)},
        types={"x": "INT4", "y": "INT4"}, ConvKernelDim=(kernel, kernel), IFMChannels=channels, IFMDim=(size, size),
        OFMDim=(out, out), SIMD=simd, M=1, Stride=(stride, stride), Dilation=(1, 1), inputDataType="INT4",
        outputDataType="INT4", depthwise=0, is1D=0, parallel_window=parallel, dynamic_mode=0,
    )  # fmt: skip


def padding(folder, channels=4, simd=2, size=5, by=(1, 2, 0, 1)):
    return make_layer(
        folder, "FMPadding_rtl",
        {"x": (1, size, size, channels), "y": (1, size + by[0] + by[2], size + by[1] + by[3], channels)},
        types={"x": "INT3", "y": "INT3"}, ImgDim=(size, size), Padding=by, NumChannels=channels, SIMD=simd,
        inputDataType="INT3", numInputVectors=1,
    )  # fmt: skip
