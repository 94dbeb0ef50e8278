"""A small accelerator as a build's folder, with what a host computes around it."""

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.rtl.package.packed import make_small

SCALE = np.float32(0.375)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The accelerator's design: a matrix of 24 by 12, with 4 vectors in a frame."""
    return make_small(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def simulations_cache(tmp_path_factory, cache_at):
    """A folder of caches, in which simulations are those of all tests."""
    return Path(cache_at(tmp_path_factory.mktemp("caches") / "cache", ("rtl",)))


@pytest.fixture
def kept_simulations(simulations_cache, monkeypatch):
    """Use that folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(simulations_cache))


def parent_model(labels=False):
    """What a host has to do: channels come first in the model's input, and its output has a scale, or is a label."""
    from qonnx.core.modelwrapper import ModelWrapper

    def value(name, *shape, kind=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, shape)

    nodes = [
        helper.make_node("Transpose", ["global_in"], ["moved"], name="move", perm=[0, 2, 1]),
        helper.make_node(
            "StreamingDataflowPartition",
            ["moved"],
            ["whole"],
            name="partition",
            domain="finn.custom_op.fpgadataflow",
            model="none.onnx",
        ),
        helper.make_node("Mul", ["whole", "scale"], ["scaled"], name="scale_them"),
        helper.make_node("Relu", ["scaled"], ["global_out"], name="cut"),
    ]
    end, constants = value("global_out", 1, 4, 12), [numpy_helper.from_array(SCALE, "scale")]
    if labels:
        nodes[-1] = helper.make_node("TopK", ["scaled", "one"], ["largest", "global_out"], name="largest")
        end = value("global_out", 1, 4, 1, kind=TensorProto.INT64)
        constants.append(numpy_helper.from_array(np.array([1]), "one"))
    graph = helper.make_graph(
        nodes,
        "parent",
        [value("global_in", 1, 24, 4)],
        [end],
        constants,
        value_info=[value("moved", 1, 4, 24), value("whole", 1, 4, 12), value("scaled", 1, 4, 12)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("finn.custom_op.fpgadataflow", 1)]
    return ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=9))


def write_build(folder, small, report=True, parent=True, labels=False):
    """Write what a build of that model leaves, as far as the accelerator is concerned."""
    small.write(folder / "accelerator")
    if parent:
        (folder / "intermediate_models").mkdir()
        parent_model(labels).save(str(folder / "intermediate_models" / "dataflow_parent.onnx"))
    if report:
        model = {"inputs": {"picture": [1, 24, 4, 1]}, "outputs": {"scores": [1, 4, 1, 1 if labels else 12]}}
        model["types"] = {"picture": "float32", "scores": "int64" if labels else "float32"}
        nodes = [{"name": "picture", "op_type": "Input", "datatype": "INT4"}]
        (folder / "report.json").write_text(
            json.dumps({"model": model, "graphs": {"before": {"nodes": nodes}}})
        )
    return folder
