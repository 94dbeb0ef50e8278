"""Dense networks whose products FINN's matrix-vector unit cannot be, from QONNX to circuits by the exact front end."""

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
  target: {{part: {part}, clock: 200 MHz, fps: {fps}}}
  steps:
    - cleanup
    - integer
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


class Dense:
    """A network in the making: products with quantised weights, each behind it a quantiser."""

    def __init__(self, width, datatype, seed=0):
        self.random, self.datatype = np.random.default_rng(seed), datatype
        self.shape, self.tail = [1, width], "x"
        self.nodes, self.constants, self.first = [], [], [1, width]

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

    def product(self, width, low, high, bits, signed=1, narrow=0):
        """Multiply with weights between two integers."""
        weights = self.random.integers(low, high + 1, (self.shape[1], width)) / 16
        held = self.quant(self.constant(weights), 1 / 16, bits, signed, narrow)
        self.tail, self.shape = self.node("MatMul", self.tail, held), [1, width]

    def activation(self, scale, bits, signed=0):
        self.tail = self.quant(self.tail, scale, bits, signed)

    def save(self, path):
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, size)
            for name, size in (("x", self.first), (self.tail, self.shape))
        ]
        graph = helper.make_graph(self.nodes, "dense", ends[:1], ends[1:], self.constants)
        opsets = [helper.make_opsetid("", 13), helper.make_opsetid(QONNX, 1)]
        model = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=9))
        model.set_tensor_datatype("x", DataType[self.datatype])
        model.save(str(path))
        return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "fps", "own"),
    [
        ("xczu7ev-ffvc1156-2-e", 1_000_000, 3),
        ("xc7z020clg400-1", 200_000_000, 4),
        ("xcvc1902-vsva2197-2MP-e-S", 200_000_000, 4),  # whole rows at once
    ],
)
def test_a_dense_network_of_unusual_weights_becomes_a_circuit(part, fps, own, tmp_path):
    network = Dense(1, "INT12")
    network.product(6, -2047, 2047, 12)  # of one value, weights of 12 bits
    network.activation(4096, 8, signed=1)
    network.product(8, -1, 1, 2, narrow=1)  # TERNARY
    network.activation(16, 6, signed=1)
    network.product(4, 0, 15, 4, signed=0)  # unsigned
    network.activation(64, 1)
    network.product(3, -7, 7, 4)  # of bits
    model = network.save(tmp_path / "dense.onnx")
    blueprint = tmp_path / "dense.yaml"
    blueprint.write_text(BLUEPRINT.format(part=part, fps=fps))
    frames = np.random.default_rng(5).integers(-2048, 2048, (6, 1)).astype(np.float32)
    result = build(model, blueprint, tmp_path / "out", verify_inputs=frames)
    assert [step.verified.mismatches for step in result.steps] == [0] * len(result.steps)
    layers = json.loads((result.output / "report/estimates.json").read_text())["layers"]
    assert sum(one["op_type"] == "EmbeddedMVAU_rtl" for one in layers) == own
    found = json.loads((result.output / "report/rtl_simulation.json").read_text())
    assert (found["frames"], found["mismatches"], found["stalled_mismatches"]) == (3, 0, 0)
    assert found["interval_cycles"] <= found["interval_estimate"]


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["Mul", "Sub"])
def test_branches_that_are_multiplied_or_subtracted_become_a_circuit(operation, tmp_path):
    network = Dense(6, "INT4")
    network.product(8, -7, 7, 4)
    network.activation(0.5, 4, signed=1)
    fork = network.tail
    network.product(8, -7, 7, 4)
    network.activation(0.5, 4)
    network.tail = network.node(operation, fork, network.tail)
    network.activation(1.0, 4, signed=1)
    network.product(4, -7, 7, 4)
    model = network.save(tmp_path / "branches.onnx")
    blueprint = tmp_path / "branches.yaml"
    blueprint.write_text(BLUEPRINT.format(part="xczu7ev-ffvc1156-2-e", fps=1_000_000))
    frames = np.random.default_rng(5).integers(-8, 8, (6, 6)).astype(np.float32)
    result = build(model, blueprint, tmp_path / "out", verify_inputs=frames)
    layers = json.loads((result.output / "report/estimates.json").read_text())["layers"]
    assert f"Elementwise{operation}Int_rtl" in [one["op_type"] for one in layers]
    found = json.loads((result.output / "report/rtl_simulation.json").read_text())
    assert (found["frames"], found["mismatches"], found["stalled_mismatches"]) == (3, 0, 0)
    assert found["interval_cycles"] <= found["interval_estimate"]
