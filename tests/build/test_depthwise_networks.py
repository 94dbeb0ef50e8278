"""Depthwise separable networks from QONNX to circuits: each channel convolved alone, then all of a pixel mixed."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.build import build

QONNX = "qonnx.custom_op.general"

BLUEPRINT = """\
hw_compiler:
  target: {{part: xczu7ev-ffvc1156-2-e, clock: 200 MHz, fps: {fps}}}
  steps:
    - cleanup
    - qonnx_to_finn
    - streamline
    - hardware_inference
    - specialize
    - fold
    - estimate
    - rtl_codegen
    - rtl_stitch
    - {{step: rtl_size_fifos, args: {{search: false}}}}
    - {{step: rtl_simulate, args: {{seeds: 1, frames: 3}}}}
  output: simulated
"""


class Separable:
    """A network in the making, as Brevitas exports one: quantised weights with a scale for each channel."""

    def __init__(self, shape, seed=0):
        self.shape, self.random = list(shape), np.random.default_rng(seed)
        self.nodes, self.constants, self.tail = [], [], "x"

    def constant(self, values):
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, np.float32), name))
        return name

    def node(self, op_type, *inputs, **attributes):
        output = f"tensor{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), [output], **attributes))
        return output

    def quant(self, tensor, scale, bits, signed, narrow=0):
        inputs = [tensor, self.constant(scale), self.constant(0.0), self.constant(bits)]
        stated = {"signed": signed, "narrow": narrow, "rounding_mode": "ROUND"}
        return self.node("Quant", *inputs, domain=QONNX, **stated)

    def convolution(self, channels, kernel, stride=1, depthwise=True, bits=4):
        """Add a convolution, normalisation, ReLU and a quantiser; a depthwise one keeps its channels."""
        groups = self.shape[1] if depthwise else 1
        weights = self.random.normal(size=(channels, self.shape[1] // groups, kernel, kernel))
        scale = np.abs(weights).max(axis=(1, 2, 3), keepdims=True) / (2 ** (bits - 1) - 1)
        held = self.quant(self.constant(weights), scale, bits, signed=1, narrow=1)
        pads = [kernel // 2] * 4
        tail = self.node(
            "Conv", self.tail, held, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads, group=groups
        )
        size = [(one + 2 * pads[0] - kernel) // stride + 1 for one in self.shape[2:]]
        self.shape = [1, channels, *size]
        drawn = self.random.normal(1, 0.5, channels), *self.random.normal(0, 1, (2, channels))
        normal = [self.constant(values) for values in (*drawn, self.random.uniform(0.5, 3, channels))]
        self.tail = self.quant(
            self.node("Relu", self.node("BatchNormalization", tail, *normal)), 1.5, 4, signed=0
        )

    def save(self, path, shape):
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, size)
            for name, size in (("x", shape), (self.tail, self.shape))
        ]
        graph = helper.make_graph(self.nodes, "separable", ends[:1], ends[1:], self.constants)
        opsets = [helper.make_opsetid("", 13), helper.make_opsetid(QONNX, 1)]
        model = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=9))
        model.set_tensor_datatype("x", DataType["UINT4"])
        model.save(str(path))
        return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fps", "lanes"),
    [(20_000, [(1, 1, 0), (1, 1, 0)]), (1_500_000, [(4, 3, 1), (6, 1, 0)])],
    ids=["a value a cycle", "several positions of all channels"],
)
def test_a_depthwise_separable_network_becomes_a_circuit(fps, lanes, tmp_path):
    network = Separable([1, 4, 6, 6])
    network.convolution(4, 3)
    network.convolution(6, 1, depthwise=False)
    network.convolution(6, 3, stride=2)
    network.convolution(4, 1, depthwise=False)
    model = network.save(tmp_path / "separable.onnx", [1, 4, 6, 6])
    blueprint = tmp_path / "separable.yaml"
    blueprint.write_text(BLUEPRINT.format(fps=fps))
    frames = np.random.default_rng(5).integers(0, 16, (6, 4, 6, 6)).astype(np.float32)
    result = build(model, blueprint, tmp_path / "out", verify_inputs=frames)
    assert [step.verified.mismatches for step in result.steps] == [0] * len(result.steps)

    layers = json.loads((result.output / "report/estimates.json").read_text())["layers"]
    stated = {kind: [one["attributes"] for one in layers if one["op_type"].startswith(kind)]
              for kind in ("EmbeddedVVAU", "ConvolutionInputGenerator")}  # fmt: skip
    windows = stated["ConvolutionInputGenerator"]
    pairs = zip(stated["EmbeddedVVAU"], windows, strict=True)
    assert [(one["PE"], one["SIMD"], window["parallel_window"]) for one, window in pairs] == lanes
    assert [one["PE"] for one in stated["EmbeddedVVAU"]] == [window["SIMD"] for window in windows]

    found = json.loads((result.output / "report/rtl_simulation.json").read_text())
    assert (found["frames"], found["mismatches"], found["stalled_mismatches"]) == (3, 0, 0)
    assert found["stalled_frames"] >= 3
    assert found["interval_cycles"] <= found["interval_estimate"]
