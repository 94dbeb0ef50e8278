"""What the steps' tests share: a config, small models, and the digits networks after every step."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

prepare_finn()

from qonnx.core.modelwrapper import ModelWrapper  # noqa: E402

from brainsmith.build.artifact import Artifact  # noqa: E402
from brainsmith.build.config import StepConfig  # noqa: E402
from brainsmith.build.relocate import relocate_files, relocated  # noqa: E402
from brainsmith.plugins import steps  # noqa: E402

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
PART = "xczu7ev-ffvc1156-2-e"
QONNX = "qonnx.custom_op.general"
TO_DESIGN = ("specialize", "fold", "rtl_codegen", "rtl_stitch")
"""The steps that make a stitched design of hardware layers."""


@pytest.fixture
def config(tmp_path):
    """A config for a Zynq UltraScale+ at 200 MHz, everything in RTL where that is possible."""
    return StepConfig(str(tmp_path), 5.0, PART, kernel_preferences={"*": ("rtl", "hls")})


def digits_model(name):
    return ModelWrapper(str(DIGITS / f"{name}.onnx"))


class Graph:
    """A small graph in the making: nodes one after the other, each reading the tensor before it."""

    def __init__(self, *shape):
        self.nodes, self.constants, self.values = [], [], []
        self.shape = list(shape)
        self.tail = "in"

    def constant(self, values):
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=np.float32), name))
        return name

    def node(self, op_type, *others, **attributes):
        """Append a node; `others` are further inputs: arrays become constants."""
        inputs = [other if isinstance(other, str) else self.constant(other) for other in others]
        output = f"tensor{len(self.nodes)}"
        name = f"{op_type.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, [self.tail, *inputs], [output], name=name, **attributes))
        self.tail = output
        return self

    def quant(self, bits, scale=1.0, narrow=0):
        return self.node(
            "Quant", scale, 0.0, float(bits), domain=QONNX, signed=1, narrow=narrow, rounding_mode="ROUND"
        )

    def weights(self, values, bits=4, scale=1.0):
        """Add quantised weights, integers times a scale, beside the graph's path; return their tensor."""
        tail = self.tail
        self.tail = self.constant(values * scale)
        name = self.quant(bits, scale, narrow=1).tail
        self.tail = tail
        return name

    def model(self, *shape, datatype="INT8"):
        graph = helper.make_graph(
            self.nodes,
            "small",
            [helper.make_tensor_value_info("in", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info(self.tail, TensorProto.FLOAT, list(shape))],
            self.constants,
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(QONNX, 1)]
        wrapper = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=9))
        from qonnx.core.datatype import DataType

        wrapper.set_tensor_datatype("in", DataType[datatype])
        return wrapper


_STREAMLINED, _HARDWARE = {}, {}


def streamlined(model, config):
    """Run the steps up to `streamline`, once per model: they read nothing else."""
    content = model.model.SerializeToString(deterministic=True)
    if content not in _STREAMLINED:
        for step in (steps.cleanup, steps.qonnx_to_finn, steps.streamline):
            model = step(model, config)
        _STREAMLINED[content] = model
    return ModelWrapper(_STREAMLINED[content].model, make_deepcopy=True)


def hardware(model, config):
    """Run the steps up to `hardware_inference`, once per model and config; two of its fields are read by none."""
    read = {**vars(config), "output_dir": "", "target_fps": None}
    key = (model.model.SerializeToString(deterministic=True), repr(read))
    if key not in _HARDWARE:
        _HARDWARE[key] = steps.hardware_inference(streamlined(model, config), config)
    return ModelWrapper(_HARDWARE[key].model, make_deepcopy=True)


def integers(seed, *shape, low=-7, high=8):
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.float32)


def op_types(model):
    return [node.op_type for node in model.graph.node]


@pytest.fixture
def dense():
    """A quantised layer 8 to 6 with an activation of 4 bits: one MatMul, one Quant."""

    def make():
        graph = Graph(1, 8).quant(4)
        graph.node("MatMul", graph.weights(integers(1, 8, 6)))
        return graph.node("Add", integers(2, 6) + 0.5).quant(4, scale=16.0).model(1, 6)

    return make


_DESIGN = {}


@pytest.fixture
def stitched(dense, config, tmp_path, tmp_path_factory):
    """A layer of 8 to 6 values as a design; its last node, a scale, stays on the host.

    It is made once; each test has a copy in its own folder.
    """
    config.target_fps = 20_000_000
    if not _DESIGN:
        folder = tmp_path_factory.mktemp("stitched")
        own = replace(config, output_dir=str(folder))
        model = hardware(dense(), own)
        for name in TO_DESIGN:
            model = steps[name](model, own)
        _DESIGN[folder] = Artifact.of(model).data
    ((folder, data),) = _DESIGN.items()
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    relocate_files(tmp_path, str(folder), str(tmp_path))
    return Artifact(relocated("model.onnx", data, str(folder), str(tmp_path))).take()
