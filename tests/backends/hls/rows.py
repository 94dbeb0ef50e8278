"""One HLS layer that works on rows: its C++ against the kernel, and what FINN generates of it."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp

from brainsmith.hls import find_headers

PART = "xczu7ev-ffvc1156-2-e"
DOMAIN = "brainsmith.backends.hls"
WIDE = [*(pytest.param(kind, marks=pytest.mark.slow) for kind in ("UINT32", "INT40")), "UINT62"]
"""Integers that float32 does not hold."""


def layer_of(op_type, shape, **attributes):
    """Make a model of one layer."""
    node = helper.make_node(
        op_type,
        ["x"],
        ["y"],
        name="layer_0",
        domain=DOMAIN,
        backend="fpgadataflow",
        ifm_dim=shape,
        **attributes,
    )
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"}
    graph = helper.make_graph([node], "test", [values["x"]], [values["y"]])
    return ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def both(model, seed=0):
    """Return what the kernel computes in Python and what the C++ does, of random inputs."""
    layer = getCustomOp(model.graph.node[0])
    kind, rng = layer.get_input_datatype(), np.random.default_rng(seed)
    shape = model.get_tensor_shape("x")
    if kind.is_integer():
        drawn = rng.integers(int(kind.min()), int(kind.max()) + 1, shape)
    else:
        drawn = rng.normal(1, 3, shape)
    feeds = {"x": drawn.astype(np.float32)}
    found = {}
    for mode in ("", "cppsim"):
        layer.set_nodeattr("exec_mode", mode)
        found[mode] = execute_onnx(model, feeds)["y"]
    return found[""], found["cppsim"]


def check_what_finn_generates(model, folder):
    """Assert that FINN's code for Vitis HLS is complete: it compiles with the open headers alone."""
    layer = getCustomOp(model.graph.node[0])
    layer.set_nodeattr("code_gen_dir_ipgen", str(folder))
    layer.code_generation_ipgen(model, PART, 5.0)
    top = folder / "top_layer_0.cpp"
    (folder / "bnn-library.h").write_text("", encoding="utf-8")  # finn-hlslib's, of which nothing is used
    command = ["g++", "-std=c++14", "-fsyntax-only", f"-I{folder}", f"-isystem{find_headers()}", str(top)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "set_top $config_toplevelfxn" in Path(folder, "hls_syn_layer_0.tcl").read_text(encoding="utf-8")
    return top.read_text(encoding="utf-8")
